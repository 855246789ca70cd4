"""A JMAP server that says at once that something changed, cut and silent where it hurts. Nothing
here depends on how long it takes."""

import threading
from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from integrations.accounts import watching
from integrations.accounts.watching import Watcher
from integrations.models import Credential
from integrations.providers.jmap import changes, listening, session
from integrations.providers.jmap.events import Event
from tests.cyrus_world import CyrusWorld, needs_cyrus
from tests.fault_proxy import Fault, running_proxy
from tests.integrations.providers.jmap.box import Box
from tests.jmap_push_world import Pushes, running_pushes, state
from tests.mail_world import PASSWORD
from tests.office import until
from tests.own_accounts import sign_in

pytestmark = [needs_cyrus, pytest.mark.django_db(transaction=True)]
PING = b'event: ping\r\ndata: {"interval": 60}\r\n\r\n'


@pytest.fixture
def pushes(world: CyrusWorld) -> Iterator[Pushes]:
    with running_pushes(world) as running:
        yield running


@pytest.fixture
def asked() -> list[UUID]:
    """The accounts that were asked for their changes."""
    return []


@pytest.fixture
def watch(asked: list[UUID], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Watcher]]:
    """Starts a process's watcher."""
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.05)
    stop, running = threading.Event(), []

    def start() -> Watcher:
        watcher = Watcher(ask=asked.append)
        thread = threading.Thread(target=watcher.run, args=(stop,))
        thread.start()
        running.append(thread)
        return watcher

    yield start
    stop.set()
    for thread in running:
        thread.join()


def through(box: Box, port: int, *, password: str = PASSWORD) -> None:
    """From here on the account's server is the one at this port."""
    url = f"https://127.0.0.1:{port}/.well-known/jmap"
    sign_in(
        box.account.id,
        user_name=box.address,
        servers=box.world.servers | {"session": url},
        secret=password,
    )


def test_a_change_is_asked_for_when_the_server_tells_and_when_listening_begins(
    box: Box, pushes: Pushes, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    through(box, pushes.port)

    watch()
    until(lambda: len(asked) == 1)
    assert pushes.asked == [{"types": ["Email"], "closeafter": ["no"], "ping": ["60"]}]

    pushes.say(box.address, PING + state(box.address) + PING)
    until(lambda: len(asked) == 2)
    pushes.say(box.address, PING + state(box.address))
    until(lambda: len(asked) == 3)
    assert set(asked) == {box.account.id}


def test_a_push_that_was_lost_is_found_when_listening_begins_again(
    box: Box, pushes: Pushes, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    """The connection is cut in the middle of an event."""
    drawn: list[Fault | None] = []
    with running_proxy(pushes.port, draw=lambda: drawn.pop() if drawn else None) as proxy:
        through(box, proxy.port)
        for looked in changes.look(box.account):
            looked.keep()
        drawn.append(Fault("cut", way="down", after=3000))
        watch()
        until(lambda: len(asked) == 1)

        box.deliver()
        before = len(pushes.asked)
        until(lambda: _say_until_cut(pushes, box, proxy.met))
        until(lambda: len(pushes.asked) > before and len(asked) >= 2)

        (looked,) = changes.look(box.account)
    assert [event.kind for _, event in looked.events] == ["created"]
    assert Credential.objects.get(account_id=box.account.id).state == "good"


def _say_until_cut(pushes: Pushes, box: Box, met: list[Fault]) -> bool:
    if not met:
        pushes.say(box.address, state(box.address)[:-2])
    return bool(met)


def test_a_connection_that_says_nothing_any_more_is_made_again(
    box: Box,
    pushes: Pushes,
    watch: Callable[[], Watcher],
    asked: list[UUID],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "QUIET", 0.3)
    through(box, pushes.port)

    watch()

    until(lambda: len(pushes.asked) >= 3)
    assert len(asked) >= 2


def test_a_server_that_hangs_up_is_listened_to_again(
    box: Box, pushes: Pushes, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    through(box, pushes.port)
    watch()
    until(lambda: len(asked) == 1 and bool(pushes.listening[box.address]))

    pushes.say(box.address, None)

    until(lambda: len(asked) == 2)
    assert len(pushes.asked) == 2


def test_a_server_that_cannot_is_left_to_the_poll(
    box: Box, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    """Debian's Cyrus itself: it names an address for events, and has none there."""
    watcher = watch()

    until(lambda: bool(watcher._listening))
    until(lambda: not any(one.is_alive() for one in watcher._listening.values()))
    assert asked == []


def test_a_refused_sign_in_is_tried_once(
    box: Box, pushes: Pushes, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    pushes.status = 401
    through(box, pushes.port)

    watcher = watch()

    until(lambda: Credential.objects.get(account_id=box.account.id).state == "sign_in")
    until(lambda: not watcher._listening)
    assert (len(pushes.asked), asked) == (1, [])


@pytest.mark.parametrize(
    ("name", "data", "says_so"),
    [
        ("state", '{"changed": {"a": {"Email": "7"}}}', True),
        ("state", '{"changed": {}}', False),
        ("state", "{", True),
        ("state", "[" * 100_000, True),
        ("state", "[]", True),
        ("ping", '{"interval": 60}', False),
    ],
)
def test_what_cannot_be_read_counts_as_a_change(name: str, data: str, *, says_so: bool) -> None:
    assert listening.is_change(Event(name, data)) == says_so
