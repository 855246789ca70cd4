from collections.abc import Callable
from decimal import Decimal
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.local.variables import Networks, Variables

env = Variables()
READ: dict[str, Callable[[], Any]] = {
    "int": lambda: env.int("TRIED", default=3),
    "float": lambda: env.float("TRIED", default=3.0),
    "decimal": lambda: env.decimal("TRIED", default=Decimal(3)),
    "bool": lambda: env.bool("TRIED", default=True),
    "dict": lambda: env.dict("TRIED", default={"a": "b"}),
    "addresses": lambda: env.addresses("TRIED", default={"a": "http://b"}),
    "choice": lambda: env.choice("TRIED", "INFO", {"INFO": 1, "DEBUG": 2}),
    "url": lambda: env.address("TRIED", "redis", "rediss"),
    "networks": lambda: env.networks("TRIED"),
}


def read(*texts: str) -> Networks:
    return Networks(tuple(map(ip_network, texts)))


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("int", " 7 ", 7),
        ("float", "0.5", 0.5),
        ("decimal", "2.50", Decimal("2.50")),
        *(("bool", word, True) for word in ("true", "True", "1", "on", "yes")),
        *(("bool", word, False) for word in ("false", "FALSE", "0", "off", "no")),
        ("dict", "a=b==, c=d", {"a": "b==", "c": "d"}),
        ("addresses", "a=https://b.example/v1", {"a": "https://b.example/v1"}),
        ("choice", "DEBUG", "DEBUG"),
        ("networks", "10.1.2.3, 10.244.0.0/16,", read("10.1.2.3/32", "10.244.0.0/16")),
        ("networks", "2001:db8::/32", read("2001:db8::/32")),
        ("url", "redis://cache:6379/0", "redis://cache:6379/0"),
    ],
)
def test_what_is_of_its_kind_is_read(
    kind: str, text: str, found: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIED", text)

    assert READ[kind]() == found


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        *(("int", 3), ("float", 3.0), ("decimal", Decimal(3)), ("bool", True)),
        *(("dict", {"a": "b"}), ("addresses", {"a": "http://b"}), ("choice", "INFO"), ("url", "")),
        ("networks", Networks()),
    ],
)
@pytest.mark.parametrize("text", [None, ""])
def test_nothing_is_the_default(
    kind: str, found: Any, text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRIED", raising=False)
    if text is not None:
        monkeypatch.setenv("TRIED", text)

    assert READ[kind]() == found


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("int", text) for text in ("abc", "1.5", "-1")),
        *(("float", text) for text in ("abc", "nan", "inf", "1e999", "-0.5")),
        *(("decimal", text) for text in ("abc", "NaN", "Infinity", "-1")),
        *(("bool", text) for text in ("yse", "2", "enabled")),
        *(("dict", text) for text in ("secret", "a=secret,b", "=secret", "a=secret,a=b")),
        *(("addresses", text) for text in ("a=secret", "a=ftp://secret", "a=https://", "secret")),
        ("choice", "LOUD"),
        *(("networks", text) for text in ("proxy", "*", "10.1.2.3/16", "0.0.0.0/0", "::/0")),
        *(("url", text) for text in ("secret", "http://:secret@cache")),
    ],
)
def test_what_is_not_stops_the_start_with_a_sentence_that_holds_no_secret(
    kind: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIED", text)

    with pytest.raises(ImproperlyConfigured) as refused:
        READ[kind]()

    assert str(refused.value).startswith("TRIED ")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "is_in"),
    [
        ("10.1.2.3", True),
        ("10.1.2.4", False),
        ("10.244.255.1", True),
        ("2001:db8::7", True),
        ("2001:db9::7", False),
        ("", False),
        ("10.1.2.3:80", False),
    ],
)
def test_an_address_is_in_networks_or_not(address: str, is_in: bool) -> None:
    networks = read("10.1.2.3", "10.244.0.0/16", "2001:db8::/32")

    assert (address in networks) == is_in
    assert list(networks) == ["10.1.2.3/32", "10.244.0.0/16", "2001:db8::/32"]
