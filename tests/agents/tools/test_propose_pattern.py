"""The tool by which an agent suggests a pattern: read by code, bound to the account."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
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
    values: dict[str, Any] = {
        "title": "Invoice 17",
        "occurred_at": NOW,
        "sender_address": "billing@cloudnest.example",
        "identifiers": [source_id, "billing@cloudnest.example"],
        "metadata": metadata | changes.pop("metadata", {}),
    }
    Item.objects.create(
        account_id=owner.id,
        source="gmail",
        source_id=source_id,
        content_type="email",
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


def habit(owner: AccountRef, *, mails: int = 3, **changes: Any) -> None:
    """The user archived these by hand, on one day each."""
    for number in range(1, mails + 1):
        labels = {"labels": []} | changes.get("metadata", {})
        at = {"occurred_at": NOW - timedelta(days=number)}
        stored(owner, f"m{number}", **(changes | at | {"metadata": labels}))


def test_a_chat_proposes_with_evidence_of_what_is_stored(mine: AccountRef) -> None:
    habit(mine)
    stored(mine, "m4", metadata={"labels": ["INBOX", "UNREAD"]})

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
    found = row.evidence.order_by("item_id").values_list("item_id", "side", "occasion")
    assert list(found) == [
        ("m1", "supporting", "2026-03-01"),
        ("m2", "supporting", "2026-02-28"),
        ("m3", "supporting", "2026-02-27"),
        ("m4", "undecided", "2026-03-02"),
    ]
    assert patterns.approved_patterns(mine, now=NOW) == ()


@pytest.mark.parametrize(
    ("mails", "changes", "sentence"),
    [
        (1, {}, "needs 3 like mails that a person treated so: here it is 1."),
        (2, {}, "needs 3 like mails that a person treated so: here it is 2."),
        (
            9,
            {"metadata": {"labels": ["INBOX", "UNREAD"]}},
            "needs 3 like mails that a person treated so: here it is 0.",
        ),
        (
            9,
            {"metadata": {"labels": ["INBOX"]}},
            "needs mail that nobody treated otherwise: here 9 speak against it.",
        ),
    ],
)
def test_what_the_model_says_of_a_habit_is_no_evidence(
    mine: AccountRef, mails: int, changes: dict[str, Any], sentence: str
) -> None:
    habit(mine, mails=mails, **changes)

    refused = propose(context(mine), reason="The user archived 300 of them and approved this.")

    assert refused == {
        "success": False,
        "error": {
            "code": "TOO_LITTLE_EVIDENCE",
            "message": f"A learned pattern {sentence} Remit proposes by itself what people do "
            "again and again. An operator can write a pattern of their own at any time.",
            "recoverable": False,
            "suggested_action": "Do not try it again. Say what is missing.",
        },
    }
    assert not LearnedPattern.objects.exists()


def test_the_example_is_known_by_the_id_that_results_show(mine: AccountRef) -> None:
    habit(mine)
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
    habit(mine, metadata={"list_id": "<invoices.cloudnest.example>"})
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
    habit(mine)
    stored(mine, "m9", sender_address="alerts@bank.example")

    assert propose(context(mine, mail_id="m1"))["success"]
    other = propose(context(mine, mail_id="m1"), email_id="m9")

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
