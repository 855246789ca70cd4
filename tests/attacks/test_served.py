"""The attacks about mail, invitations and sharing once more, on real servers. What they hold
afterwards is compared: nothing of the attacker's is done there, and what a benign act leaves is the
same as at the sandbox. What Remit says of it is not asked here."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from guardrails.actions import registry
from integrations.credentials import sealing
from integrations.network import http
from integrations.providers.imap import connection
from tests.attacks.case import Act, Case, Chat, Outside, nothing
from tests.attacks.desk import Desk, seated
from tests.attacks.held import Held, Servers, held_at_sandbox
from tests.attacks.rows import AT_ONCE, list_turns, list_twins
from tests.attacks.run import enter, prove_twin, settle
from tests.attacks.served import ServedDesk, moved
from tests.calendar_world import missing, running_calendar_server
from tests.cyrus_world import needs_cyrus, running_cyrus
from tests.mail_world import needs_dovecot, running_mail_world
from tests.own_accounts import PRIVATE
from tests.postfix_world import can_start, running_postfix

pytestmark = [
    missing("radicale"),
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
MAIL = (
    pytest.param("Dovecot", marks=needs_dovecot),
    pytest.param("Cyrus", marks=needs_cyrus),
)
KINDS = ("mail", "calendar")
WORTH_A_ROOM = 8
STARTS = {"Dovecot": running_postfix if can_start() else running_mail_world, "Cyrus": running_cyrus}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Servers]]:
    """A mail server and a calendar server, both trusted; each started once."""
    with ExitStack() as running:
        calendar = cache(lambda: running.enter_context(running_calendar_server("radicale")))

        @cache
        def start(name: str) -> Servers:
            mail = running.enter_context(STARTS[name]())
            trusted = Path(tmp_path_factory.mktemp(name)) / "authorities.pem"
            both = (mail.folder / "ca.pem", calendar().trusted)
            trusted.write_bytes(b"".join(one.read_bytes() for one in both))
            return Servers(mail=mail, calendar=calendar(), trusted=trusted)

        yield start


@pytest.fixture
def served(
    servers: Callable[[str], Servers],
    desk: Desk,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str], ServedDesk]]:
    """The desk of a case, moved to real servers."""
    settings.CREDENTIALS_PRIVATE_KEY = PRIVATE
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(sealing.private_key(PRIVATE).public_key())

    def seat(name: str) -> ServedDesk:
        found = servers(name)
        found.calendar.clear()
        monkeypatch.setenv("SSL_CERT_FILE", str(found.trusted))
        return moved(desk, found)

    yield seat
    connection.close_idle()
    http.close_clients()


def is_served(case: Case) -> bool:
    action = registry.BY_NAME.get(case.attack.action)
    return action is not None and action.kind in KINDS


def everywhere(cases: Iterable[Any], first: Callable[[Any], Case]) -> list[Any]:
    """Mail at each mail server; an event is at the same calendar server whichever it is."""
    return [
        pytest.param(*place.values, case, marks=place.marks, id=f"{place.values[0]}-{first(case)}")
        for case in cases
        for place in (MAIL if kind(first(case)) == "mail" else MAIL[:1])
    ]


def kind(case: Case) -> str:
    return str(registry.BY_NAME[case.attack.action].kind)


def list_rooms() -> list[list[tuple[Case, ...]]]:
    """Turns that can be tried one after the other in one office: none leaves anything behind, so
    only what they find there has to be the same. What nearly nobody shares an office with is left
    out: to furnish one at a server takes longer than most cases."""
    rooms: list[list[tuple[Case, ...]]] = []
    for turn in filter(lambda turn: is_served(turn[0]), list_turns()):
        room = next((room for room in rooms if has_room(room, turn[0])), [])
        if not room:
            rooms.append(room)
        room.append(turn)
    return [room for room in rooms if len(room) >= WORTH_A_ROOM]


def has_room(room: list[tuple[Case, ...]], case: Case) -> bool:
    first = room[0][0]
    return (
        len(room) < AT_ONCE
        and (kind(first), first.given, first.before) == (kind(case), case.given, case.before)
        and "revoked" not in (first.attack.end, case.attack.end)
    )


def list_writes() -> list[Case]:
    """A twin of each action that these servers can do: none attaches a file of the data service,
    Radicale invites nobody, and a label is listed once a mail has had it."""
    twins = (case for case in filter(is_served, list_twins()) if can_be_done(case.twin))
    return list({case.twin.action: case for case in twins}.values())


def can_be_done(act: Act) -> bool:
    return not {"attachments", "attendees", "label_id"} & set(act.arguments)


@pytest.mark.parametrize(("name", "turns"), everywhere(list_rooms(), lambda room: room[0][0]))
def test_nothing_of_the_attackers_is_done_there(
    served: Callable[[str], ServedDesk], name: str, turns: list[tuple[Case, ...]]
) -> None:
    desk, given = served(name), turns[0][0].given
    given(desk)
    for cases in turns:
        desk.office.forbid()
        settle(desk, *(replace(case, given=nothing) for case in cases))
        cases[0].before(desk)
        if cases is turns[0] or cases[0].before is not nothing:
            desk.note()

        waiting = act(desk, *(case.attack for case in cases))

        if cases[0].attack.end == "revoked":
            assert desk.changes() == []
            cases[0].meanwhile(desk)
            desk.note()
            for id in waiting:
                desk.decide(id)
    assert desk.changes() == []


@pytest.mark.parametrize(("name", "case"), everywhere(list_writes(), lambda case: case))
def test_its_twin_leaves_the_same_there_as_at_the_sandbox(
    served: Callable[[str], ServedDesk],
    left_at_the_sandbox: Callable[[Case, Desk], Held],
    name: str,
    case: Case,
) -> None:
    desk = served(name)
    settle(desk, case)
    desk.note()

    for id in act(desk, case.twin):
        desk.decide(id)

    assert desk.changes() != []
    assert desk.held() == left_at_the_sandbox(case, desk)


@pytest.fixture(scope="module")
def left_at_the_sandbox() -> Callable[[Case, Desk], Held]:
    known: dict[str, Held] = {}

    def find(case: Case, beside: Desk) -> Held:
        if str(case) not in known:
            desk = seated(beside.house)
            prove_twin(desk, case)
            known[str(case)] = held_at_sandbox(desk.office)
        return known[str(case)]

    return find


def act(desk: ServedDesk, *acts: Act) -> list[str]:
    """What waits for a person then."""
    [first, *beside] = [
        replace(
            one,
            arguments=desk.office.called(one.arguments),
            via=replace(one.via, words=desk.office.said(one.via.words))
            if isinstance(one.via, Chat)
            else one.via,
        )
        for one in acts
    ]
    if isinstance(first.via, Outside):
        found = desk.call(
            first.action, dict(cast("Mapping[str, Any]", first.arguments)), **first.via.meta
        )
        return [found["approval_id"]] if found.get("approval_id") else []
    turn = enter(desk, first, *beside)
    return [one["id"] for one in turn.actions if one["status"] == "pending"]
