"""The smallest change of policy by which a refused request would be permitted."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from guardrails.actions import registry
from guardrails.contracts import ActionRequest, Decision
from guardrails.decide.conditions.base import RateCondition
from guardrails.decide.policy_file import AllowedActionEntry, Listed, PolicyFile
from guardrails.decide.smallest_change import (
    Change,
    Entry,
    NoChange,
    Refused,
    key,
    smallest_change,
)
from guardrails.decide.snapshot import AllowedAction, ListedTarget, PolicySnapshot, Switch
from guardrails.facts.facts import Facts
from integrations.contracts import Document
from tests.guardrails.decide.test_policy_ceiling import limit
from tests.guardrails.decide.test_policy_properties import (
    ARGUMENTS,
    action_types,
    policies,
)
from tests.guardrails.values import (
    ACTION_ID,
    ADA,
    ME,
    NOW,
    STRANGER,
    account,
    allow,
    chat,
    decide,
    email,
    facts,
    list_target,
    policy_of,
    request,
)

MAIL = {"subject": "Hello", "body": "Text."}
TO_ADA = {"to": [ADA], **MAIL}
KNOWN = {"kind": "recipient", "relation": ["typed", "corresponded", "listed"]}


def file_of(policy: PolicySnapshot) -> PolicyFile:
    """The policy as the file that somebody would export."""
    return PolicyFile(
        version=1,
        allowed_actions=[
            AllowedActionEntry(
                action=one.action_type,
                resource=one.resource_type,
                mode=one.mode,
                enabled=one.enabled,
                conditions=[each.model_dump(mode="json") for each in one.conditions],
                hold_seconds=one.hold_seconds,
                patterns_unapproved=True,
            )
            for one in policy.allowed_actions
        ],
        groups=[],
        targets=[
            Listed(action=one.action_type, kind=one.kind, id=one.external_id, name=one.name)
            for one in policy.listed_targets
        ],
    )


def refused(wish: ActionRequest, policy: PolicySnapshot) -> Refused:
    return Refused(
        request=wish,
        action=registry.BY_NAME[wish.action_type],
        policy=policy,
        present=file_of(policy),
    )


def found(
    action_type: str,
    arguments: dict[str, Any],
    *rows: AllowedAction | ListedTarget,
    known: Facts | None = None,
    **changes: Any,
) -> Change | NoChange:
    """What is found for one request of a chat under a policy of these rows."""
    policy = replace(policy_of(*rows), **changes)
    wish = request(action_type, arguments)
    return smallest_change(refused(wish, policy), facts=known or facts(), now=NOW)


def entries(*given: Any, **named: Any) -> tuple[Entry, ...]:
    change = found(*given, **named)
    assert isinstance(change, Change), change
    return change.entries


def only(kind: str, *entries: Entry) -> dict[str, Any]:
    """The one condition of this kind in the one entry."""
    [entry] = entries
    assert isinstance(entry, AllowedActionEntry)
    [condition] = [one for one in entry.conditions if one["kind"] == kind]
    return condition


# --- what is found -----------------------------------------------------------------------


def test_what_is_not_permitted_becomes_asked_about_for_chats_alone() -> None:
    change = found("archive", {"email_id": "mail-1"})

    assert isinstance(change, Change)
    chats = {"kind": "trigger", "any_of": ["chat"]}
    assert change.entries == (AllowedActionEntry(action="archive", mode="ask", conditions=[chats]),)
    assert change.decision.verdict == "ask"


def test_each_target_is_listed_by_itself() -> None:
    wanted = {"to": [ADA, STRANGER], "bcc": ["boss@company.com"], **MAIL}
    listed = list_target("send_email", "recipient", ADA)

    added = entries("send_email", wanted, allow("send_email", "ask"), listed)

    assert added == (
        Listed(action="send_email", kind="recipient", id=STRANGER, name=STRANGER),
        Listed(
            action="send_email", kind="recipient", id="boss@company.com", name="boss@company.com"
        ),
    )


def test_a_label_is_listed_under_its_present_name() -> None:
    wanted = {"email_id": "mail-1", "label_id": "label_fyi"}
    assert entries("classify", wanted, allow("classify")) == (
        Listed(action="classify", kind="label", id="label_fyi", name="FYI"),
    )


def test_a_label_that_the_provider_does_not_have_is_not_listed() -> None:
    assert isinstance(found("classify", {"email_id": "mail-1", "label_id": "gone"}), NoChange)


def test_a_listed_label_gets_its_present_name() -> None:
    old = list_target("classify", "label", "label_fyi", name="For information")
    wanted = {"email_id": "mail-1", "label_id": "label_fyi"}
    assert entries("classify", wanted, allow("classify"), old) == (
        Listed(action="classify", kind="label", id="label_fyi", name="FYI"),
    )


def test_a_stranger_is_listed_and_the_condition_stays() -> None:
    assert entries("send_email", TO_ADA, allow("send_email", "ask", KNOWN)) == (
        Listed(action="send_email", kind="recipient", id=ADA, name=ADA),
    )


@pytest.mark.parametrize("mode", ["never", "draft_only"])
def test_an_action_that_is_off_is_asked_about_and_keeps_the_rest(mode: Any) -> None:
    row = allow("send_email", mode, {"kind": "max_recipients", "max": 2}, hold_seconds=60)
    listed = list_target("send_email", "recipient", ADA)

    [entry] = entries("send_email", TO_ADA, row, listed)

    assert entry == AllowedActionEntry(
        action="send_email",
        mode="ask",
        conditions=[{"kind": "max_recipients", "max": 2}],
        hold_seconds=60,
        patterns_unapproved=True,
    )


def test_what_was_automatic_and_switched_off_comes_back_as_asked_about() -> None:
    [entry] = entries("archive", {"email_id": "mail-1"}, allow("archive", enabled=False))
    assert isinstance(entry, AllowedActionEntry)
    assert (entry.enabled, entry.mode) == (True, "ask")


@pytest.mark.parametrize(
    ("condition", "wider"),
    [
        (
            {"kind": "recipient_domain", "domains": ["company.com"]},
            {"kind": "recipient_domain", "domains": ["company.com", "client.com"]},
        ),
        ({"kind": "max_recipients", "max": 1}, {"kind": "max_recipients", "max": 2}),
        ({"kind": "max_chars", "max": 5}, {"kind": "max_chars", "max": 29}),
        (
            {"kind": "links", "links": "none"},
            {"kind": "links", "links": "known", "domains": ["client.com"]},
        ),
        (
            {"kind": "number", "field": "to", "max": 1},
            {"kind": "number", "field": "to", "min": None, "max": 2.0},
        ),
        ({"kind": "trigger", "any_of": ["mcp"]}, {"kind": "trigger", "any_of": ["mcp", "chat"]}),
        (
            {"kind": "recipient", "relation": ["typed"], "novel": "forbid"},
            {"kind": "recipient", "relation": ["typed", "listed"], "novel": "forbid"},
        ),
    ],
)
def test_a_condition_is_widened_to_this_request(
    condition: dict[str, Any], wider: dict[str, Any]
) -> None:
    wanted = {"to": [ADA, "bob@client.com"], "subject": "Hello", "body": "See https://client.com/x"}
    listed = [list_target("send_email", "recipient", one) for one in wanted["to"]]
    changed = entries("send_email", wanted, allow("send_email", "ask", condition), *listed)
    assert only(condition["kind"], *changed) == wider


def test_a_sender_is_added_to_those_whose_mail_is_archived() -> None:
    row = allow("archive", "auto", {"kind": "sender", "domains": ["company.com"]})
    changed = entries("archive", {"email_id": "mail-1"}, row)
    assert only("sender", *changed) == {
        "kind": "sender",
        "domains": ["company.com"],
        "addresses": [ADA],
    }


@pytest.mark.parametrize(
    "condition",
    [
        {"kind": "bcc", "bcc": "forbid"},
        {"kind": "secrets", "forbid": ["iban"]},
        {"kind": "business_hours", "zone": "UTC", "start": "11:00", "end": "12:00"},
        {"kind": "invented"},
    ],
)
def test_no_condition_is_taken_away(condition: dict[str, Any]) -> None:
    wanted = {"to": [ADA], "bcc": [ADA], "subject": "Hello", "body": "DE89370400440532013000"}
    row = allow("send_email", "ask", condition)
    listed = list_target("send_email", "recipient", ADA)

    change = found("send_email", wanted, row, listed)

    assert isinstance(change, NoChange)
    assert change.why.startswith("No small change of the policy permits this. ")


def test_several_things_change_together() -> None:
    wanted = {"to": [ADA, STRANGER], **MAIL}
    row = allow("send_email", "never", {"kind": "max_recipients", "max": 1})

    change = found("send_email", wanted, row)

    assert isinstance(change, Change)
    assert [key(one) for one in change.entries] == [
        ("send_email", ""),
        ("send_email", "", "recipient", ADA),
        ("send_email", "", "recipient", STRANGER),
    ]
    assert change.decision.verdict == "ask"


def test_who_is_reached_without_an_argument_is_listed_too() -> None:
    plan = Document(
        id="doc-1", created_at=NOW, modified_at=NOW, owner=ME, name="Plan", shared_with=(STRANGER,)
    )
    drive = account(source="gdrive", kind="files")
    row = allow("append_document", "ask")
    wish = ActionRequest(
        action_id=ACTION_ID,
        account=drive,
        action_type="append_document",
        arguments={"document_id": "doc-1", "content": "More."},
        origin=chat(),
    )

    change = smallest_change(
        refused(wish, policy_of(row)), facts=facts(document=plan, folders=()), now=NOW
    )

    assert isinstance(change, Change), change
    assert change.entries == (
        Listed(action="append_document", kind="recipient", id=STRANGER, name=STRANGER),
    )
    assert [one.source for one in change.policy.listed_targets] == ["gdrive"]


def test_what_takes_a_hundred_entries_is_no_small_change() -> None:
    people = [[f"p{n}@{part}.example" for n in range(50)] for part in ("to", "cc")]
    wish = {"to": people[0], "cc": people[1], **MAIL}

    fits = found("send_email", wish | {"cc": people[1][:49]}, allow("send_email", "ask"))

    assert isinstance(fits, Change)
    assert len(fits.entries) == 99
    assert found("send_email", wish, allow("send_email", "ask")) == NoChange(
        why="It would take more than 99 changes of the policy."
    )


def test_rates_are_left_alone() -> None:
    row = allow("archive", "never", {"kind": "rate", "max": 1, "per": "hour"})
    [entry] = entries("archive", {"email_id": "mail-1"}, row)
    assert isinstance(entry, AllowedActionEntry)
    assert entry.conditions == [{"kind": "rate", "max": 1, "per": "hour"}]


def test_what_is_permitted_by_now_needs_no_change() -> None:
    change = found("archive", {"email_id": "mail-1"}, allow("archive"))
    assert isinstance(change, Change)
    assert (change.entries, change.decision.verdict) == ((), "allow")


# --- what no change permits ----------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"ceiling": (limit("never"),)},
        {"ceiling": (limit("draft_only", action_type="send_email"),)},
        {"ceiling": (limit("auto", {"kind": "max_chars", "max": 1}, action_type="send_email"),)},
        {"switches": (Switch(id="1", why="An incident"),)},
        {"paused": True},
    ],
)
def test_what_the_organisation_forbids_stays_refused(changes: dict[str, Any]) -> None:
    assert isinstance(found("send_email", TO_ADA, **changes), NoChange)


def test_the_guards_own_refusals_stay() -> None:
    elsewhere = facts(email(id="mail-2"))
    reading = {"email_id": "mail-1"}
    assert isinstance(found("archive", reading, known=elsewhere), NoChange)
    assert isinstance(found("archive", {"email_id": "a b"}), NoChange)


# --- for every policy ------------------------------------------------------------------------


def said(wish: ActionRequest, policy: PolicySnapshot) -> Decision:
    """What the policy says, however often it was done."""
    lasting = [
        replace(
            one, conditions=tuple(c for c in one.conditions if not isinstance(c, RateCondition))
        )
        for one in policy.allowed_actions
    ]
    unhurried = replace(policy, allowed_actions=tuple(lasting))
    return decide(request=wish, policy=unhurried, facts=facts(), now=NOW)


def parts(present: PolicyFile, change: Change) -> Iterator[Entry]:
    """The smallest pieces of a change: one target, one condition, or the mode."""
    before = {key(one): one for one in present.allowed_actions or ()}
    for entry in change.entries:
        was = before.get(key(entry))
        if isinstance(entry, Listed) or not isinstance(was, AllowedActionEntry):
            yield entry
            continue
        if (was.mode, was.enabled) != (entry.mode, entry.enabled):
            yield was.model_copy(update={"mode": entry.mode, "enabled": entry.enabled})
        for index, condition in enumerate(entry.conditions):
            if condition != was.conditions[index]:
                mixed = [*was.conditions]
                mixed[index] = condition
                yield was.model_copy(update={"conditions": mixed})


def joined(present: PolicyFile, chosen: tuple[Entry, ...]) -> list[Entry]:
    """Pieces put together; those of one allowed action in one entry."""
    before = {key(one): one for one in present.allowed_actions or ()}
    whole: dict[tuple[str, ...], Entry] = {}
    for one in chosen:
        so_far, was = whole.get(key(one)), before.get(key(one))
        if not isinstance(so_far, AllowedActionEntry) or not isinstance(one, AllowedActionEntry):
            whole[key(one)] = one
            continue
        assert was is not None
        pairs = zip(one.conditions, was.conditions, so_far.conditions, strict=True)
        mixed = [new if new != old else other for new, old, other in pairs]
        is_mode = (one.mode, one.enabled) != (was.mode, was.enabled)
        source = one if is_mode else so_far
        whole[key(one)] = source.model_copy(update={"conditions": mixed})
    return [*whole.values()]


@settings(max_examples=100)
@given(action_types, policies(), st.sampled_from(["", f"write {ADA}"]))
def test_it_permits_the_request_and_nothing_smaller_does(
    action_type: str, policy: PolicySnapshot, words: str
) -> None:
    wish = request(action_type, ARGUMENTS[action_type], chat(words))
    asked = refused(wish, policy)
    change = smallest_change(asked, facts=facts(), now=NOW)
    before = said(wish, policy)
    if isinstance(change, NoChange):
        return
    assert (before.verdict == "refuse") is bool(change.entries)
    assert said(wish, change.policy).verdict == change.decision.verdict != "refuse"
    assert change.policy == asked.under(*change.entries)
    pieces = [*parts(asked.present, change)]
    for count in range(len(pieces)):
        for fewer in combinations(pieces, count):
            smaller = asked.under(*joined(asked.present, fewer))
            assert said(wish, smaller).verdict == "refuse", fewer


@given(action_types, policies())
def test_it_permits_no_other_action_and_no_other_target(
    action_type: str, policy: PolicySnapshot
) -> None:
    wish = request(action_type, ARGUMENTS[action_type])
    asked = refused(wish, policy)
    change, present = smallest_change(asked, facts=facts(), now=NOW), asked.under()
    if isinstance(change, NoChange):
        return
    for name in set(ARGUMENTS) - {action_type}:
        other = request(name, ARGUMENTS[name])
        assert said(other, change.policy).verdict == said(other, present).verdict
    stranger = request("send_email", {"to": [STRANGER], **MAIL})
    if not any(row.openings for row in policy.allowed_actions):
        assert said(stranger, change.policy).verdict == "refuse"
    mail_sets_off = replace(wish, origin=replace(wish.origin, trigger="webhook"))
    if policy.allowed_action(action_type, "") is None:
        assert said(mail_sets_off, change.policy).verdict == "refuse"


@given(action_types, policies(), st.sampled_from(["never", "switch", "paused"]))
def test_it_never_permits_what_is_above_the_policy(
    action_type: str, policy: PolicySnapshot, above: str
) -> None:
    changes: dict[str, Any] = {
        "never": {"ceiling": (limit("never"),)},
        "switch": {"switches": (Switch(id="1"),)},
        "paused": {"paused": True},
    }
    wish = request(action_type, ARGUMENTS[action_type])
    stopped = refused(wish, replace(policy, **changes[above]))
    assert isinstance(smallest_change(stopped, facts=facts(), now=NOW), NoChange)
