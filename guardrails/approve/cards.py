"""An approval as people see it, everywhere the same: built by code from fields.

Receivers and other targets come first. What strangers or the model wrote is text, in full,
with its hidden characters shown.
"""

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from audit.ledger import people
from guardrails.actions import registry
from guardrails.actions.base import NOTHING, InvalidArguments
from guardrails.approve import exposed
from guardrails.approve.speaking import fill, moment, on_clock, say, spoken
from guardrails.contracts.cards import ApprovalCard, CardValue
from guardrails.decide.provenance import IN_WORDS, typed_paths, values
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.text import about_of, heading_of, visible
from guardrails.models import Approval
from guardrails.words.own import own_words
from integrations.models.preferences import find_zones

State = Approval.State
SAID = frozenset({"description", "reason", "side_effects", "differences", "exposures"})
MAX_CARDS = 200
NOBODY: people.Names = {}
WORDS = {
    State.REJECTED: "Rejected",
    State.SUPERSEDED: "Changed",
    State.EXPIRED: "Expired",
}
CONFIRMED, CONFIRMED_IN_WORDS = "Confirmed", "Confirmed in words"
BY_PERSON, BY_CLOCK = "%(what)s by %(who)s at %(time)s", "%(what)s at %(time)s"
BOTH = "%(what)s by %(first)s at %(first_time)s and by %(who)s at %(time)s"
YESES, YES_OF = "%(said)s of 2 yes", "%(count)s: %(who)s, %(time)s"
DELEGATED = "Delegated to %(who)s by %(by)s at %(time)s"
UNKNOWN = "NEW: nobody typed or listed the address itself; the agent brought it up"
IN_CHANGE = "typed by the person who changed what the agent proposed"
THERE_ALREADY = "already there, in no argument; nobody typed or listed the address itself"


def list_cards(
    *,
    organisation_id: UUID,
    external_user_id: str | None = None,
    turn_ids: Iterable[str] | None = None,
    ids: Iterable[UUID] | None = None,
    questions: Iterable[UUID] | None = None,
    state: str | None = None,
    decided: bool = False,
    before: UUID | None = None,
    limit: int = MAX_CARDS,
) -> tuple[ApprovalCard, ...]:
    """The organisation's approvals that match, newest first; a user's are those they are asked
    about or that were delegated to them. `before` continues below that approval. Two queries, and
    one for the names of those who had a part in them."""
    rows = Approval.objects.filter(organisation_id=organisation_id)
    if external_user_id is not None:
        rows = rows.for_user(external_user_id)
    if turn_ids is not None:
        rows = rows.filter(turn_id__in=list(turn_ids))
    if ids is not None:
        rows = rows.filter(id__in=list(ids))
    if questions is not None:
        rows = rows.filter(question__in=list(questions))
    if state is not None:
        rows = rows.filter(state=state)
    if decided:
        rows = rows.exclude(state=Approval.State.PENDING)
    if before is not None:
        rows = rows.below(before)
    found = list(rows.order_by("-created_at", "-id")[:limit])
    zones = find_zones(organisation_id, [row.external_user_id for row in found]) if found else {}
    names = names_of(found)
    return tuple(
        card(row, zone=zones.get(row.external_user_id, "UTC"), names=names) for row in found
    )


def names_of(rows: Iterable[Approval]) -> people.Names:
    """What those are called who decided about these, or handed them on. One query; none where all
    of them wait for the user whom they are about."""
    return people.find((row.organisation_id, one) for row in rows for one in principals(row))


def principals(row: Approval) -> Iterator[str]:
    """Those whom a card names, apart from the user whom it is about."""
    yield from (row.decided_by, row.first_yes_by, row.delegated_to, row.delegated_by)
    for user in filter(None, (row.decided_as, row.first_yes_as, row.delegated_as)):
        yield f"{people.USER}{user}"


def zone_of(row: Approval) -> str:
    """The time zone of the user who is asked: times on cards are in it. One query."""
    return find_zones(row.organisation_id, [row.external_user_id]).get(row.external_user_id, "UTC")


def zones_of(rows: Iterable[Approval]) -> dict[UUID, str]:
    """As `zone_of`, by approval. One query for each organisation."""
    rows = list(rows)
    users: dict[UUID, set[str]] = {}
    for row in rows:
        users.setdefault(row.organisation_id, set()).add(row.external_user_id)
    known = {id: find_zones(id, some) for id, some in users.items()}
    return {row.id: known[row.organisation_id].get(row.external_user_id, "UTC") for row in rows}


def card(row: Approval, *, zone: str, names: people.Names | None = None) -> ApprovalCard:
    """The row with its times in this zone. No query but for the row's own fields, and for
    `names` where none are given."""
    names = names_of([row]) if names is None else names
    columns = {field.attname for field in row._meta.fields} - SAID
    fields = ApprovalCard.__dataclass_fields__.keys() & columns
    description = say(row.description, row.wordings, zone=zone)
    plain = {name: getattr(row, name) for name in fields}
    found = sorted((*_values(row, zone), *_reached(row)), key=lambda value: not value.is_target)
    return ApprovalCard(
        **plain,
        description=description,
        reason=say(row.reason, row.wordings),
        title=gettext(title_of(row.action_type)),
        heading=visible(heading_of(description)),
        about=visible(about_of(description)),
        values=tuple(found),
        exposures=exposed.in_cards(row.exposures),
        user_said=visible(own_words(str(row.origin.get("user_words", "")))),
        differences=tuple(
            (
                label_of(what),
                visible(_changed(row, what, before, zone)),
                visible(_changed(row, what, after, zone)),
            )
            for what, before, after in row.differences
        ),
        side_effects=tuple(say(one, row.wordings) for one in row.side_effects),
        revises=row.revises_id,
        proposed=row.origin.get("proposed", {}),
        agent_said=visible(str(row.origin.get("reason", ""))),
        handled=handled(row, zone=zone, names=names),
        yeses=count_yeses(row, zone=zone, names=names),
        delegated=delegated(row, zone=zone, names=names),
        seconds_to_decide=row.seconds_to_decide if row.decided_at else None,
    )


def _changed(row: Approval, name: str, value: str, zone: str) -> str:
    """What an argument is changed from, or to."""
    said = say(value, row.wordings)
    return on_clock(said, zone) if _is_time(row, name) else said


def _is_time(row: Approval, path: str) -> bool:
    action = registry.BY_NAME.get(row.action_type)
    return action is not None and action.class_at(path) == "time"


def title_of(action_type: str) -> str:
    action = registry.BY_NAME.get(action_type)
    return action.title if action else action_type


def label_of(name: str) -> str:
    """What an argument is called for people; a name that a stranger gave stays as it is."""
    plain = visible(name).replace("_", " ")
    return gettext(plain) if plain else plain


def handled(row: Approval, *, zone: str, names: people.Names | None = None) -> str:
    """Who decided and when, in the language that is spoken; empty while it waits."""
    return spoken(handling(row, zone=zone, names=names))


def handling(row: Approval, *, zone: str, names: people.Names | None = None) -> str:
    """As `handled`, in English, as a phrase."""
    if row.decided_at is None:
        return ""
    names = names_of([row]) if names is None else names
    what = WORDS.get(State(row.state), CONFIRMED_IN_WORDS if row.said_in else CONFIRMED)
    said = {
        "what": phrase(what),
        "who": _name(row.decided_by, row.decided_as, row.organisation_id, names),
        "time": moment(row.decided_at, zone),
    }
    if row.first_yes_at and row.state not in WORDS:
        said["first"] = _name(row.first_yes_by, row.first_yes_as, row.organisation_id, names)
        said["first_time"] = moment(row.first_yes_at, zone)
        return phrase(BOTH, **said)
    return phrase(BY_CLOCK if row.state == State.EXPIRED else BY_PERSON, **said)


def count_yeses(row: Approval, *, zone: str, names: people.Names | None = None) -> str:
    """“1 of 2 yes: Maya, 2026-01-05 10:42 UTC”, in the language that is spoken; empty where one
    person decides, and once two have."""
    if row.people_needed < 2 or (row.decided_at and row.state not in WORDS):
        return ""
    count = fill(YESES, said=1 if row.first_yes_at else 0)
    if row.first_yes_at is None:
        return count
    names = names_of([row]) if names is None else names
    who = named(row.first_yes_by, row.first_yes_as, of=row.organisation_id, names=names)
    return fill(YES_OF, count=count, who=who, time=moment(row.first_yes_at, zone))


def delegated(row: Approval, *, zone: str, names: people.Names) -> str:
    """To whom it was handed on and by whom, in the language that is spoken; empty if it was not."""
    if not row.delegated_to or row.delegated_at is None:
        return ""
    of = row.organisation_id
    return fill(
        DELEGATED,
        who=named(row.delegated_to, of=of, names=names),
        by=named(row.delegated_by, row.delegated_as, of=of, names=names),
        time=moment(row.delegated_at, zone),
    )


def named(
    who: str, external_user_id: str = "", *, of: UUID | None = None, names: people.Names = NOBODY
) -> str:
    """A person of an organisation for people, in the language that is spoken, by name where it is
    among `names`. Who speaks through a token is the user whom it speaks for."""
    return spoken(_name(who, external_user_id, of, names))


def _name(
    who: str, external_user_id: str, of: UUID | None = None, names: people.Names = NOBODY
) -> str:
    kind = who.partition(":")[0]
    user = visible(people.call(of, f"{people.USER}{external_user_id}", names))
    if kind == "token":
        return user if external_user_id else phrase("a user of the API")
    word, name = people.split(of, who, names)
    parts = [part for part in (word and phrase(word), visible(name)) if part]
    said = parts[0] if len(parts) == 1 else joined(parts, by=" ")
    if external_user_id and kind in ("operator", "group"):
        return phrase("%(who)s for %(user)s", who=said, user=user)
    return said


def _values(row: Approval, zone: str) -> Iterator[CardValue]:
    """Every argument in full. Those that decide where the action goes are targets."""
    action = registry.BY_NAME.get(row.action_type)
    order = list(action.arguments.model_fields) if action else []
    deciding = _target_paths(row)
    proposed = row.origin.get("proposed", {})
    changed = typed_paths(row.arguments, proposed=proposed) if proposed else frozenset()
    # The database keeps the keys in an order of its own; unknown ones come last.
    for name in sorted(row.arguments, key=[*order, *row.arguments].index):
        given = row.arguments[name]
        rows = [(name, given)]
        if isinstance(given, list):
            rows = values({name: given})
        elif isinstance(given, dict):  # its names say something too
            rows = [*values({name: given}), *_empty(given, name)]
        for path, value in rows:
            if value is None or value == "":
                continue
            is_time = _is_time(row, path)
            code = row.provenance.get(path, "X")
            is_target = path in deciding
            new = code == "X" and is_target
            words = gettext(UNKNOWN if new else IN_WORDS.get(code, IN_WORDS["X"]))
            if path in row.first_seen:
                words = say(row.first_seen[path], row.wordings)
            if reading := row.readings.get(path):
                words = (
                    f"{gettext(IN_WORDS.get(code, IN_WORDS['X']))}: {say(reading, row.wordings)}"
                )
            words = gettext(IN_CHANGE) if path in changed else words
            yield CardValue(
                path=path,
                label=label_of(path if isinstance(given, dict) else name),
                text=visible(on_clock(str(value), zone) if is_time else str(value)),
                provenance=words,
                is_target=is_target,
                is_new=new,
            )


def _empty(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The names under which nothing is given, with their paths."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield from _empty(one, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, one in value.items():
            if one in ("", None, [], {}):
                yield f"{path}.{name}", gettext(NOTHING)
            else:
                yield from _empty(one, f"{path}.{name}")


def _reached(row: Approval) -> Iterator[CardValue]:
    """Whom and what it reaches by facts alone: attendees, readers, the issue's project."""
    for path, text in row.reached.items():
        code = row.provenance.get(path, "X")
        known = THERE_ALREADY if code == "X" else IN_WORDS.get(code, THERE_ALREADY)
        yield CardValue(
            path=path,
            label=label_of(path.partition("[")[0].replace(".", " ")),
            text=visible(text),
            provenance=say(row.first_seen[path], row.wordings)
            if path in row.first_seen
            else gettext(known),
            is_target=True,
            is_new=code == "X",
        )


def _target_paths(row: Approval) -> frozenset[str]:
    action = registry.BY_NAME.get(row.action_type)
    try:
        arguments = action.parse(row.arguments) if action else None
    except InvalidArguments:
        arguments = None
    if action is None or arguments is None:
        return frozenset()
    return frozenset(target.path for target in action.targets(arguments))
