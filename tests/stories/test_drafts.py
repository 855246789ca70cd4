"""The life of the assistant's drafts: a draft that nobody touched goes when it is of no use any
more, and what a person edited or sent is never removed. In the sandbox, and on a mail server."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from email.message import EmailMessage
from typing import Any

import httpx
import pytest

from agents.office import dead_letters
from audit.models import ExecutedAgentAction
from guardrails.models import AllowedAction, AllowedActionOption, AssistantDraft
from integrations.exceptions import Unavailable
from integrations.models import Account, Delivery
from integrations.providers.data_service.reader import DataServiceReader
from integrations.providers.imap import connection
from tests.mail_world import MailWorld, needs_dovecot, running_mail_world
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import scripted, take_up_again
from tests.stories.test_own_mailbox import NORA, allow_preset, connect, look, mail

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
READER, INGEST = "You are Remit's mail reader.", "You summarise an item and list its entities."
MAYA = "maya@company.com"


def summary(request: dict[str, Any]) -> Any:
    return {"summary": "A mail.", "entities": []}


def answer_with(body: str) -> Callable[[dict[str, Any]], Any]:
    """A model that drafts this answer to the mail that it is shown."""

    def model(request: dict[str, Any]) -> Any:
        if request["messages"][-1]["role"] == "tool":
            return "Drafted."
        item = json.loads(request["messages"][1]["content"].partition("[item] ")[2])
        values = {
            "to": [item["from"]["address"]],
            "subject": f"Re: {item['subject']}",
            "body": body,
        }
        return calls(("draft", {"reply_to_id": item["email_id"], **values}))

    return model


def drafts(office: Office, *, user: str = "maya") -> dict[str, str]:
    """The bodies of the drafts at the provider, by id."""
    url = f"{office.sandbox.url}/users/{user}/drafts"
    answer = httpx.get(url, headers=office.sandbox.headers).json()
    return {one["id"]: one["body"] for one in answer["items"]}


def by_draft(office: Office, method: str, path: str, body: dict[str, Any]) -> None:
    """Maya's own hand, in a client of hers."""
    headers = office.sandbox.headers | {"Idempotency-Key": f"{method} {path}"}
    url = f"{office.sandbox.url}/users/maya/drafts/{path}"
    httpx.request(method, url, json=body, headers=headers).raise_for_status()
    office.settle_webhooks()


def write(
    office: Office,
    first: dict[str, Any],
    id: str,
    *,
    minutes: int,
    sender: str = "",
    body: str = "And?",
) -> None:
    """Another mail of the thread, as the provider's own clients would bring it."""
    date = datetime.fromisoformat(first["date"]) + timedelta(minutes=minutes)
    new = {
        **{
            name: first[name] for name in first if name not in ("version", "revision", "updated_at")
        },
        "id": id,
        "date": date.isoformat(),
        "message_id": f"<{id}@x.example>",
        "labels": ["SENT"] if sender == MAYA else ["INBOX", "UNREAD"],
        "from": sender or first["from"],
        "body_text": body,
    }
    office.control("POST", "/users/maya/emails", json={"items": [new], "notify": True})
    office.settle_webhooks()


def arrive(office: Office, body: str) -> dict[str, Any]:
    """A question, and the draft of an answer to it."""
    before = set(drafts(office))
    with scripted({INGEST: summary, READER: answer_with(body)}):
        found = office.deliver("question")
        office.drain()
    assert [drafts(office)[id] for id in set(drafts(office)) - before] == [body]
    return found


def ended() -> list[tuple[str, float | None]]:
    rows = AssistantDraft.objects.order_by("written_at")
    return [(one.state, one.nearness and round(one.nearness, 2)) for one in rows]


def withdrawals() -> list[tuple[str, str, str]]:
    """The ledger's rows of what was taken back, in order."""
    written = list(AssistantDraft.objects.values_list("action_id", flat=True))
    rows = ExecutedAgentAction.objects.filter(parent_action_id__in=written).order_by("id")
    return [(one.agent_id, one.phase, one.decision_reason) for one in rows]


DONE = [("drafts", "attempt", "allowed"), ("drafts", "outcome", "performed")]


def test_when_the_user_answers_the_untouched_draft_goes(office: Office) -> None:
    before = set(drafts(office))
    first = arrive(office, "The plan is ready on Friday.")

    with scripted({INGEST: summary}):
        body = "It is ready on Friday.\n\nOn Monday, Ann wrote:\n> When is the plan ready?\n"
        write(office, first, "own_1", minutes=5, sender=MAYA, body=body)
        office.drain()

    assert set(drafts(office)) == before
    assert ended() == [("superseded", 0.73)]
    assert withdrawals() == DONE


@pytest.mark.parametrize("change", [{"body": "On Monday."}, {"subject": "Other"}, {"to": [MAYA]}])
def test_a_draft_that_the_user_edited_stays(office: Office, change: dict[str, Any]) -> None:
    first = arrive(office, "On Friday.")
    row = AssistantDraft.objects.get()
    by_draft(office, "PATCH", row.draft_id, change)
    before = len(office.calls())

    with scripted({INGEST: summary}):
        write(office, first, "own_1", minutes=5, sender=MAYA)
        office.drain()

    assert row.draft_id in drafts(office)
    assert [one["path"] for one in office.calls()[before:] if "/drafts" in one["path"]] == []
    assert ended() == [("edited", 0.0)]
    assert withdrawals() == [("drafts", "blocked", "changed_since_done")]


def test_a_draft_that_the_user_sent_is_known_as_sent(office: Office) -> None:
    arrive(office, "On Friday, at ten.")
    row = AssistantDraft.objects.get()
    by_draft(office, "POST", f"{row.draft_id}/send", {})

    with scripted({INGEST: summary}):
        office.drain()

    assert ended() == [("sent", 1.0)]
    assert withdrawals() == []
    sent = office.mail(AssistantDraft.objects.get().answer_id)
    assert sent["body_text"] == "On Friday, at ten."


def test_a_draft_that_was_put_back_to_its_words_counts_as_touched(office: Office) -> None:
    first = arrive(office, "On Friday.")
    row = AssistantDraft.objects.get()
    by_draft(office, "PATCH", row.draft_id, {"body": "On Monday."})
    by_draft(office, "PATCH", f"{row.draft_id}?", {"body": "On Friday."})

    with scripted({INGEST: summary}):
        write(office, first, "own_1", minutes=5, sender=MAYA)
        office.drain()

    assert drafts(office)[row.draft_id] == "On Friday."
    assert ended()[0][0] == "edited"


def test_a_newer_draft_takes_the_place_of_an_untouched_one_alone(office: Office) -> None:
    before = set(drafts(office))
    first = arrive(office, "One.")
    by_draft(office, "PATCH", AssistantDraft.objects.get().draft_id, {"body": "Mine."})
    for number, body in ((1, "Two."), (2, "Three.")):
        with scripted({INGEST: summary, READER: answer_with(body)}):
            write(office, first, f"theirs_{number}", minutes=number)
            office.drain()

    assert sorted(drafts(office)[id] for id in set(drafts(office)) - before) == ["Mine.", "Three."]
    assert [state for state, _ in ended()] == ["edited", "superseded", "pending"]


def test_where_nobody_can_look_at_the_draft_it_stays_and_is_looked_at_later(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = arrive(office, "On Friday.")
    row = AssistantDraft.objects.get()

    def away(self: Any, draft_id: str) -> Any:
        raise Unavailable("away")

    with scripted({INGEST: summary}):
        with monkeypatch.context() as patched:
            patched.setattr(DataServiceReader, "draft", away)
            write(office, first, "own_1", minutes=5, sender=MAYA)
            office.drain()
            assert row.draft_id in drafts(office)
            assert ended() == [("pending", None)]
        take_up_again(office)

    assert row.draft_id not in drafts(office)
    assert [state for state, _ in ended()] == ["superseded"]
    assert not Delivery.objects.exclude(state__in=["processed", "skipped"]).exists()


def test_a_draft_written_for_a_thread_that_was_answered_meanwhile_goes_at_once(
    office: Office,
) -> None:
    before = set(drafts(office))

    def late(request: dict[str, Any]) -> Any:
        if request["messages"][-1]["role"] != "tool":
            write(office, mails[0], "own_1", minutes=1, sender=MAYA)
        return answer_with("On Friday.")(request)

    mails = [office.deliver("question")]
    with scripted({INGEST: summary, READER: late}):
        office.drain()

    assert set(drafts(office)) == before
    assert [state for state, _ in ended()] == ["superseded"]


def test_a_paused_account_keeps_its_drafts_until_its_mail_is_taken_up(office: Office) -> None:
    first = arrive(office, "On Friday.")
    Account.objects.filter(source="gmail").update(paused=True)

    with scripted({INGEST: summary}):
        write(office, first, "own_1", minutes=5, sender=MAYA)
        office.drain()

    assert AssistantDraft.objects.get().draft_id in drafts(office)
    assert (ended(), withdrawals()) == ([("pending", None)], [])
    Account.objects.filter(source="gmail").update(paused=False)
    left = Delivery.objects.filter(source_id="own_1", reason=Delivery.STOPPED)
    assert dead_letters.queue_again(left.values_list("id", flat=True)) == 1
    office.drain()
    assert ended()[0][0] == "superseded"


@pytest.fixture
def world(keys: None) -> Iterator[MailWorld]:
    with running_mail_world() as running:
        yield running
        connection.close_idle()


def held(world: MailWorld, folder: str) -> list[bytes]:
    with world.client(NORA) as client:
        client.select_folder(folder, readonly=True)
        return [one[b"BODY[]"] for one in client.fetch(client.search(), ["BODY.PEEK[]"]).values()]


def append(world: MailWorld, folder: str, message: EmailMessage, *flags: bytes) -> None:
    with world.client(NORA) as client:
        client.append(folder, message.as_bytes(), (b"\\Seen", *flags))


@needs_dovecot
@pytest.mark.parametrize("touched", [False, True])
def test_on_a_mail_server_it_is_the_same(
    office: Office, world: MailWorld, monkeypatch: pytest.MonkeyPatch, touched: bool
) -> None:
    account = connect(world, monkeypatch)
    look(office, account)
    allow_preset(account)
    AllowedAction.objects.update_or_create(
        account=account, action_type="draft", defaults={"approval_mode": "auto", "conditions": []}
    )
    AllowedActionOption.objects.create(
        account=account,
        action_type="draft",
        source="imap",
        kind="recipient",
        external_id="tom@office.test",
        name="Tom",
    )
    body = "Dear Tom,\n\nthe plan — größer than before —\nis ready.  \n\n" + "word " * 60
    question = mail("The plan " * 12, "Is it ready?")
    question.replace_header("Message-ID", "<asked@office.test>")
    world.deliver(NORA, question)
    with scripted({INGEST: summary, READER: answer_with(body)}):
        look(office, account)
    (raw,) = held(world, "Drafts")
    row = AssistantDraft.objects.get()
    assert (row.state, row.draft_id != "", row.of_own_accord) == ("pending", True, True)

    if touched:  # as mail programs do it: another draft in the place of the first
        with world.client(NORA) as client:
            client.select_folder("Drafts")
            client.append("Drafts", raw.replace(b"is ready", b"was ready"), (b"\\Draft",))
            client.delete_messages([client.search()[0]])
            client.expunge()
    answered = EmailMessage()
    answered["From"], answered["To"], answered["Subject"] = NORA, "tom@office.test", "Re: The plan"
    answered["Message-ID"], answered["Date"] = (
        "<own@office.test>",
        "Mon, 09 Mar 2026 11:00:00 +0100",
    )
    answered["In-Reply-To"] = answered["References"] = "<asked@office.test>"
    answered.set_content("Ready.")
    append(world, "Sent", answered)
    with scripted({INGEST: summary}):
        look(office, account)

    assert len(held(world, "Drafts")) == touched
    assert AssistantDraft.objects.get().state == ("missing" if touched else "superseded")
    assert withdrawals() == ([("drafts", "blocked", "object_unknown")] if touched else DONE)
