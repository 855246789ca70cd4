"""The policy that a new account starts from, at the real sandbox."""

from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from guardrails.actions.registry import ACTIONS
from guardrails.contracts import ActionResult
from guardrails.execute import held_sends, releases
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, HeldSend, Person
from guardrails.policies import presets
from guardrails.policies.changes import Author
from guardrails.policies.files import apply
from guardrails.policies.text import PolicyFileError, read
from integrations.models import Account
from tests.commands import run_command
from tests.guardrails.office import CHAT, Office, minutes_ago, webhook
from tests.guardrails.values import ADA, STRANGER

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TEXT = {"subject": "Hello", "body": "Text."}
SENT = ("send_email", "forward_email", "create_calendar_event", "share_document")
BOB = "bob@company.com"
TIMES = {"start": "2026-03-02T10:00:00+01:00", "end": "2026-03-02T11:00:00+01:00"}


def start(account: Account) -> str:
    """Puts the default policy in place, as an operator does; what the command says."""
    whose = ["--organisation", account.organisation.slug, "--user", account.external_user_id]
    what = ["--source", account.source, "import", "--preset", presets.DEFAULT, "--apply"]
    return run_command("policy", *whose, *what)


def connected(office: Office, address: str) -> None:
    """A colleague: their mailbox is connected too."""
    Account.objects.create(
        organisation=office.organisation, external_user_id=address, source="gmail", address=address
    )


def outcome(office: Office, action: str, arguments: Any, words: str = "") -> tuple[str, str]:
    result = did(office, action, arguments, words)
    return result.status, result.reason


def did(office: Office, action: str, arguments: Any, words: str = "") -> ActionResult:
    origin = replace(CHAT, user_words=words)
    return execute(office.request(action, arguments, origin=origin))


def test_every_kind_that_actions_work_on_has_a_default_policy(office: Office) -> None:
    accounts = {one.kind: one for one in office.organisation.accounts.all()}
    assert accounts.keys() == {action.kind for action in ACTIONS}
    for account in accounts.values():
        assert "entries changed" in start(account)
        assert "Nothing differs." in start(account)


def test_what_is_private_is_done_at_once(office: Office) -> None:
    start(office.mailbox)
    start(office.diary)
    email_id = office.receive()
    done = ("succeeded", "performed")
    assert outcome(office, "mark_read", {"email_id": email_id}) == done
    assert outcome(office, "archive", {"email_id": email_id}) == done
    assert outcome(office, "draft", {"reply_to_id": email_id, "to": [ADA], **TEXT}) == done
    assert outcome(office, "create_calendar_event", {"title": "Focus", **TIMES}) == done
    assert len(office.calls()) == 4


def test_known_receivers_are_asked_about_and_novel_ones_refused(office: Office) -> None:
    start(office.mailbox)
    sent = {"from": office.mailbox.address, "to": [ADA], "labels": ["SENT"]}
    office.receive(**sent, date=minutes_ago(60))
    email_id = office.receive(**{"from": STRANGER})
    asked, novel = ("pending", "needs_approval"), ("refused", "receiver_novel")
    assert outcome(office, "send_email", {"to": [ADA], **TEXT}) == asked
    typed = f"write to {STRANGER}"
    assert outcome(office, "send_email", {"to": [STRANGER], **TEXT}, typed) == asked
    assert outcome(office, "send_email", {"to": [STRANGER], **TEXT}) == novel
    assert outcome(office, "send_email", {"to": [ADA, "ada@cliemt.com"], **TEXT}) == novel
    assert outcome(office, "forward_email", {"to": [STRANGER], "email_id": email_id}) == novel
    hidden = {"to": [ADA], "bcc": [STRANGER], **TEXT}
    assert outcome(office, "send_email", hidden, typed) == ("refused", "target_not_listed")
    assert office.calls() == []


def test_a_colleague_whom_the_user_typed_is_written_to_after_a_minute(office: Office) -> None:
    start(office.mailbox)
    connected(office, BOB)
    plain = {"to": [BOB], "subject": "Lunch", "body": "Shall we?"}
    words = f"Ask {BOB} about lunch."

    result = did(office, "send_email", plain, words)
    assert (result.status, office.calls()) == ("held", [])
    assert "it can be recalled until then" in result.sentence
    row = HeldSend.objects.get(action_id=result.action_id)
    HeldSend.objects.update(until=timezone.now())
    released = releases.release(row.id)
    assert released is not None
    assert (released.status, len(office.calls())) == ("succeeded", 1)

    asked = ("pending", "needs_approval")
    link = {**plain, "body": "See https://evil.example/x"}
    assert outcome(office, "send_email", link, words) == asked
    assert outcome(office, "send_email", {**plain, "to": [BOB, ADA]}, f"{words} {ADA}") == asked
    assert len(office.calls()) == 1


def employ(office: Office, **people: str) -> None:
    for name, address in people.items():
        Person.objects.create(
            organisation=office.organisation, name=name.replace("_", " "), address=address
        )


COLLEAGUE_ACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("mailbox", "send_email", {"to": ["marco.bianchi@company.com"], **TEXT}),
    (
        "mailbox",
        "forward_email",
        {"to": ["marco.bianchi@company.com"], "email_id": "mail-1"},
    ),
    (
        "diary",
        "create_calendar_event",
        {"title": "Lunch", "attendees": ["marco.bianchi@company.com"], **TIMES},
    ),
    (
        "drive",
        "share_document",
        {"document_id": "doc-1", "email": "marco.bianchi@company.com", "role": "reader"},
    ),
]


@pytest.mark.parametrize(("room", "action", "arguments"), COLLEAGUE_ACTS)
def test_a_colleague_is_done_for_when_named_asked_about_when_not_and_a_stranger_refused(
    office: Office, room: str, action: str, arguments: dict[str, Any]
) -> None:
    start(getattr(office, room))
    employ(office, Marco_Bianchi="marco.bianchi@company.com")
    office.receive(id="mail-1")
    office.put("documents", id="doc-1", content_text="One.")
    thing = "mail-1 and doc-1, Lunch, 2 March 2026 from 10:00 to 11:00"
    stranger = {
        name: "marco@evil.example" if name == "email" else ["marco@evil.example"]
        for name in ("to", "attendees", "email")
        if name in arguments
    }

    def ended(wanted: dict[str, Any], words: str) -> ActionResult:
        origin = replace(
            CHAT, user_words=words, said_at="2026-02-27T09:00:00+01:00", time_zone="Europe/Berlin"
        )
        return execute(office.request(action, wanted, origin=origin))

    unnamed = ended(arguments, f"Let them have {thing}")
    strange = ended(arguments | stranger, f"Let Marco have {thing}")

    assert (unnamed.status, unnamed.reason) == ("pending", "needs_approval")
    assert "“marco.bianchi@company.com” itself" in unnamed.sentence
    assert (strange.status, strange.reason) == ("refused", "receiver_novel")
    assert ended(arguments, f"Let Marco have {thing}").status == "held"
    assert office.calls() == []


def test_a_draft_for_a_colleague_whom_nobody_named_is_asked_about(office: Office) -> None:
    start(office.mailbox)
    employ(office, Marco_Bianchi="marco.bianchi@company.com")
    draft = {"to": ["marco.bianchi@company.com"], "reply_to_id": office.receive(), **TEXT}

    assert outcome(office, "draft", draft) == ("pending", "needs_approval")
    assert office.calls() == []
    assert outcome(office, "draft", draft, "Draft something to Marco") == ("succeeded", "performed")
    (call,) = office.calls()
    assert call["body"]["subject"] == "Hello"


def test_of_two_colleagues_of_a_name_none_is_guessed(office: Office) -> None:
    start(office.mailbox)
    employ(office, Marco_Bianchi="marco.bianchi@company.com", Marco_Rossi="m.rossi@company.com")
    wish = {"to": ["m.rossi@company.com"], **TEXT}

    assert outcome(office, "send_email", wish, "Tell Marco") == ("refused", "name_ambiguous")
    assert office.calls() == []
    assert did(office, "send_email", wish, "Tell Marco Rossi").status == "held"


def test_what_is_recalled_in_its_minute_is_never_sent(office: Office) -> None:
    start(office.mailbox)
    connected(office, BOB)
    held = did(office, "send_email", {"to": [BOB], **TEXT}, f"Write to {BOB}.")
    assert held.held_send_id is not None
    HeldSend.objects.update(until=timezone.now())

    held_sends.recall(
        organisation_id=office.organisation.id, held_send_id=held.held_send_id, by="user:maya"
    )

    assert releases.release(held.held_send_id) is None
    assert office.calls() == []


def test_a_mail_sends_nothing_and_drafts_only_to_its_sender(office: Office) -> None:
    start(office.mailbox)
    email_id = office.receive(cc=[STRANGER])
    origin = webhook(email_id, office.email(email_id)["thread_id"])

    def from_mail(action: str, to: str) -> tuple[str, str]:
        wish = {"to": [to], "reply_to_id": email_id, **TEXT}
        result = execute(office.request(action, wish, origin=origin))
        return result.status, result.reason

    assert from_mail("draft", STRANGER) == ("refused", "receiver_novel")
    assert from_mail("draft", ADA) == ("refused", "receiver_stranger")
    assert office.calls() == []
    office.receive(**{"from": office.mailbox.address}, to=[ADA], labels=["SENT"])
    assert from_mail("send_email", ADA) == ("refused", "condition_failed")
    assert office.calls() == []
    assert from_mail("draft", ADA) == ("succeeded", "performed")


def test_guests_are_known_and_their_time_is_confirmed(office: Office) -> None:
    start(office.diary)
    event = {"title": "Lunch", "attendees": [ADA], **TIMES}
    novel, asked = ("refused", "receiver_novel"), ("pending", "needs_approval")
    assert outcome(office, "create_calendar_event", event) == novel
    assert outcome(office, "create_calendar_event", event, f"Lunch with {ADA}") == asked
    assert office.calls() == []


def test_documents_that_others_read_are_confirmed(office: Office) -> None:
    start(office.drive)
    office.put("documents", content_text="One.", folder_id="drive_meetings")
    more = {"document_id": "doc-1", "content": "Two."}
    assert outcome(office, "append_document", more) == ("succeeded", "performed")
    office.share(drive_meetings=[ADA])
    assert outcome(office, "append_document", more) == ("refused", "receiver_novel")
    office.list_target("append_document", "recipient", ADA)
    assert outcome(office, "append_document", more) == ("pending", "needs_approval")
    assert len(office.calls()) == 1


@pytest.mark.parametrize("name", presets.list_names())
def test_every_preset_can_be_applied(office: Office, name: str) -> None:
    accounts = (office.mailbox, office.tracker, office.diary, office.drive, office.servers)
    account = next(one for one in accounts if name in presets.list_for(one))
    apply(account, read(presets.load(name)), author=Author(name="command", door="command"))
    assert AllowedAction.objects.exists()
    sent = AllowedAction.objects.filter(action_type__in=SENT, approval_mode="auto")
    assert {one.hold_seconds for one in sent} <= {60}
    assert all(
        {"kind": "recipient", "relation": ["directory"], "novel": "ask"} in one.conditions
        for one in sent
    )


def test_a_preset_has_a_title_and_says_what_it_is_for(office: Office) -> None:
    accounts = (office.mailbox, office.tracker, office.diary, office.drive, office.servers)
    found = {name: one for account in accounts for name, one in presets.list_for(account).items()}

    assert found.keys() == {*presets.list_names()}
    assert found["careful-mailbox"].title == "A careful mailbox"
    assert found["careful-mailbox"].about == (
        "nothing leaves and nothing disappears without a person."
    )
    assert len({one.title for one in found.values()}) == len(found)
    assert all(1 < len(one.title) < 45 and one.about.endswith(".") for one in found.values())


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(PolicyFileError, match="careful-mailbox"):
        presets.load("../models")
