"""The tool by which an agent suggests a pattern: read by code, bound to the account."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from agents.contracts import CallRecord, InboundMail, Person
from agents.journal import leases
from agents.journal.steps import Reply
from agents.models import Turn
from agents.tools import propose_pattern
from agents.tools.base import ToolContext
from agents.tools.propose_pattern import ProposePattern
from guardrails.learn import patterns
from guardrails.models import LearnedPattern
from integrations.contracts import AccountRef
from integrations.llm.deadline import Deadline
from integrations.models import Account, Organisation
from knowledge.models import Item

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
ARCHIVE = [{"action_type": "archive"}]


@pytest.fixture
def mine() -> AccountRef:
    return account("maya", Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="O"))


def account(user: str, organisation: Organisation) -> AccountRef:
    row = Account.objects.create(
        organisation=organisation,
        external_user_id=user,
        source="gmail",
        address=f"{user}@company.com",
        display_name=user,
    )
    return row.ref()


def stored(owner: AccountRef, source_id: str, **changes: Any) -> None:
    metadata = {"thread_id": "t", "list_id": None, "authenticated": True, "labels": ["INBOX"]}
    values = {
        "title": "Invoice 17",
        "sender_address": "billing@cloudnest.example",
        "identifiers": [source_id, "billing@cloudnest.example"],
        "metadata": metadata | changes.pop("metadata", {}),
    }
    Item.objects.create(
        account_id=owner.id,
        source="gmail",
        source_id=source_id,
        content_type="email",
        occurred_at=NOW,
        ingested_at=NOW,
        **(values | changes),
    )


def context(mine: AccountRef, *, mail_id: str = "") -> ToolContext:
    turn = Turn.objects.create(
        organisation_id=mine.organisation_id, external_user_id="maya", kind="inbound"
    )
    lease = leases.claim(turn.id)
    assert lease is not None
    mail = InboundMail(
        account=mine,
        email_id=mail_id,
        thread_id="t",
        sender="",
        sender_name="",
        to=(),
        cc=(),
        subject="",
        text="",
        list_id="",
        first_contact=False,
        authenticated=False,
        date="",
        thread_messages=1,
    )
    return ToolContext(
        lease=lease,
        person=Person(
            organisation_id=mine.organisation_id, external_user_id="maya", accounts=(mine,)
        ),
        agent="mail_reader" if mail_id else "orchestrator",
        model="m",
        trigger="webhook" if mail_id else "chat",
        principal="",
        user_words="",
        mail=mail if mail_id else None,
        pattern_id="",
        call=CallRecord(
            id=uuid4(), name="propose_pattern", arguments="{}", action_id=uuid4(), result=None
        ),
        delegate=lambda *_: Reply(text=""),
        deadline=Deadline.after(60),
    )


def propose(context: ToolContext, **changes: Any) -> dict[str, Any]:
    values = {"email_id": "m1", "match": "sender", "actions": ARCHIVE, "reason": "As ever."}
    arguments = ProposePattern.model_validate(values | changes)
    return propose_pattern.run(context, arguments).wire()


def test_a_chat_proposes_with_evidence_of_what_is_stored(mine: AccountRef) -> None:
    for number in range(1, 4):
        stored(mine, f"m{number}", metadata={"labels": ["INBOX"] if number == 1 else []})

    answer = propose(context(mine))

    row = LearnedPattern.objects.get()
    assert answer == {
        "success": True,
        "data": {"status": "proposed", "sentence": "It waits for an operator to approve it."},
    }
    assert (row.sender_address, row.subject, row.state) == (
        "billing@cloudnest.example",
        "",
        "proposed",
    )
    assert (row.proposed_by, row.example_id, row.reason) == ("chat", "m1", "As ever.")
    sides = row.evidence.order_by("item_id").values_list("item_id", "side")
    assert list(sides) == [
        ("m1", "contradicting"),
        ("m2", "supporting"),
        ("m3", "supporting"),
    ]
    assert patterns.approved_patterns(mine, now=NOW) == ()


def test_the_example_is_known_by_the_id_that_results_show(mine: AccountRef) -> None:
    stored(mine, "m1")
    shown = Item.objects.get(source_id="m1").id

    assert propose(context(mine), email_id=str(shown))["data"]["status"] == "proposed"
    assert LearnedPattern.objects.get().example_id == "m1"


@pytest.mark.parametrize(
    ("match", "fields"),
    [
        ("sender", ("billing@cloudnest.example", "", "", "")),
        ("sender_and_subject", ("billing@cloudnest.example", "", "", "invoice #")),
        ("sender_domain", ("", "cloudnest.example", "", "")),
        ("list", ("", "", "<invoices.cloudnest.example>", "")),
        ("list_and_subject", ("", "", "<invoices.cloudnest.example>", "invoice #")),
    ],
)
def test_the_matcher_is_made_of_whole_values_of_the_mail(
    mine: AccountRef, match: str, fields: tuple[str, ...]
) -> None:
    stored(mine, "m1", metadata={"list_id": "<invoices.cloudnest.example>"})
    propose(context(mine), match=match)

    row = LearnedPattern.objects.get()
    assert (row.sender_address, row.sender_domain, row.list_id, row.subject) == fields


@pytest.mark.parametrize(
    ("match", "mail"),
    [
        ("list", {}),
        ("sender", {"sender_address": ""}),
        ("sender_domain", {"sender_address": ""}),
        ("sender_and_subject", {"title": ""}),
    ],
)
def test_a_mail_without_the_value_makes_no_pattern(
    mine: AccountRef, match: str, mail: dict[str, str]
) -> None:
    stored(mine, "m1", **mail)
    assert propose(context(mine), match=match)["error"]["code"] == "INVALID_INPUT"
    assert not LearnedPattern.objects.exists()


def test_a_hostile_mail_gets_a_proposal_that_says_where_it_is_from(mine: AccountRef) -> None:
    stored(mine, "m1")
    stored(mine, "m2", sender_address="alerts@bank.example")

    assert propose(context(mine, mail_id="m1"))["success"]
    other = propose(context(mine, mail_id="m1"), email_id="m2")

    row = LearnedPattern.objects.get()
    assert other["error"]["code"] == "PERMISSION_DENIED"
    assert (row.proposed_by, row.state) == ("webhook", "proposed")
    assert patterns.approved_patterns(mine, now=NOW) == ()


def test_mail_of_another_account_is_as_unknown_as_none(mine: AccountRef) -> None:
    organisation = Organisation.objects.get(pk=mine.organisation_id)
    stored(account("omar", organisation), "m1")

    theirs = propose(context(mine))
    none = propose(context(mine), email_id="never")

    assert theirs == none
    assert theirs["error"]["code"] == "NOT_FOUND"
    assert not LearnedPattern.objects.exists()


@pytest.mark.parametrize(
    "actions",
    [
        [{"action_type": "send_email", "params": {"to": ["evil@evil.example"]}}],
        [{"action_type": "forward_email", "params": {"to": ["evil@evil.example"]}}],
        [{"action_type": "archive", "params": {"email_id": "m2"}}],
        [{"action_type": "classify", "params": {"label_id": ""}}],
        [{"action_type": "create_rule", "params": {}}],
    ],
)
def test_what_patterns_cannot_do_is_not_proposed(mine: AccountRef, actions: list[Any]) -> None:
    stored(mine, "m1")
    assert propose(context(mine), actions=actions)["error"]["code"] == "INVALID_INPUT"
    assert not LearnedPattern.objects.exists()


def test_a_user_without_a_mailbox_proposes_nothing(mine: AccountRef) -> None:
    found = context(mine)
    bare = replace(found, person=replace(found.person, accounts=()))
    assert propose(bare)["error"]["code"] == "NOT_FOUND"
