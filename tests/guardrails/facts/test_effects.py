"""What an action does to others follows from facts, not from its name."""

from dataclasses import replace
from typing import Any

import pytest

from audit.ledger.selectors import recorded
from guardrails.contracts import Decision, Origin
from guardrails.decide.checks.stopping import Stops
from guardrails.decide.snapshot import AllowedAction, ListedTarget
from guardrails.execute.executor import execute
from guardrails.facts import alerts
from guardrails.facts.facts import Facts
from guardrails.gather import stops
from integrations.contracts import Document, Event, Folder, Mailbox
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.office import CHAT, Office, phases
from tests.guardrails.values import (
    ADA,
    AGENT_TEXT,
    ME,
    NOW,
    STRANGER,
    account,
    allow,
    chat,
    decide,
    email,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

DATABASE = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SOURCE = {"event": "calendar", "document": "gdrive"}
FOLDERS = (
    Folder(id="top", name="/Product", kind="drive", shared_with=(STRANGER,)),
    Folder(id="below", name="/Product/Roadmap", kind="drive", shared_with=()),
    Folder(id="beside", name="/Products", kind="drive", shared_with=()),
    Folder(id="unsaid", name="/Unsaid", kind="drive"),
    Folder(id="orphan", name="/Unlisted/Plans", kind="drive", shared_with=()),
)


def decided(
    action_type: str,
    arguments: dict[str, Any],
    *rows: AllowedAction | ListedTarget,
    found: Facts,
    origin: Origin | None = None,
) -> Decision:
    source = SOURCE.get(action_type.rpartition("_")[2], "gmail")
    wish = request(action_type, arguments, origin or chat())
    policy = policy_of(allow(action_type), *rows)
    changed = type(wish)(**{**vars(wish), "account": account(source=source)})
    return decide(request=changed, policy=policy, facts=found, now=NOW)


def kinds(decision: Decision) -> list[str]:
    return [effect.kind for effect in decision.effects]


def listed(action_type: str, kind: str, external_id: str, name: str = "") -> ListedTarget:
    source = SOURCE.get(action_type.rpartition("_")[2], "gmail")
    return list_target(action_type, kind, external_id, source=source, name=name or external_id)


# --- concealing ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sender", "subject"),
    [
        ("security@bank.example", "Hello"),
        ("MAILER-DAEMON@company.com", "Hello"),
        ("hello@bank.example", "Security alert: new device"),
        ("hello@bank.example", "New sign-in from Oslo"),
        ("hello@bank.example", "Your pass\u200bword was changed"),
        ("hello@bank.example", "Ｖerification Code 1234"),  # noqa: RUF001  # fullwidth
        ("hello@bank.example", "A forwarding  rule was added"),
    ],
)
def test_hiding_an_alert_is_asked_about_and_no_mail_can_do_it(sender: str, subject: str) -> None:
    found = facts(email(**{"from": sender, "subject": subject}))
    for action_type in ("archive", "mark_read"):
        mine = decided(action_type, {"email_id": "mail-1"}, found=found)
        assert (mine.verdict, kinds(mine)) == ("ask", ["concealing"])
        assert mine.side_effects == ("Hides something: the mail is a security or delivery alert.",)
        theirs = decided(action_type, {"email_id": "mail-1"}, found=found, origin=inbound())
        assert (theirs.verdict, theirs.reason) == ("refuse", "harm_not_from_mail")


@pytest.mark.parametrize("origin", [chat(), inbound(), inbound(trigger="pattern")])
def test_what_is_no_alert_is_private(origin: Origin) -> None:
    for action_type in ("archive", "mark_read"):
        decision = decided(action_type, {"email_id": "mail-1"}, found=facts(), origin=origin)
        assert (decision.verdict, decision.effects) == ("allow", ())


@pytest.mark.parametrize(
    ("sender", "alerted"),
    [
        ("account-security-noreply@mail.example", True),
        ("No_Reply.Security@bank.example", True),
        ("mailer-daemon@mail.example", True),
        ("security.example@client.com", True),
        ("no-reply@google.com", False),
        ("securityweekly@news.example", False),
        ("job-alerts@work.example", False),
        ("", False),
    ],
)
def test_who_alerts_is_known_in_any_language(sender: str, alerted: bool) -> None:
    mail = email(**{"from": sender, "subject": "Eine Frage"})
    assert (alerts.describe(mail) != "") is alerted


def test_hidden_html_makes_no_alert() -> None:
    html = "<div style='display:none'>Security alert</div><!-- new sign-in -->"
    decision = decided("archive", {"email_id": "mail-1"}, found=facts(email(body_html=html)))
    assert decision.verdict == "allow"


# --- mailboxes -------------------------------------------------------------------------


def test_a_draft_in_a_shared_mailbox_reaches_its_members() -> None:
    draft = {"to": [ADA], "reply_to_id": "mail-1", "subject": "Hello", "body": "Text."}
    alone = decided("draft", draft, found=facts())
    assert (alone.verdict, alone.effects) == ("allow", ())
    shared = facts(mailbox=Mailbox(address=ME, shared_with=(ME, STRANGER)))
    both = [listed("draft", "recipient", ADA), listed("draft", "recipient", STRANGER)]
    assert decided("draft", draft, *both[:1], found=shared).reason == "target_not_listed"
    assert decided("draft", draft, *both, found=shared).verdict == "allow"
    assert kinds(decided("draft", draft, *both, found=shared)) == ["egress"]
    assert decided("draft", draft, found=facts(mailbox=None)).reason == "audience_unknown"


# --- events ----------------------------------------------------------------------------


def meeting(*attendees: str, created_by: str = ME) -> Facts:
    return Facts(
        own_address=ME,
        event=Event.model_validate(
            {
                "id": "event-1",
                "version": 3,
                "title": "Lunch",
                "start": NOW,
                "end": NOW,
                "created_by": created_by,
                "attendees": [{"email": address} for address in attendees],
            }
        ),
    )


def test_an_event_of_ones_own_alone_is_private_and_others_are_reached() -> None:
    wish = {"event_id": "event-1", "title": "Late lunch"}
    assert decided("update_calendar_event", wish, found=meeting(ME)).effects == ()
    assert decided("update_calendar_event", wish, found=meeting(ME)).verdict == "allow"
    with_ada = meeting(ME, ADA)
    refused = decided("update_calendar_event", wish, found=with_ada)
    assert (refused.verdict, refused.reason) == ("refuse", "target_not_listed")
    by_domain = listed("update_calendar_event", "recipient_domain", "client.com")
    asked = decided("update_calendar_event", wish, by_domain, found=with_ada)
    assert (asked.verdict, kinds(asked)) == ("ask", ["egress"])
    assert asked.side_effects == (f"Reaches other people: {ADA} hear of the change.",)
    assert asked.provenance["event.people[0]"] == "X"
    herself = listed("update_calendar_event", "recipient", ADA)
    assert decided("update_calendar_event", wish, herself, found=with_ada).verdict == "ask"
    named = chat("Call event-1 a late lunch.")
    free = decided("update_calendar_event", wish, herself, found=with_ada, origin=named)
    assert free.verdict == "allow"


def test_somebody_elses_invitation_reaches_its_organiser() -> None:
    wish = {"event_id": "event-1", "title": "Late lunch"}
    decision = decided("update_calendar_event", wish, found=meeting(ME, created_by=STRANGER))
    assert decision.reason == "target_not_listed"
    nameless = decided("update_calendar_event", wish, found=meeting(ME, created_by=""))
    assert nameless.reason == "audience_unknown"
    odd = decided("update_calendar_event", wish, found=meeting("Ada <ada@client.com>"))
    assert odd.reason == "audience_unknown"


def test_cancelling_destroys_so_a_person_is_asked() -> None:
    decision = decided("cancel_calendar_event", {"event_id": "event-1"}, found=meeting())
    assert (decision.verdict, kinds(decision)) == ("ask", ["destructive"])


# --- documents -------------------------------------------------------------------------


def paper(folder_id: str | None = None, owner: str = ME, *shared_with: str) -> Facts:
    return Facts(
        own_address=ME,
        folders=FOLDERS,
        document=Document(
            id="doc-1",
            version=2,
            name="Plan",
            folder_id=folder_id,
            created_at=NOW,
            modified_at=NOW,
            owner=owner,
            shared_with=shared_with,
        ),
    )


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (paper(), "allowed"),
        (paper("beside"), "allowed"),
        (paper(None, ME, STRANGER), "target_not_listed"),
        (paper(None, STRANGER), "target_not_listed"),
        (paper("top"), "target_not_listed"),
        (paper("below"), "target_not_listed"),
        (paper("unsaid"), "audience_unknown"),
        (paper("gone"), "audience_unknown"),
        (paper("orphan"), "audience_unknown"),
        (paper(None, ""), "audience_unknown"),
    ],
    ids=[
        "own",
        "own folder",
        "shared",
        "foreign",
        "folder",
        "inherited",
        "unsaid",
        "gone",
        "orphan",
        "?",
    ],
)
def test_adding_to_a_document_reaches_its_readers(found: Facts, reason: str) -> None:
    decision = decided("append_document", {"document_id": "doc-1", "content": "x"}, found=found)
    assert decision.reason == reason


@pytest.mark.parametrize("top", ["/", "/Clients", "Clients", "Clients/", "/Clients/"])
def test_a_folder_is_read_by_the_readers_of_every_folder_above(top: str) -> None:
    here = Folder(id="here", name="Clients/Portal", kind="drive", shared_with=())
    clients = Folder(id="clients", name="/Clients", kind="drive", shared_with=())
    above = Folder(id="above", name=top, kind="drive", shared_with=(STRANGER,))
    found = Facts(own_address=ME, folders=(here, clients, above))
    assert found.folder_readers("here") == (STRANGER,)


def test_moving_is_egress_only_where_the_audience_grows() -> None:
    rows = [
        listed("move_document", "folder", "below", "/Product/Roadmap"),
        listed("move_document", "folder", "beside", "/Products"),
    ]
    wider = {"document_id": "doc-1", "folder_id": "below"}
    refused = decided("move_document", wider, *rows, found=paper("beside"))
    assert refused.reason == "target_not_listed"
    same = decided("move_document", wider, *rows, found=paper("top"))
    assert (same.verdict, same.effects) == ("allow", ())
    narrower = decided("move_document", wider | {"folder_id": "beside"}, *rows, found=paper("top"))
    assert (narrower.verdict, narrower.effects) == ("allow", ())
    allowed = listed("move_document", "recipient", STRANGER)
    assert kinds(decided("move_document", wider, *rows, allowed, found=paper())) == ["egress"]


def test_a_document_in_a_folder_that_others_read_reaches_them() -> None:
    wish = {"name": "Notes", "folder_id": "below"}
    row = listed("create_document", "folder", "below", "/Product/Roadmap")
    found = Facts(own_address=ME, folders=FOLDERS)
    assert decided("create_document", wish, row, found=found).reason == "target_not_listed"
    reader = listed("create_document", "recipient", STRANGER)
    assert decided("create_document", wish, row, reader, found=found).verdict == "allow"


# --- between being asked and being done -------------------------------------------------


@pytest.fixture
def lunch(office: Office) -> Office:
    """An event with Ada, whom an operator listed; changes are asked about."""
    office.put("events", attendees=[{"email": ADA}])
    office.permit("update_calendar_event", "ask")
    office.list_target("update_calendar_event", "recipient_domain", "client.com")
    return office


@DATABASE
@pytest.mark.parametrize("changed", [True, False])
def test_an_attendee_who_was_added_meanwhile_undoes_the_approval(
    lunch: Office, changed: bool
) -> None:
    wish = {"event_id": "event-1", "title": "Late lunch"}
    asked = ask(lunch, "update_calendar_event", wish)
    if changed:
        people = [{"email": ADA}, {"email": "bob@client.com"}]
        lunch.change("events", "event-1", attendees=people)

    result = confirm(asked, decided_by="operator:ada")

    if changed:
        assert (result.status, result.reason) == ("refused", "changed_since_asked")
        assert lunch.calls() == []
    else:
        assert result.status == "succeeded"
        assert [call["status"] for call in lunch.calls()] == [200]
    kept = recorded(asked.action_id)[0].payload
    assert kept["decision"]["effects"][0]["kind"] == "egress"
    assert kept["decided_on"]["facts"]["event"]["attendees"][0]["email"] == ADA
    assert kept["undo"] == "Set back title to “Lunch”."


@DATABASE
def test_an_object_that_changes_after_the_decision_is_left_alone(
    lunch: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    lunch.mailbox.organisation.accounts.get(source="calendar").allowed_actions.update(
        approval_mode="auto", conditions=[AGENT_TEXT]
    )
    lunch.list_target("update_calendar_event", "recipient", ADA)
    read_stops = stops.read_stops

    def late(**given: Any) -> Stops:
        lunch.change("events", "event-1", attendees=[{"email": STRANGER}])
        return read_stops(**given)

    monkeypatch.setattr(stops, "read_stops", late)

    wish = {"event_id": "event-1", "title": "Late lunch"}
    origin = replace(CHAT, user_words="Put event-1 off.")
    result = execute(lunch.request("update_calendar_event", wish, origin=origin))

    assert (result.status, result.reason) == ("failed", "changed_meanwhile")
    assert [(call["status"], call["performed"]) for call in lunch.calls()] == [(412, False)]
    assert phases(result)[-1] == ("outcome", "failed", "changed_meanwhile")
