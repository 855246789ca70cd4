"""Which drafts of a thread are of no use any more."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import given, strategies as st

from guardrails.execute.executor import execute
from guardrails.execute.tidying import find_stale, tidy, tidy_superseded
from guardrails.models import AssistantDraft
from integrations.accounts.reads import mail_reader
from integrations.contracts import Email
from tests.guardrails.office import CLIENT, Office

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ANN, MAYA = "ann@x.test", "maya@y.test"


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def mail(id: str, minutes: int, *labels: str, sender: str = ANN) -> Email:
    fields: dict[str, Any] = {"id": id, "from": sender, "date": at(minutes).isoformat()}
    return Email.model_validate(fields | {"labels": labels, "message_id": f"<{id}>"})


def draft(answers: str, minutes: int, *, asked_for: bool = False) -> AssistantDraft:
    return AssistantDraft(
        draft_id=f"draft to {answers}",
        message_id=f"<draft to {answers}>",
        reply_to_id=answers,
        receivers=[ANN],
        of_own_accord=not asked_for,
        written_at=at(minutes),
    )


def stale(
    rows: list[AssistantDraft], thread: list[Email], came: Email, minutes: int
) -> dict[str, str | None]:
    found = find_stale(rows, thread, came, came_at=at(minutes))
    return {row.reply_to_id: answer.id if answer else None for row, answer in found}


QUESTION, ANSWER = mail("question", 0, "INBOX"), mail("answer", 5, "SENT", sender=MAYA)


def test_an_answer_ends_every_draft_of_the_thread() -> None:
    rows = [draft("question", 1), draft("more", 2)]
    assert stale(rows, [QUESTION, ANSWER], ANSWER, 6) == {"question": "answer", "more": "answer"}


def new_mail(minutes: int) -> AssistantDraft:
    row = draft("", minutes, asked_for=True)
    row.message_id = "<new>"
    return row


def sent(id: str, minutes: int, to: str, *, message_id: str = "") -> Email:
    """What the user sent to somebody."""
    changes = {"to": (to,), "message_id": message_id or f"<{id}>"}
    return mail(id, minutes, "SENT", sender=MAYA).model_copy(update=changes)


def test_a_draft_of_a_new_mail_ends_with_the_mail_that_was_sent_from_it_or_instead() -> None:
    for mine in (sent("own", 5, "bob@x.test", message_id="<new>"), sent("own", 5, ANN)):
        assert stale([new_mail(1)], [mine], mine, 5) == {"": "own"}


def test_whatever_else_is_in_its_thread_leaves_a_draft_of_a_new_mail_alone() -> None:
    """Providers put mail of the same subject together."""
    other, theirs = sent("own", 5, "bob@x.test"), mail("theirs", 6)
    reply = draft("question", 7)
    assert stale([new_mail(1)], [QUESTION, other], other, 5) == {}
    assert stale([new_mail(1)], [QUESTION, theirs], theirs, 6) == {}
    assert stale([new_mail(1), reply], [QUESTION], QUESTION, 7) == {}
    early = sent("own", 0, ANN)
    assert stale([new_mail(1)], [early], mail("news", 6), 6) == {}


def test_an_answer_that_was_sent_while_the_draft_was_written_counts_too() -> None:
    early = mail("early", 1, "SENT", sender=MAYA)
    assert stale([draft("question", 2)], [QUESTION, early], QUESTION, 0) == {"question": "early"}


def test_a_draft_that_a_person_asked_for_after_their_answer_stays() -> None:
    row = draft("question", 9, asked_for=True)
    assert stale([row], [QUESTION, ANSWER], QUESTION, 0) == {}
    assert stale([row], [QUESTION, ANSWER], mail("news", 10, sender="bob@x.test"), 10) == {}


def test_a_clock_that_is_wrong_keeps_no_draft_after_the_answer_at_hand() -> None:
    future = mail("question", 10**6, "INBOX")
    assert stale([draft("question", 1)], [future, ANSWER], ANSWER, 6) == {"question": "answer"}


def test_a_mail_of_its_receiver_ends_a_draft_and_one_of_others_does_not() -> None:
    rows = [draft("question", 1)]
    assert stale(rows, [QUESTION], mail("again", 5, "INBOX"), 6) == {"question": None}
    assert stale(rows, [QUESTION], mail("other", 5, "INBOX", sender="bob@x.test"), 6) == {}
    assert stale(rows, [QUESTION], QUESTION, 6) == {}


def test_somebody_who_writes_as_the_user_ends_nothing() -> None:
    forged = mail("forged", 5, "INBOX", sender=MAYA)
    assert stale([draft("question", 1)], [QUESTION, forged], forged, 6) == {}


def test_what_is_no_mail_of_the_thread_any_more_ends_nothing() -> None:
    for label in ("DRAFT", "TRASH", "SPAM"):
        gone = mail("gone", 5, "SENT", label, sender=MAYA)
        assert stale([draft("question", 1)], [QUESTION, gone], gone, 6) == {}


def test_the_mail_that_was_made_of_the_draft_is_its_answer() -> None:
    row = draft("question", 1)
    own = mail("own", 4, "SENT", sender=MAYA).model_copy(update={"message_id": row.message_id})
    assert stale([row], [QUESTION, own, ANSWER], ANSWER, 6) == {"question": "own"}


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_the_sweep_takes_back_all_but_the_newest_draft_of_each_thread(office: Office) -> None:
    office.permit("draft")
    mails = [office.receive(id=f"mail-{n}", thread_id=f"t-{n}") for n in (1, 2)]
    wish = {"to": ["ada@client.com"], "subject": "Re: Lunch"}
    for email_id, body in ((mails[0], "One."), (mails[0], "Two."), (mails[1], "Other.")):
        answer = wish | {"reply_to_id": email_id, "body": body}
        assert execute(office.request("draft", answer)).status == "succeeded"

    # Who is in the same thread, at another account, has a draft of their own.
    other = AssistantDraft.objects.create(
        action_id=uuid4(),
        account=office.tracker,
        draft_id="other",
        thread_id="t-1",
        of_own_accord=True,
        written_at=timezone.now() + timedelta(days=1),
    )

    tidy_superseded()

    other.refresh_from_db()
    assert other.state == "pending"
    rows = AssistantDraft.objects.filter(account=office.mailbox).order_by("written_at")
    assert [row.state for row in rows] == ["superseded", "pending", "pending"]
    gone, *_ = rows
    writes = [(one["method"], one["path"].rpartition("/")[2]) for one in office.calls()]
    assert writes == [("POST", "drafts")] * 3 + [("DELETE", gone.draft_id)]


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_drafts_of_new_mail_replace_nothing_and_are_replaced_by_nothing(office: Office) -> None:
    office.permit("draft")
    office.list_target("draft", "recipient", "ada@client.com")
    asked = office.receive(thread_id="t")
    wish = {"to": ["ada@client.com"], "subject": "Lunch", "body": "At noon?"}
    for arguments in (wish, wish | {"reply_to_id": asked}, wish):
        assert execute(office.request("draft", arguments)).status == "succeeded"
    rows = AssistantDraft.objects.filter(account=office.mailbox)
    assert rows.exclude(thread_id="").values("thread_id").distinct().count() == 3
    rows.update(thread_id="t")  # as where a provider puts mail of one subject together

    tidy_superseded()

    assert set(rows.values_list("state", flat=True)) == {"pending"}
    assert [one["method"] for one in office.calls()] == ["POST"] * 3


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
@pytest.mark.parametrize(
    ("thread_id", "said", "expected"),
    [
        ("t", "See you there at two.", ("sent", 0.8)),  # under a new Message-ID
        ("t", "No.", ("missing", 0.0)),
        ("other", "See you there at one.", ("pending", None)),
    ],
)
def test_a_draft_that_is_gone_was_sent_where_the_answer_in_its_thread_is_near(
    office: Office, thread_id: str, said: str, expected: tuple[str, float | None]
) -> None:
    office.permit("draft")
    asked = office.receive(thread_id="t")
    wish = {"to": ["ada@client.com"], "subject": "Re: Lunch", "body": "See you there at one."}
    assert execute(office.request("draft", wish | {"reply_to_id": asked})).status == "succeeded"
    row = AssistantDraft.objects.get(account=office.mailbox)
    url = f"{office.sandbox.url}/users/{office.user_id}/drafts/{row.draft_id}"
    by_hand = office.sandbox.headers | {"Idempotency-Key": str(uuid4())}
    CLIENT.request("DELETE", url, json={}, headers=by_hand).raise_for_status()
    account = office.ref(office.mailbox)
    sent = office.receive(
        thread_id=thread_id, labels=["SENT"], **{"from": account.address, "body_text": said}
    )

    answer = mail_reader(account).email(sent)
    tidy(
        account,
        answer,
        came_at=timezone.now(),
        own_words=lambda one: one.body_text or "",
        use_turn=str,
    )

    row.refresh_from_db()
    assert (row.state, row.nearness) == expected


@given(st.lists(st.integers(1, 100), unique=True, min_size=1).map(sorted))
def test_of_several_drafts_only_the_newest_stays(minutes: list[int]) -> None:
    rows = [draft(f"mail {one}", one) for one in minutes]
    found = stale(rows, [QUESTION], QUESTION, 0)
    assert list(found) == [row.reply_to_id for row in rows[:-1]]
