"""Whom the user wrote to themselves, and who only calls itself so."""

from typing import Any

import pytest
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.contracts import ActionResult, Origin
from guardrails.execute.executor import execute
from guardrails.facts.people import Person
from guardrails.gather import directory
from guardrails.gather.correspondents import correspondents
from guardrails.models import AgentMail, OwnDomain, Person as Row
from integrations.accounts import reads
from integrations.exceptions import ProviderError
from tests.guardrails.office import Office, minutes_ago, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HANNA, EVE, TOM = "hanna@seehof.example", "eve@evil.example", "tom@company.com"
NAMED = {"kind": "recipient", "relation": ["named"]}
DAY = 24 * 60
TEXT = {"subject": "Hello", "body": "Text."}


def wrote(office: Office, to: str, name: str, *, ago: int = 60, **more: Any) -> str:
    """The user wrote to this address, with this name before it, so many minutes ago."""
    given = {
        "from": office.mailbox.address,
        "to": [to],
        "receiver_names": {to: name},
        "labels": ["SENT"],
        "date": minutes_ago(ago),
    }
    return office.receive(**(given | more))


def known(office: Office) -> tuple[Person, ...]:
    account = office.mailbox.ref()
    return correspondents(reads.reader(account), account, now=timezone.now())


def tell(office: Office, words: str, to: str) -> ActionResult:
    origin = Origin(trigger="chat", turn_id="turn-1", user_words=words)
    return execute(office.request("send_email", {"to": [to], **TEXT}, origin=origin))


def test_whom_the_user_wrote_to_is_known_by_the_names_of_their_own_mail(office: Office) -> None:
    wrote(office, HANNA, "Hanna Krüger")
    wrote(office, HANNA, "Frau Krüger", ago=90)
    wrote(office, TOM, "Tom Ford", ago=31 * DAY)
    wrote(office, "nobody@seehof.example", "")

    assert known(office) == (
        Person(address=HANNA, key=HANNA, names=("Hanna Krüger", "Frau Krüger"), source="sent"),
        Person(address=TOM, key=TOM, names=("Tom Ford",), source="sent_before"),
    )


def test_what_a_stranger_calls_itself_is_no_name(office: Office) -> None:
    """Neither in its own mail, nor in an answer to it, where programs copy it."""
    mail = office.receive(**{"from": EVE, "from_name": "Priya Shah", "date": minutes_ago(60)})
    thread = office.email(mail)["thread_id"]
    wrote(office, EVE, "Priya Shah", ago=30, thread_id=thread)

    assert known(office) == ()


@pytest.mark.parametrize("name", ["=cmd()", "Priya\u202eShah", "Priya <p@company.com>", "1", ""])
def test_a_name_that_nobody_could_have_is_none(office: Office, name: str) -> None:
    wrote(office, EVE, name)
    assert known(office) == ()


def test_whom_only_the_agent_wrote_to_and_a_group_are_nobody(office: Office) -> None:
    wrote(office, HANNA, "Hanna Krüger")
    AgentMail.objects.create(
        account=office.mailbox, action_id="01a2090f-7f09-77c6-aeb9-cecad9e80992", address=HANNA
    )
    assert known(office) == ()
    wrote(office, HANNA, "Hanna Krüger", ago=90)
    assert [one.address for one in known(office)] == [HANNA]
    office.control("PUT", f"/users/{office.user_id}/audiences", {"groups": [HANNA]})
    assert known(office) == ()


def test_a_correspondent_is_named_and_outside_a_person_is_asked(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    wrote(office, HANNA, "Hanna Krüger")

    asked = tell(office, "Write to Hanna that it is done", HANNA)

    assert asked.status == "pending"
    assert f"“{HANNA}” is only named, and outside the organisation" in asked.sentence
    decision = recorded(asked.action_id)[0].payload["decision"]
    assert decision["provenance"]["to[0]"] == "N"
    assert decision["readings"] == {
        "to[0]": f"“Hanna” is Hanna Krüger <{HANNA}> in mail that the user sent."
    }
    assert phases(tell(office, "Write to Hanna", "hanna@evil.example")) == [
        ("blocked", "blocked", "receiver_novel")
    ]
    assert office.calls() == []


def test_a_correspondent_at_an_own_domain_is_inside(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    OwnDomain.objects.create(organisation=office.organisation, domain="company.com")
    wrote(office, TOM, "Tom Ford")

    assert tell(office, "Write to Tom", TOM).status == "succeeded"
    assert [call["body"]["to"] for call in office.calls()] == [[TOM]]


def test_to_have_been_written_to_makes_nobody_a_colleague(office: Office) -> None:
    office.permit("send_email", conditions=[{"kind": "recipient", "relation": ["directory"]}])
    wrote(office, HANNA, "Hanna Krüger")

    assert tell(office, "Write to Hanna", HANNA).status == "refused"
    assert office.calls() == []


@pytest.mark.parametrize(("ago", "status"), [(60, "refused"), (31 * DAY, "succeeded")])
def test_a_colleague_and_a_recent_correspondent_of_one_name_are_two(
    office: Office, ago: int, status: str
) -> None:
    office.permit("send_email", conditions=[NAMED])
    Row.objects.create(organisation=office.organisation, name="Tom Becker", address=TOM)
    wrote(office, "tom@seehof.example", "Tom Ford", ago=ago)

    result = tell(office, "Write to Tom", TOM)

    assert result.status == status
    if status == "refused":
        assert result.reason == "name_ambiguous"
        assert "Tom Becker <tom@company.com> in the directory or Tom Ford" in result.sentence
        assert office.calls() == []
    assert tell(office, "Write to Tom Becker", TOM).status == "succeeded"


def test_where_nobody_can_say_whom_the_user_wrote_to_nothing_is_decided(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    office.faults(error_rate=1.0)
    with pytest.raises(ProviderError):
        known(office)
    assert phases(tell(office, "Write to Hanna", HANNA)) == [
        ("blocked", "blocked", "facts_unavailable")
    ]


def test_the_directory_is_looked_up_once_a_decision(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.permit("forward_email", conditions=[NAMED])
    Row.objects.create(organisation=office.organisation, name="Tom Becker", address=TOM)
    mail = office.receive(**{"from": HANNA, "date": minutes_ago(60)})
    asked: list[object] = []
    look_up = directory.look_up

    def noted(*given: Any, **more: Any) -> Any:
        asked.append(given)
        return look_up(*given, **more)

    monkeypatch.setattr(directory, "look_up", noted)

    origin = Origin(
        trigger="chat",
        turn_id="turn-1",
        user_words="Forward the last mail from Tom to Tom Becker",
        said_at=timezone.now().isoformat(),
        time_zone="Europe/Berlin",
    )
    execute(office.request("forward_email", {"email_id": mail, "to": [TOM, EVE]}, origin=origin))

    assert len(asked) == 1
