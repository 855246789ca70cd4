"""Nothing is sent into our own network, whatever somebody enters."""

import ipaddress
import socket
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from integrations import exceptions
from integrations.network import http, outgoing
from tests.conftest import NetworkRefused


@pytest.mark.parametrize(
    "url",
    [
        *("", "https://", "http://a.example", "ftp://a.example", "file:///etc/passwd"),
        *("https://user@a.example", "https://:pw@a.example", "https://a.example/#b"),
        *("https://a.example:0", "https://a.example:99999", "https://[::1", "//a.example"),
        *("https://a.example/\r\nX: y", "https://a.exa\u200bmple", "https:\\\\a.example"),
        *("https://münchen.example", "https://169.254.169.254/mcp", "https://[::1]/"),
    ],
)
def test_what_is_no_public_https_address_is_refused(url: str) -> None:
    with pytest.raises(outgoing.Forbidden):
        outgoing.check_form(url)


@pytest.mark.parametrize(
    "url", ["https://a.example", "https://a.example:8443/b?c=d", "https://xn--mnchen-3ya.example/"]
)
def test_a_public_https_address_is_taken(url: str) -> None:
    outgoing.check_form(url)


INSIDE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1", "::1", "::", "fe80::1", "fc00::1"),
    *("ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::"),
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not outgoing.is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:220:1::1", "64:ff9b::5db8:d70e"])
def test_an_address_outside_is_public(address: str) -> None:
    assert outgoing.is_public(ipaddress.ip_address(address))


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Names resolve to these, one answer after another; the names that were asked for."""
    asked, left = list[str](), list(answers)

    def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in left.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.parametrize("answer", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::1%eth0"]])
def test_a_name_that_leads_inside_is_refused(
    answer: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, answer)
    with pytest.raises(outgoing.Forbidden, match="not public"):
        outgoing.public_address("https://a.example/hook")


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "https://[::1]/", "https://localhost/"])
def test_an_address_inside_is_refused_as_it_stands(url: str) -> None:
    with pytest.raises(outgoing.Forbidden):
        outgoing.public_address(url)


def test_the_connection_goes_to_the_address_that_was_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that leads elsewhere a moment later is not asked again."""
    asked = resolving(monkeypatch, ["93.184.215.14"], ["127.0.0.1"])
    posted = []
    monkeypatch.setattr(http, "post", lambda url, **given: posted.append((url, given["address"])))
    outgoing.send_webhook(
        "https://a.example/hook",
        secret="whsec_b2ZmaWNlLW9mLXRoZS10ZXN0cw==",
        webhook_id="1",
        body=b"{}",
        now=datetime(2026, 11, 21, tzinfo=UTC),
    )
    assert asked == ["a.example"]
    assert posted == [("https://a.example/hook", "93.184.215.14")]
    # And what posts dials that address and no other: the guard of the tests sees the socket.
    monkeypatch.undo()
    with pytest.raises(NetworkRefused, match=r"93\.184\.215\.14"):
        http.post("https://a.example/hook", body=b"", headers={}, address="93.184.215.14")


def test_a_name_without_an_address_may_have_one_later(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(exceptions.Unavailable):
        outgoing.public_address("https://a.example")
