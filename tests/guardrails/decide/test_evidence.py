"""Any decision of the past is decided again from the ledger, and gives the same answer."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connections
from hypothesis import given, strategies as st

from audit.contracts import Recorded
from audit.ledger import policies as ledger_policies
from audit.ledger.chain import canonical_bytes, storable
from audit.ledger.selectors import recorded
from audit.models import LedgerPolicy
from guardrails.actions import registry
from guardrails.contracts import ActionRequest, Origin
from guardrails.decide import evidence, snapshot
from guardrails.decide.policy import needs
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.execute.entries import blocked
from guardrails.execute.executor import execute
from guardrails.facts.corrections import Correction
from guardrails.facts.facts import Facts
from guardrails.gather.judgement import Judgement
from guardrails.models import OwnDomain
from tests.guardrails.decide.test_policy_ceiling import limits
from tests.guardrails.decide.test_policy_properties import (
    ARGUMENTS,
    action_types,
    origins,
    policies,
)
from tests.guardrails.office import CHAT, Office, policy_that_decided, webhook
from tests.guardrails.values import (
    ADA,
    NOW,
    allow,
    decide,
    directory_of,
    email,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

TAKEN_OFF = (Correction(label_id="label_fyi", at=NOW - timedelta(days=1)),)
database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def as_recorded(wish: ActionRequest, policy: PolicySnapshot, read: Facts | None) -> Recorded:
    """The row that the executor would write, as it comes back from the ledger."""
    decision = decide(request=wish, policy=policy, facts=read, now=NOW)
    grounds = evidence.collect(request=wish, policy=policy, facts=read, now=NOW, decision=decision)
    judgement = Judgement(decision=decision, grounds=grounds, policy=policy, facts=read)
    entry = blocked(wish, judgement, attempt_no=1, now=NOW)
    names = Recorded.__dataclass_fields__.keys() & entry.__dataclass_fields__.keys()
    values: dict[str, Any] = {name: getattr(entry, name) for name in names}
    return Recorded(**(values | {"payload": dict(storable(entry.payload))}), id=1, recorded_at=NOW)


@given(
    action_types,
    policies(),
    st.lists(limits, max_size=2, unique_by=lambda one: one.id),
    origins,
    st.sampled_from(
        [
            None,
            facts(),
            facts(corresponded={ADA: 2}, created=("mail-1",)),
            facts(corresponded={}),
            facts(directory=directory_of(ADA)),
            facts(corrections=TAKEN_OFF),
            facts(corrections=TAKEN_OFF, pattern_approved_at=NOW),
        ]
    ),
    st.sampled_from([{}, {"extra": 1}, {"email_id": "\u200b"}]),
)
def test_the_same_policy_gives_the_same_answer(
    action_type: str,
    policy: PolicySnapshot,
    some: list[Any],
    origin: Origin,
    read: Facts | None,
    odd: dict[str, Any],
) -> None:
    policy = replace(policy, ceiling=tuple(some))
    wish = request(action_type, ARGUMENTS[action_type] | odd, origin)
    row = as_recorded(wish, policy, read)
    past = evidence.past(row)
    assert past is not None

    again = evidence.decide_again(past, evidence.policy_of(policy.content()))

    assert again is not None
    assert canonical_bytes(storable(again.plain())) == canonical_bytes(row.payload["decision"])


@given(policies(), st.lists(limits, max_size=2, unique_by=lambda one: one.id))
def test_a_policy_is_read_back_as_it_was(policy: PolicySnapshot, some: list[Any]) -> None:
    policy = replace(policy, ceiling=tuple(some), switches=(snapshot.Switch(id="1", why="x"),))
    again = evidence.policy_of(policy.content())
    assert again.digest == policy.digest
    assert again.content() == policy.content()


def test_no_body_of_a_mail_is_kept() -> None:
    secret = email(body_text="the secret", body_html="the secret", snippet="the secret")
    wish, policy = request("archive", ARGUMENTS["archive"]), policy_of(allow("archive"))
    row = as_recorded(wish, policy, facts(secret))
    assert "the secret" not in str(row.payload)


def test_of_the_providers_lists_only_what_is_named_is_kept() -> None:
    wish, policy = request("classify", ARGUMENTS["classify"]), policy_of(allow("classify"))
    row = as_recorded(wish, policy, facts())
    assert row.payload["decided_on"]["facts"]["labels"] == {"label_fyi": "FYI"}


def test_evidence_from_before_a_fact_was_known_is_decided_without_it() -> None:
    wish, policy = request("draft", ARGUMENTS["draft"]), policy_of(allow("draft"))
    row = as_recorded(wish, policy, facts())
    decided_on = row.payload["decided_on"]
    collect = {k: v for k, v in decided_on["facts"].items() if k not in ("corresponded", "created")}
    old = replace(row, payload={**row.payload, "decided_on": {**decided_on, "facts": collect}})

    past = evidence.past(old)

    assert past is not None
    again = evidence.decide_again(past, policy)
    assert again is not None
    assert canonical_bytes(storable(again.plain())) == canonical_bytes(row.payload["decision"])


def test_a_correction_is_decided_again_from_the_row_and_older_rows_know_none() -> None:
    wish = request("classify", ARGUMENTS["classify"], inbound())
    policy = policy_of(allow("classify"), list_target("classify", "label", "label_fyi"))
    row = as_recorded(wish, policy, facts(corrections=TAKEN_OFF))
    assert row.payload["decision"]["reason"] == "label_corrected"
    decided_on = row.payload["decided_on"]
    new = ("corrections", "pattern_approved_at")
    known = {name: one for name, one in decided_on["facts"].items() if name not in new}
    old = replace(row, payload={**row.payload, "decided_on": {**decided_on, "facts": known}})

    found = [evidence.past(one) for one in (row, old)]

    reasons = [
        again.reason for one in found if one and (again := evidence.decide_again(one, policy))
    ]
    assert reasons == ["label_corrected", "allowed"]


def test_facts_that_were_not_read_are_not_guessed() -> None:
    policy = policy_of(allow("archive"))
    past = evidence.past(as_recorded(request("archive", ARGUMENTS["archive"]), policy, facts()))
    assert past is not None
    wider = policy_of(allow("archive", "auto", {"kind": "thread"}))
    assert not needs(registry.BY_NAME[past.request.action_type], wider) <= past.needs
    assert evidence.decide_again(past, wider) is None


def test_a_directory_that_was_not_read_is_not_guessed() -> None:
    wish = request("send_email", {"to": [ADA], "subject": "Hello", "body": "Text."})
    known = {"kind": "recipient", "relation": ["typed", "directory"]}
    without = policy_of(allow("send_email", "auto", {**known, "relation": ["typed"]}))
    named = policy_of(allow("send_email", "auto", known))
    unread = evidence.past(as_recorded(wish, without, facts()))
    read = evidence.past(as_recorded(wish, named, facts(directory=directory_of(ADA))))
    assert unread is not None
    assert read is not None
    assert evidence.decide_again(unread, named) is None
    again = evidence.decide_again(read, named)
    assert again is not None
    assert (again.verdict, again.reason) == ("allow", "allowed")


def test_a_row_without_evidence_is_not_decided_again() -> None:
    row = as_recorded(request("archive", {}), policy_of(), None)
    assert evidence.past(replace(row, payload={})) is None
    assert evidence.past(replace(row, payload=dict(row.payload) | {"proposed": '{"a'})) is None


@database
@pytest.mark.parametrize("verdict", ["allow", "ask", "refuse", "nothing permitted", "from mail"])
def test_what_the_executor_decided_is_decided_again_from_the_ledger(
    office: Office, verdict: str
) -> None:
    email_id = office.receive(body_text="Body")
    origin: dict[str, Any] = {}
    if verdict in ("allow", "ask"):
        office.permit("draft", {"allow": "auto"}.get(verdict, verdict))
    elif verdict == "refuse":
        office.permit("draft", conditions=[{"kind": "sender", "domains": ["company.com"]}])
    elif verdict == "from mail":
        office.permit("draft", conditions=[{"kind": "first_contact"}, {"kind": "thread"}])
        thread = office.email(email_id)["thread_id"]
        origin = {"origin": webhook(email_id, thread)}
    arguments = {"to": [ADA], "reply_to_id": email_id, "subject": "Re", "body": "Yes."}

    result = execute(office.request("draft", arguments, **origin))

    row = recorded(result.action_id)[0]
    past, policy = (
        evidence.past(row),
        policy_that_decided(row),
    )
    assert past is not None
    again = evidence.decide_again(past, policy)
    assert again is not None
    assert canonical_bytes(storable(again.plain())) == canonical_bytes(row.payload["decision"])


@database
def test_a_policy_is_kept_once_and_only_as_it_was(office: Office) -> None:
    policy, tenant_id = policy_of(allow("archive")), office.organisation.id
    for _ in range(2):
        ledger_policies.store(tenant_id=tenant_id, digest=policy.digest, body=policy.canonical)
    assert LedgerPolicy.objects.filter(tenant_id=tenant_id).count() == 1
    body = ledger_policies.body(tenant_id=tenant_id, digest=policy.digest)
    assert body is not None
    assert evidence.policy_of(json.loads(body)) == policy
    assert ledger_policies.body(tenant_id=tenant_id, digest="0" * 64) is None
    assert ledger_policies.body(tenant_id=uuid4(), digest=policy.digest) is None
    with pytest.raises(IntegrityError), connections["ledger"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_policy (tenant_id, digest, body) VALUES (%s, %s, '{}')",
            [tenant_id, "0" * 64],
        )


@database
def test_who_belonged_is_kept_so_that_a_replay_says_the_same(office: Office) -> None:
    bob = "bob@company.com"
    condition = {"kind": "recipient", "relation": ["belongs"], "novel": "forbid"}
    office.permit("update_calendar_event", conditions=[condition])
    OwnDomain.objects.create(organisation=office.organisation, domain="company.com")
    office.put("events", attendees=[{"email": bob}])
    origin = replace(CHAT, user_words="Call event-1 a late lunch.")
    rename = {"event_id": "event-1", "title": "Late lunch"}
    result = execute(office.request("update_calendar_event", rename, origin=origin))
    assert result.status == "succeeded"
    OwnDomain.objects.all().delete()
    office.change("events", "event-1", attendees=[{"email": bob, "added_by": ADA}])

    row = recorded(result.action_id)[0]
    past = evidence.past(row)
    assert past is not None
    again = evidence.decide_again(past, policy_that_decided(row))

    assert again is not None
    assert (again.verdict, again.provenance["event.people[0]"]) == ("allow", "O")
    assert row.payload["decision"]["provenance"] == dict(again.provenance)
