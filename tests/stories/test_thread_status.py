"""The status of a thread is right, no matter who writes next and in which client."""

import re
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.activity import digest_mail, digests
from agents.inbound import follow_ups
from agents.models import Turn
from audit.models import ExecutedAgentAction
from guardrails.approve.card_mail import inert
from guardrails.facts.reasons import SENTENCES
from guardrails.models import AllowedAction
from integrations.models import Delivery
from tests.agents.pages import superuser
from tests.office import Office
from tests.stories.steps import Frontend, scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
READER, INGEST = "You are Remit's mail reader.", "You summarise an item and list its entities."
SUMMARY = {"summary": "A mail.", "entities": []}
MAYA = "maya@company.com"
FAR = ZoneInfo("Pacific/Kiritimati")
STATUS = {
    *("label_to_reply", "label_awaiting_reply", "label_fyi", "label_actioned"),
    "label_follow_up",
}


def statuses(office: Office, thread_id: str) -> dict[str, list[str]]:
    """The states that mails of the thread carry at the provider, by mail."""
    mails = office.thread(thread_id)
    found = {one["id"]: sorted(STATUS & set(one["labels"])) for one in mails}
    return {id: labels for id, labels in found.items() if labels}


def turned(since: datetime) -> list[tuple[str, str, str]]:
    """The ledger's rows of what was done without a model."""
    rows = ExecutedAgentAction.objects.filter(agent_id="thread_status", occurred_at__gte=since)
    return [(one.action_type, one.phase, one.status) for one in rows.order_by("id")]


def labelled(office: Office, before: int) -> list[str]:
    """What reached the provider since then, but for the draft that an answer ends."""
    paths = [one["path"].split("/") for one in office.calls()[before:]]
    return [path[-1] for path in paths if "drafts" not in path]


def third_monday(sent: str) -> datetime:
    """After a mail, as it has just begun for Maya."""
    day = datetime.fromisoformat(sent).astimezone(FAR).date()
    later = day + timedelta(days=7 - day.weekday() + 14)
    return datetime.combine(later, time(0, 30), FAR).astimezone(UTC)


def write(
    office: Office,
    mail: dict[str, Any],
    id: str,
    *,
    minutes: int,
    labels: list[str],
    sender: str = "",
) -> None:
    """Another mail of the thread, as the provider's own clients would bring it."""
    date = datetime.fromisoformat(mail["date"]) + timedelta(minutes=minutes)
    new = {
        **{name: mail[name] for name in mail if name not in ("version", "revision", "updated_at")},
        "id": id,
        "date": date.isoformat(),
        "message_id": f"<{id}@x.example>",
        "labels": labels,
        "from": sender or mail["from"],
    }
    office.control("POST", "/users/maya/emails", json={"items": [new], "notify": True})
    office.settle_webhooks()
    office.drain()


def test_an_answer_waits_and_the_next_mail_asks_again(office: Office) -> None:
    since = timezone.now()
    mail = office.deliver("question")
    office.drain()
    assert statuses(office, mail["thread_id"]) == {mail["id"]: ["label_to_reply"]}
    before = len(office.calls())

    # The user answers in a client of their own.
    with scripted({INGEST: [SUMMARY] * 2, READER: ["Nothing to do."]}):
        write(office, mail, "own_1", minutes=5, labels=["SENT"], sender=MAYA)
        assert statuses(office, mail["thread_id"]) == {"own_1": ["label_awaiting_reply"]}

        # The other side answers, and the mail reader says nothing of it.
        write(office, mail, "theirs_1", minutes=9, labels=["INBOX", "UNREAD"])
        assert statuses(office, mail["thread_id"]) == {"theirs_1": ["label_to_reply"]}

        # The user reads that, and settles it by hand on the first mail.
        read = [one for one in office.mail("theirs_1")["labels"] if one != "UNREAD"]
        settled = [*office.mail(mail["id"])["labels"], "label_actioned"]
        for id, labels in (("theirs_1", read), (mail["id"], settled)):
            office.control("PATCH", f"/users/maya/emails/{id}", json={"labels": labels})
        office.settle_webhooks()
        office.drain()

    assert statuses(office, mail["thread_id"]) == {mail["id"]: ["label_actioned"]}
    assert labelled(office, before) == ["labels", "labels", "labels"]
    assert (
        turned(since)
        == [
            ("classify", "attempt", "pending"),
            ("classify", "outcome", "succeeded"),
        ]
        * 3
    )
    assert not Delivery.objects.exclude(state__in=["processed", "skipped"]).exists()


def test_word_of_what_was_done_about_a_thread_tells_nothing_new(office: Office) -> None:
    mail = office.deliver("question")
    office.drain()
    with scripted({INGEST: [SUMMARY] * 2, READER: ["Nothing to do."]}):
        write(office, mail, "own_1", minutes=5, labels=["SENT"], sender=MAYA)
        write(office, mail, "theirs_1", minutes=9, labels=["INBOX"])
        # By hand, on another mail than the one that has the thread's state.
        labels = [*office.mail(mail["id"])["labels"], "label_actioned"]
        office.control("PATCH", f"/users/maya/emails/{mail['id']}", json={"labels": labels})
        office.settle_webhooks()
        office.drain()
        office.settle_webhooks()
        office.drain()

    assert statuses(office, mail["thread_id"]) == {mail["id"]: ["label_actioned"]}
    rows = Delivery.objects.filter(
        kind="updated", source_id__in=[mail["id"], "own_1", "theirs_1"]
    ).order_by("received_at")
    found = [(one.source_id, one.body["data"]["version"], one.reason) for one in rows]
    assert sorted(found) == sorted(
        [
            *(
                (id, version, "own_action")
                for id in (mail["id"], "own_1", "theirs_1")
                for version in (2, 3)
            ),
            (mail["id"], 4, ""),
        ]
    )


def test_where_labels_may_not_be_set_nothing_is_turned(office: Office) -> None:
    since = timezone.now()
    mail = office.deliver("question")
    office.drain()
    AllowedAction.objects.filter(action_type="classify").update(approval_mode="never")
    before = len(office.calls())

    with scripted({INGEST: [SUMMARY]}):
        write(office, mail, "own_1", minutes=5, labels=["SENT"], sender=MAYA)

    assert statuses(office, mail["thread_id"]) == {mail["id"]: ["label_to_reply"]}
    assert labelled(office, before) == []
    assert turned(since) == [("classify", "blocked", "blocked")]


def test_what_nobody_answered_is_brought_up_once_and_an_answer_turns_it(office: Office) -> None:
    """Maya works on Mondays alone, where days begin before those of the office."""
    Frontend(office).prefer(
        time_zone=FAR.key, working_hours={"monday": {"start": "09:00", "end": "17:00"}}
    )
    mail = office.deliver("question")
    office.drain()
    client = superuser()
    with scripted({INGEST: [SUMMARY] * 2, READER: ["Nothing to do."]}):
        write(office, mail, "own_1", minutes=5, labels=["SENT"], sender=MAYA)
        account = office.account("maya", "gmail")

        later = third_monday(office.mail("own_1")["date"])
        assert follow_ups.remind(account, now=later - timedelta(hours=1)) == 0
        assert follow_ups.remind(replace(account, paused=True), now=later) == 0
        assert follow_ups.remind(account, now=later) == 1
        assert statuses(office, mail["thread_id"]) == {"own_1": ["label_follow_up"]}
        row = row_about(client, "own_1", kind="reminder")
        assert (row.kind, row.title, row.why) == (
            "Reminder",
            mail["subject"],
            "Nobody has answered it.",
        )
        assert [(one.what, one.status) for one in row.done] == [
            (f"Label as Follow Up: “{mail['subject']}”", "done")
        ]
        for _, link in row.links:
            assert client.get(link).status_code == 200
        # Where the user says that it can wait, that holds for the day.
        path = "/users/maya/emails/own_1"
        office.control("PATCH", path, json={"labels": ["SENT", "label_awaiting_reply"]})
        office.settle_webhooks()
        office.drain()
        follow_ups.remind(account, now=later + timedelta(hours=1))
        assert statuses(office, mail["thread_id"]) == {"own_1": ["label_awaiting_reply"]}
        assert follow_ups.remind(account, now=later + timedelta(days=1)) == 1
        assert statuses(office, mail["thread_id"]) == {"own_1": ["label_follow_up"]}
        office.drain()

        write(office, mail, "theirs_1", minutes=9, labels=["INBOX", "UNREAD"])

    assert statuses(office, mail["thread_id"]) == {"theirs_1": ["label_to_reply"]}
    rows = ExecutedAgentAction.objects.filter(agent_id="follow_ups").order_by("id")
    assert [(one.phase, one.status) for one in rows] == [
        ("attempt", "pending"),
        ("outcome", "succeeded"),
    ] * 2


def row_about(client: Client, source_id: str, **query: str) -> Any:
    """The row of the first page that says what was done because of this mail."""
    answer = client.get(reverse("admin:index"), {"words": source_id, **query})
    (row,) = (row for _, rows in answer.context["days"] for row in rows if row.done)
    return row


def test_the_row_of_the_users_own_answer_says_what_was_done_because_of_it(office: Office) -> None:
    mail = office.deliver("question")
    office.drain()
    with scripted({INGEST: [SUMMARY]}):
        write(office, mail, "own_1", minutes=5, labels=["SENT"], sender=MAYA)
    client = superuser()

    row = row_about(client, "own_1")

    done = [
        (f"Label as Awaiting Reply: “{mail['subject']}”", "done", ""),
        (
            f"Withdraw the draft: “[Nobody was asked about: {mail['from']}] {mail['subject']}”",
            "done",
            "",
        ),
    ]
    assert (row.outcome, row.why) == ("Done", "")
    assert [(one.what, one.status, one.why) for one in row.done] == done
    turn = Turn.objects.get(delivery__source_id="own_1")
    assert turn.finished_at is not None
    assert turn.created_at < turn.finished_at < timezone.now()
    turn_page = reverse("admin:agents_turn_change", args=[turn.id])
    assert dict(row.links)["Turn"] == row.link == turn_page
    item_page = client.get(dict(row.links)["Item"]).content.decode()
    (back,) = re.findall(r'href="([^"]+)"[^>]*>What came of it<', item_page)
    assert turn_page in client.get(unescape(back)).content.decode()
    page = client.get(turn_page)
    assert [one["description"] for one in page.context["actions_done"]] == [one[0] for one in done]
    # And back, from each row of the ledger.
    for one in ExecutedAgentAction.objects.filter(run_id=str(turn.id), phase="outcome"):
        entry = client.get(reverse("admin:audit_executedagentaction_change", args=[one.id]))
        assert turn_page in entry.content.decode()
    # The figures above and the day count it once.
    figures = client.get(reverse("admin:index")).context["figures"]
    totals = {value: number for value, _, number in figures["value"].totals}
    assert totals["done"] == Turn.objects.exclude(actions=[]).count() == 2
    organisation = office.account("maya", "gmail").organisation_id
    day = digests.load_day(
        organisation, "maya", timezone.now().date(), zone=ZoneInfo("UTC"), examples=9
    )
    assert {part.outcome: part.number for part in day.parts} == {"done": 2}
    for words, _, _ in done:
        assert digest_mail.text(day, "").count(inert(f"{words}: done.")) == 1


def test_what_was_refused_to_a_thread_is_said_in_words(office: Office) -> None:
    mail = office.deliver("question")
    office.drain()
    AllowedAction.objects.filter(action_type="classify").update(approval_mode="never")
    before = len(office.calls())
    with scripted({INGEST: [SUMMARY]}):
        write(office, mail, "own_1", minutes=5, labels=["SENT"], sender=MAYA)
    client = superuser()

    row = row_about(client, "own_1")

    refused, withdrawn = row.done
    words = f"Label as Awaiting Reply: “{mail['subject']}”"
    assert (row.outcome, refused.status, withdrawn.status) == (
        "Refused",
        "refused, not done",
        "done",
    )
    assert (refused.what, refused.why) == (words, SENTENCES["not_permitted"])
    assert labelled(office, before) == []
    ledger = client.get(refused.link).content.decode()
    sentence = f"Label as Awaiting Reply “{mail['subject']}”. {SENTENCES['not_permitted']}"
    assert f"Refused: {sentence}" in unescape(ledger)
