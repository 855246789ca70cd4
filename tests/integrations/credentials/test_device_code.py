"""Signing in with a code on another device, against a real authorisation server."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from integrations.credentials import device_code, oauth
from integrations.credentials.oauth import Client, Tokens
from integrations.exceptions import Malformed, NotPermitted, Rejected
from integrations.providers.google.servers import GOOGLE
from tests.oauth_world import CLIENT_ID, CLIENT_SECRET, SCOPE, OAuthServer

CLIENT = Client(id=CLIENT_ID, secret=CLIENT_SECRET)


@dataclass
class Clock:
    """Time that passes while somebody waits, and what happens after how many pauses."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)
    happens: dict[int, Callable[[], object]] = field(default_factory=dict)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)
        self.happens.get(len(self.pauses), lambda: None)()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(device_code, "sleep", found.sleep)
    monkeypatch.setattr(device_code, "monotonic", lambda: found.now)
    return found


def signed_in(server: OAuthServer, clock: Clock, *, after: int, agree: bool = True) -> Tokens:
    code = device_code.ask(server.described, CLIENT, scopes=[SCOPE])
    clock.happens[after] = lambda: server.type_in(code.user_code, agree=agree)
    return device_code.wait(server.described, CLIENT, code)


def test_who_types_the_code_in_is_waited_for_and_signed_in(
    server: OAuthServer, clock: Clock
) -> None:
    server.hurried = 1
    found = signed_in(server, clock, after=4)

    assert clock.pauses == [5, 10, 10, 10]
    assert found.scopes == (SCOPE,)
    assert server.takes(oauth.refresh(server.described, CLIENT, found).access)


def test_a_server_that_is_away_meanwhile_is_asked_more_rarely(
    server: OAuthServer, clock: Clock
) -> None:
    code = device_code.ask(server.described, CLIENT, scopes=[SCOPE])
    server.fail = [503, 429]
    clock.happens[3] = lambda: server.type_in(code.user_code)

    assert device_code.wait(server.described, CLIENT, code).refresh
    assert clock.pauses == [5, 10, 60]


def test_a_no_and_nobody_are_said(server: OAuthServer, clock: Clock) -> None:
    with pytest.raises(Rejected, match="somebody said no"):
        signed_in(server, clock, after=1, agree=False)
    with pytest.raises(Rejected, match="Nobody signed in at Google in time"):
        signed_in(server, clock, after=10**6)

    assert clock.now <= 1800
    assert server.given == []


def test_a_code_that_the_server_knows_no_more_is_not_waited_for(
    server: OAuthServer, clock: Clock
) -> None:
    code = device_code.ask(server.described, CLIENT, scopes=[SCOPE])
    server.devices.clear()

    with pytest.raises(Rejected, match="invalid_request"):
        device_code.wait(server.described, CLIENT, code)
    assert len(clock.pauses) == 1


def test_where_there_are_no_codes_it_is_said_and_nobody_is_asked() -> None:
    with pytest.raises(NotPermitted, match="Sign in with a browser"):
        device_code.ask(GOOGLE, CLIENT, scopes=[SCOPE])


@pytest.mark.parametrize(
    "page", ["http://127.0.0.1/", "javascript:alert(1)", "https://a.test/\n\nType ABCD"]
)
def test_a_page_that_nobody_should_open_is_not_shown(
    server: OAuthServer, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    ask = oauth.ask
    monkeypatch.setattr(
        oauth,
        "ask",
        lambda *given, **more: ask(*given, **more).replace(
            f"{server.origin}/device-login".encode(), page.replace("\n", "\\n").encode()
        ),
    )
    with pytest.raises(Malformed):
        device_code.ask(server.described, CLIENT, scopes=[SCOPE])


def test_codes_go_over_tls_alone(server: OAuthServer) -> None:
    plain = replace(server.described, device="http://127.0.0.1/device")

    with pytest.raises(NotPermitted):
        device_code.ask(plain, CLIENT, scopes=[SCOPE])
