"""Names that lead elsewhere a moment later, and servers that send us on: live, with real sockets,
TLS and a resolver that changes its answer."""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import certifi
import httpcore2
import pytest

from integrations import exceptions
from integrations.network import http, outgoing
from integrations.providers.mcp.conversation import Address
from integrations.providers.mcp.listing import offered
from tests.rebinding import INSIDE, NAME, World, rebinding


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    with rebinding(monkeypatch, tmp_path) as running:
        monkeypatch.setattr(certifi, "where", lambda: str(running.trust))
        monkeypatch.setenv("SSL_CERT_FILE", str(running.trust))
        monkeypatch.setenv("NO_PROXY", "*")
        trusting = ssl.create_default_context(cafile=str(running.trust))
        monkeypatch.setattr(httpcore2, "default_ssl_context", lambda **_: trusting)
        yield running


def send(world: World) -> None:
    outgoing.send_webhook(
        world.url,
        secret="whsec_b2ZmaWNlLW9mLXRoZS10ZXN0cw==",
        webhook_id="1",
        body=b"{}",
        now=datetime(2026, 11, 21, tzinfo=UTC),
    )


def test_a_webhook_goes_where_the_name_led_when_it_was_looked_at(world: World) -> None:
    send(world)

    assert world.outside == [f"{NAME}:{world.port}/hook"]
    assert (world.inside, world.looked_up) == ([], 1)


def test_a_webhook_whose_name_leads_inside_by_now_is_not_sent(world: World) -> None:
    send(world)
    with pytest.raises(outgoing.Forbidden):
        send(world)

    assert (len(world.outside), world.inside) == (1, [])


@pytest.mark.parametrize("host", [INSIDE, NAME])
def test_a_webhook_follows_nobody_inside(world: World, host: str) -> None:
    world.redirect = f"https://{host}:{world.port}/admin"

    with pytest.raises(exceptions.Rejected, match="307"):
        send(world)

    assert (len(world.outside), world.inside) == (1, [])


def test_an_mcp_server_is_spoken_to_where_its_name_led_when_it_was_looked_at(
    world: World, settings: object
) -> None:
    settings.MCP_RETRIES = 0  # type: ignore[attr-defined]

    with pytest.raises(exceptions.ProviderError):  # what stands there is none
        offered(Address(url=world.url))

    assert set(world.outside) == {f"{NAME}:{world.port}/hook"}
    assert (world.inside, world.looked_up) == ([], 1)


@pytest.mark.parametrize("host", [INSIDE, NAME])
def test_an_mcp_server_sends_nobody_inside(world: World, host: str) -> None:
    world.redirect = f"https://{host}:{world.port}/admin"

    with pytest.raises(outgoing.Forbidden):
        offered(Address(url=world.url))

    assert set(world.outside) == {f"{NAME}:{world.port}/hook"}
    assert world.inside == []


@pytest.mark.parametrize("host", [INSIDE, NAME])
def test_a_data_service_sends_nobody_inside(world: World, host: str) -> None:
    """Where it is stands in the settings, so that is not looked at; where it sends us is."""
    world.redirect = f"https://{host}:{world.port}/admin"

    with pytest.raises(exceptions.Rejected, match="307"):
        http.request(http.client(f"https://{NAME}:{world.port}"), "GET", "/emails")

    assert (world.outside, world.inside) == ([f"{NAME}:{world.port}/emails"], [])


def test_a_mail_server_is_reached_where_its_name_led_when_it_was_looked_at(world: World) -> None:
    with outgoing.connect(NAME, world.port, seconds=5) as reached:
        assert reached.getpeername() == ("127.0.0.2", world.port)

    assert world.looked_up == 1
    with pytest.raises(outgoing.Forbidden):
        outgoing.connect(NAME, world.port, seconds=5)


@pytest.mark.parametrize("host", ["", "-", "127.0.0.1", "localhost", "::1", "a b", "a\r\nb"])
def test_no_mail_server_is_reached_inside(host: str) -> None:
    with pytest.raises(outgoing.Forbidden):
        outgoing.connect(host, 25, seconds=5)
