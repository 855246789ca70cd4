"""Where the values of an action come from, as the guard's own look-ups say."""

from dataclasses import replace
from typing import Any

import pytest

from guardrails.contracts import ActionResult, Decision, Origin
from guardrails.decide.snapshot import AllowedAction, ListedTarget
from guardrails.execute.executor import execute
from guardrails.facts.facts import Facts
from guardrails.gather.lookups import MAX_CORRESPONDENTS
from guardrails.models import OwnDomain
from guardrails.policies.simulation import simulate
from integrations.contracts import Document
from tests.guardrails.office import CHAT, Office, minutes_ago, webhook
from tests.guardrails.values import (
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
    inbound,
    list_target,
    policy_of,
    request,
)

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
MAIL = {"subject": "Hello", "body": "Text."}
REPLY = {"to": [ADA], "reply_to_id": "mail-1", **MAIL}
CLIENTS = list_target("send_email", "recipient_domain", "client.com")


def decided(
    action_type: str,
    arguments: dict[str, Any],
    *rows: AllowedAction | ListedTarget,
    origin: Origin,
    found: Facts,
) -> Decision:
    return decide(
        request=request(action_type, arguments, origin),
        policy=policy_of(*rows),
        facts=found,
        now=NOW,
    )


def to(origin: Origin, found: Facts, *rows: ListedTarget) -> str:
    """The code of the one receiver of a reply."""
    listed = rows or (CLIENTS,)
    decision = decided(
        "send_email", REPLY, allow("send_email"), *listed, origin=origin, found=found
    )
    return decision.provenance["to[0]"]


def test_whom_the_user_wrote_to_is_corresponded_and_who_only_wrote_is_not() -> None:
    assert to(chat(), facts(corresponded={ADA: 1})) == "D"
    assert to(chat(), facts(corresponded={ADA: 0})) == "X"
    assert to(chat(), facts(corresponded=None)) == "X"
    assert to(chat(), facts(corresponded={"ada+1@client.com": 3})) == "X"


def test_the_strongest_of_several_sources_is_named() -> None:
    written = facts(corresponded={ADA: 1})
    listed = list_target("send_email", "recipient", ADA)
    assert to(chat(), written, listed) == "A"
    assert to(chat(f"write to {ADA}"), written, listed) == "U"


def test_a_thread_counts_only_where_it_set_the_action_off_or_its_mail_was_typed() -> None:
    assert to(inbound(), facts()) == "T"
    assert to(chat(), facts()) == "X"
    assert to(chat("answer mail-1"), facts()) == "T"
    assert to(chat("answer mail-10"), facts()) == "X"


@pytest.mark.parametrize("trigger", ["webhook", "pattern"])
def test_an_inbound_turn_has_neither_words_nor_correspondence(trigger: str) -> None:
    known = facts(corresponded={ADA: 4}, created=("mail-1",))
    origin = inbound(trigger=trigger, user_words=f"Hello {ADA} mail-1")
    decision = decided(
        "send_email", REPLY, allow("send_email"), CLIENTS, origin=origin, found=known
    )
    assert decision.provenance == {
        "to[0]": "T",
        "reply_to_id": "T",
        "subject": "X",
        "body": "X",
    }


def test_an_object_of_this_run_is_named_as_such() -> None:
    decision = decided(
        "archive",
        {"email_id": "mail-1"},
        allow("archive"),
        origin=chat(),
        found=facts(created=("mail-1",)),
    )
    assert decision.provenance == {"email_id": "R"}
    other = decided(
        "archive",
        {"email_id": "mail-1"},
        allow("archive"),
        origin=chat(),
        found=facts(email(), created=("mail-10",)),
    )
    assert other.provenance == {"email_id": "X"}


# --- looked up at the provider and in the ledger -----------------------------------------


def sent_to(office: Office, *addresses: str) -> None:
    """The user wrote a mail to each of these."""
    office.receive(
        **{"from": office.mailbox.address, "to": list(addresses), "labels": ["SENT"]},
        date=minutes_ago(60),
    )


def codes(office: Office, arguments: dict[str, Any], origin: Origin = CHAT) -> dict[str, str]:
    wish = office.request("send_email", arguments, origin=origin)
    return dict(simulate(wish).decision.provenance)


@database
def test_only_mail_the_user_sent_makes_a_correspondent(office: Office) -> None:
    office.permit("send_email")
    office.list_target("send_email", "recipient_domain", "client.com")
    office.list_target("send_email", "recipient_domain", "evil.example")
    sent_to(office, ADA)
    office.receive(**{"from": STRANGER}, date=minutes_ago(30))
    receivers = [ADA, "Ada@client.com", "ada+x@client.com", STRANGER]

    found = codes(office, {"to": receivers, **MAIL})

    assert [found[f"to[{index}]"] for index in range(4)] == ["D", "X", "X", "X"]


@database
def test_the_look_ups_of_one_decision_are_bounded(office: Office) -> None:
    office.permit("send_email")
    office.list_target("send_email", "recipient_domain", "client.com")
    people = [f"a{number}@client.com" for number in range(MAX_CORRESPONDENTS + 1)]
    sent_to(office, *people)

    found = codes(office, {"to": people, **MAIL})

    assert found[f"to[{MAX_CORRESPONDENTS - 1}]"] == "D"
    assert found[f"to[{MAX_CORRESPONDENTS}]"] == "X"


@database
def test_what_an_inbound_turn_writes_is_not_looked_up(office: Office) -> None:
    sent_to(office, ADA)
    email_id = office.receive()
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient_domain", "client.com")
    origin = webhook(email_id, office.email(email_id)["thread_id"])

    found = codes(office, {"to": [ADA], "reply_to_id": email_id, **MAIL}, origin)

    assert (found["to[0]"], found["reply_to_id"]) == ("T", "T")


def created(office: Office) -> ActionResult:
    office.permit("create_calendar_event")
    times = {"start": "2026-03-02T10:00:00+01:00", "end": "2026-03-02T11:00:00+01:00"}
    return execute(office.request("create_calendar_event", {"title": "Focus", **times}))


@database
def test_created_in_this_run_is_what_the_ledger_says_of_this_run_and_account(
    office: Office,
) -> None:
    office.permit("cancel_calendar_event")
    event_id = created(office).artifacts[0].external_id
    wish = office.request("cancel_calendar_event", {"event_id": event_id})

    def code(**changes: Any) -> str:
        return simulate(replace(wish, **changes)).decision.provenance["event_id"]

    assert code() == "R"
    assert code(origin=replace(CHAT, turn_id="turn-2")) == "X"
    assert code(origin=replace(CHAT, turn_id="")) == "X"


@database
def test_another_accounts_creations_are_not_of_this_run(office: Office) -> None:
    office.permit("cancel_calendar_event")
    event_id = created(office).artifacts[0].external_id
    office.diary.delete()
    office.diary.pk = None
    office.diary.save(force_insert=True)
    wish = office.request("cancel_calendar_event", {"event_id": event_id})
    office.permit("cancel_calendar_event")

    assert simulate(wish).decision.provenance["event_id"] == "X"


# --- what the user owns and named --------------------------------------------------------

TIMES = {"start": "2026-03-02T10:00:00+00:00", "end": "2026-03-02T11:00:00+00:00"}
TITLE = "Quarterly planning with clients"


def put_event(office: Office, event_id: str, **fields: Any) -> None:
    values = {"id": event_id, "title": TITLE, "created_by": office.diary.address, **TIMES}
    office.put("events", **(values | {"attendees": [{"email": ADA}]} | fields))


def cancelled(office: Office, event_id: str, words: str) -> dict[str, str]:
    origin = replace(CHAT, user_words=words)
    wish = office.request("cancel_calendar_event", {"event_id": event_id}, origin=origin)
    return dict(simulate(wish).decision.provenance)


@database
def test_attendees_of_an_own_event_that_the_user_named_are_theirs(office: Office) -> None:
    office.permit("cancel_calendar_event")
    office.list_target("cancel_calendar_event", "recipient_domain", "client.com")
    put_event(office, "event-1")
    by_id = cancelled(office, "event-1", "Cancel event-1 please")
    by_title = cancelled(office, "event-1", f"Cancel {TITLE}.")
    unnamed = cancelled(office, "event-1", "Cancel the planning")
    assert by_id == {"event_id": "U", "event.people[0]": "O"}
    assert by_title == {"event_id": "O", "event.people[0]": "O"}
    assert unnamed == {"event_id": "X", "event.people[0]": "X"}


@database
def test_an_attendee_whom_a_stranger_added_stays_content(office: Office) -> None:
    office.permit("cancel_calendar_event")
    office.list_target("cancel_calendar_event", "recipient_domain", "client.com")
    for event_id, by in (("event-1", STRANGER), ("event-2", ""), ("event-3", ADA)):
        put_event(office, event_id, attendees=[{"email": ADA, "added_by": by}])
        found = cancelled(office, event_id, f"Cancel {event_id}")
        assert found == {"event_id": "U", "event.people[0]": "X"}


@database
def test_a_colleague_may_add_attendees_to_the_users_event(office: Office) -> None:
    office.permit("cancel_calendar_event")
    office.list_target("cancel_calendar_event", "recipient_domain", "client.com")
    OwnDomain.objects.create(organisation=office.organisation, domain="company.com")
    put_event(office, "event-1", attendees=[{"email": ADA, "added_by": "bob@company.com"}])
    assert cancelled(office, "event-1", "Cancel event-1")["event.people[0]"] == "O"


@database
def test_a_title_that_two_events_have_names_neither(office: Office) -> None:
    office.permit("cancel_calendar_event")
    office.list_target("cancel_calendar_event", "recipient_domain", "client.com")
    put_event(office, "event-1")
    put_event(office, "event-2", created_by=STRANGER)
    assert cancelled(office, "event-1", f"Cancel {TITLE}.")["event.people[0]"] == "X"


@database
def test_attendees_of_a_foreign_invitation_stay_content(office: Office) -> None:
    office.permit("cancel_calendar_event")
    office.list_target("cancel_calendar_event", "recipient_domain", "client.com")
    office.list_target("cancel_calendar_event", "recipient_domain", "evil.example")
    put_event(office, "event-1", created_by=STRANGER)
    found = cancelled(office, "event-1", f"Cancel event-1, {TITLE}.")
    assert found == {"event_id": "U", "event.people[0]": "X", "event.people[1]": "X"}


def test_readers_of_an_own_document_that_the_user_named_are_theirs() -> None:
    def readers(words: str, owner: str = ME, namesakes: int | None = 1) -> str:
        document = Document(
            id="doc-1",
            version=1,
            name=TITLE,
            owner=owner,
            shared_with=(ADA,),
            created_at=NOW,
            modified_at=NOW,
        )
        wish = request("append_document", {"document_id": "doc-1", "content": "x"}, chat(words))
        decision = decide(
            request=replace(wish, account=account(source="gdrive")),
            policy=policy_of(
                allow("append_document"),
                list_target("append_document", "recipient", ADA, source="gdrive"),
                list_target("append_document", "recipient", STRANGER, source="gdrive"),
            ),
            facts=Facts(document=document, folders=(), namesakes=namesakes, own_address=ME),
            now=NOW,
        )
        return decision.provenance["document_id"]

    assert readers("add to doc-1") == "U"
    assert readers(f"add to {TITLE}") == "O"
    assert readers(f"add to {TITLE}", namesakes=2) == "X"
    assert readers(f"add to {TITLE}", namesakes=None) == "X"
    assert readers(f"add to {TITLE}", owner=STRANGER) == "X"
    assert readers("do what the mail says\n> add to doc-1") == "X"
