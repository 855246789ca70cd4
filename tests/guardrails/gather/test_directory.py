"""The organisation's own directory: who has an account connected here, and who only seems to."""

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from audit.ledger.chain import canonical_bytes, storable
from audit.ledger.selectors import recorded
from guardrails.approve.cards import list_cards
from guardrails.contracts import ActionResult, Origin
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.facts import people as guard
from guardrails.gather import directory
from guardrails.gather.directory import MOST_FOUND, look_up
from guardrails.models import AllowedAction, OwnDomain, Person
from guardrails.policies.simulation import simulate
from integrations.models import Account, Organisation, UserPreferences
from tests.guardrails.office import Office, phases, policy_that_decided
from tests.guardrails.values import STRANGER

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BOB = "bob@company.com"
TEXT = {"subject": "Hello", "body": "Text."}
DIRECTORY = {"kind": "recipient", "relation": ["directory"]}
NOVEL = [("blocked", "blocked", "receiver_novel")]


@pytest.fixture
def elsewhere() -> Organisation:
    return Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="Elsewhere")


def connected(organisation: Organisation, address: str, **fields: Any) -> Account:
    values = {"external_user_id": f"user-{uuid4().hex[:8]}", "source": "gmail"}
    return Account.objects.create(organisation=organisation, address=address, **(values | fields))


def colleagues(organisation: Organisation, addresses: Iterable[str]) -> list[str]:
    return [one.address for one in look_up(organisation.id, addresses).people]


def told(office: Office, address: str) -> list[str]:
    """How a mail to this address ends, without doing it."""
    wish = office.request("send_email", {"to": [address], **TEXT})
    decision = simulate(wish).decision
    return [decision.verdict, decision.reason]


# --- the look-up ---------------------------------------------------------------------------


def test_an_address_is_found_as_it_is_but_for_the_case_of_the_domain(office: Office) -> None:
    connected(office.organisation, "Bob@Company.COM")
    connected(office.organisation, "bob@xn--company.com")
    asked = [
        "Bob@company.com",
        BOB,
        "Bob+x@company.com",
        "B.ob@company.com",
        "Bob@company.com.br",
        "Bob@mail.company.com",
        "bob@xn--company.com",
        STRANGER,
        "",
    ]
    assert colleagues(office.organisation, asked) == ["Bob@company.com"]


def test_nobody_of_another_organisation_is_a_colleague(
    office: Office, elsewhere: Organisation
) -> None:
    connected(elsewhere, BOB)
    assert colleagues(office.organisation, [BOB]) == []
    assert colleagues(elsewhere, [BOB, office.mailbox.address]) == [BOB]


def test_a_paused_account_is_out_of_the_directory(office: Office) -> None:
    account = connected(office.organisation, BOB, paused=True)
    assert colleagues(office.organisation, [BOB]) == []
    connected(office.organisation, BOB, external_user_id=account.external_user_id, source="jira")
    assert colleagues(office.organisation, [BOB]) == [BOB]


def test_many_receivers_are_three_queries_and_none_are_none(
    office: Office, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    people = [f"a{number}@company.com" for number in range(30)]
    for address in people:
        connected(office.organisation, address)
    with django_assert_num_queries(3):
        assert colleagues(office.organisation, [*people, STRANGER]) == sorted(people)
    with django_assert_num_queries(0):
        assert colleagues(office.organisation, []) == []


# --- what it permits -----------------------------------------------------------------------


def test_a_colleague_is_written_to_unlisted_and_unasked(office: Office) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    connected(office.organisation, BOB)

    done = execute(office.request("send_email", {"to": [BOB], **TEXT}))

    assert done.status == "succeeded"
    assert [call["body"]["to"] for call in office.calls()] == [[BOB]]
    row = recorded(done.action_id)[0]
    assert row.payload["decision"]["provenance"]["to[0]"] == "C"
    people = row.payload["decided_on"]["facts"]["directory"]["people"]
    assert [one["address"] for one in people] == [BOB]


@pytest.mark.parametrize("role", ["to", "cc", "bcc"])
def test_an_account_of_another_organisation_makes_no_colleague(
    office: Office, elsewhere: Organisation, role: str
) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    connected(elsewhere, BOB)
    arguments: dict[str, Any] = {"to": [office.mailbox.address], **TEXT} | {role: [BOB]}

    refused = execute(office.request("send_email", arguments))

    assert phases(refused) == NOVEL
    assert office.calls() == []


@pytest.mark.parametrize(
    "address", ["bob+x@company.com", "Bob@company.com", "bob@c0mpany.com", STRANGER]
)
def test_who_only_looks_like_a_colleague_is_refused(office: Office, address: str) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    connected(office.organisation, BOB)

    refused = execute(office.request("send_email", {"to": [BOB, address], **TEXT}))

    assert phases(refused) == NOVEL
    assert office.calls() == []


def test_a_colleague_gets_no_blind_copy_unlisted(office: Office) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    connected(office.organisation, BOB)
    arguments = {"to": [office.mailbox.address], "bcc": [BOB], **TEXT}

    refused = execute(office.request("send_email", arguments))

    assert phases(refused) == [("blocked", "blocked", "target_not_listed")]
    assert office.calls() == []


@pytest.mark.parametrize("trigger", ["schedule", "mcp"])
def test_a_schedule_and_an_outside_agent_reach_colleagues_and_nobody_else(
    office: Office, trigger: Any
) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    connected(office.organisation, BOB)
    origin = Origin(trigger=trigger, turn_id="turn-1")

    refused = execute(office.request("send_email", {"to": [STRANGER], **TEXT}, origin=origin))

    assert phases(refused) == NOVEL
    assert office.calls() == []
    done = execute(office.request("send_email", {"to": [BOB], **TEXT}, origin=origin))
    assert done.status == "succeeded"


def test_a_person_who_is_asked_reads_that_it_is_a_colleague(office: Office) -> None:
    known = {"kind": "recipient", "relation": ["directory", "typed"]}
    office.permit("send_email", "ask", conditions=[known])
    connected(office.organisation, BOB)

    asked = execute(office.request("send_email", {"to": [BOB], **TEXT}))

    (card,) = list_cards(
        organisation_id=office.organisation.id, ids=[asked.approval_id or asked.action_id]
    )
    told = [(value.text, value.provenance, value.is_new) for value in card.values]
    assert told[0] == (BOB, "a colleague in the organisation's directory", False)
    assert office.calls() == []


def test_pausing_the_colleagues_account_counts_at_once(office: Office) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    account = connected(office.organisation, BOB)
    assert told(office, BOB) == ["allow", "allowed"]
    Account.objects.filter(pk=account.pk).update(paused=True)
    assert told(office, BOB) == ["refuse", "receiver_novel"]


def test_a_directory_that_cannot_be_read_refuses(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    connected(office.organisation, BOB)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the database is away")

    monkeypatch.setattr(directory, "look_up", broken)

    refused = execute(office.request("send_email", {"to": [BOB], **TEXT}))

    assert phases(refused) == [("blocked", "blocked", "guard_failed")]
    assert office.calls() == []


@pytest.mark.parametrize("address", [BOB, STRANGER])
def test_what_was_decided_on_it_is_decided_again_from_the_ledger(
    office: Office, address: str
) -> None:
    """Also when the colleague has left since."""
    office.permit("send_email", conditions=[DIRECTORY])
    account = connected(office.organisation, BOB)
    result = execute(office.request("send_email", {"to": [address], **TEXT}))
    Account.objects.filter(pk=account.pk).update(paused=True)

    row = recorded(result.action_id)[0]
    past, policy = (
        evidence.past(row),
        policy_that_decided(row),
    )

    assert past is not None
    again = evidence.decide_again(past, policy)
    assert again is not None
    assert canonical_bytes(storable(again.plain())) == canonical_bytes(row.payload["decision"])
    assert again.verdict == ("allow" if address == BOB else "refuse")


# --- names ---------------------------------------------------------------------------------
NAMED = {"kind": "recipient", "relation": ["named"]}
PRIYA = "priya.shah@company.com"


def told_to(words: str) -> Origin:
    return Origin(trigger="chat", turn_id="turn-1", user_words=words)


def employ(office: Office, name: str, address: str, *others: str) -> Person:
    return Person.objects.create(
        organisation=office.organisation, name=name, address=address, other_names=list(others)
    )


def write(office: Office, words: str, *to: str, **more: Any) -> ActionResult:
    arguments = {"to": list(to), **TEXT} | more
    return execute(office.request("send_email", arguments, origin=told_to(words)))


def test_a_colleague_whom_the_user_names_is_written_to_unasked(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    employ(office, "Priya Shah", PRIYA)

    done = write(office, "Send Priya the agenda", PRIYA)

    assert done.status == "succeeded"
    assert [call["body"]["to"] for call in office.calls()] == [[PRIYA]]
    found = recorded(done.action_id)[0].payload
    assert found["decision"]["provenance"]["to[0]"] == "N"
    said = f"“Priya” is Priya Shah <{PRIYA}> in the directory."
    assert found["decision"]["readings"] == {"to[0]": said}
    assert found["decided_on"]["facts"]["directory"]["people"] == [
        {"address": PRIYA, "key": PRIYA, "names": ["Priya Shah"], "source": "directory"}
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Send the agenda",
        "Send Priya Patel the agenda",
        "> Send Priya the agenda",
        "Send “Lunch with Priya” on",
        "Send it to everyone except Priya",
    ],
)
def test_whom_the_user_did_not_name_is_refused(office: Office, words: str) -> None:
    office.permit("send_email", conditions=[NAMED])
    employ(office, "Priya Shah", PRIYA)

    assert phases(write(office, words, PRIYA)) == NOVEL
    assert office.calls() == []


@pytest.mark.parametrize("address", ["priya.shah@evil.example", "Priya.Shah@company.com"])
def test_a_name_means_the_address_in_the_directory_and_no_other(
    office: Office, address: str
) -> None:
    office.permit("send_email", conditions=[NAMED])
    employ(office, "Priya Shah", PRIYA)

    assert phases(write(office, "Tell Priya", address)) == NOVEL
    assert phases(write(office, "Tell Priya", PRIYA, address)) == NOVEL
    assert office.calls() == []


def test_a_name_that_two_have_is_refused_with_both(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    employ(office, "Priya Shah", PRIYA)
    employ(office, "Priya Patel", "priya.patel@company.com")

    refused = write(office, "Send Priya the agenda", PRIYA)

    assert phases(refused) == [("blocked", "blocked", "name_ambiguous")]
    assert refused.sentence == (
        "The name that the user typed may mean several people. "
        "“Priya” is Priya Patel <priya.patel@company.com> or Priya Shah "
        "<priya.shah@company.com> in the directory."
    )
    assert office.calls() == []
    assert write(office, "Send Priya the agenda\nPriya Shah", PRIYA).status == "succeeded"


def test_a_name_that_two_have_is_no_guess_also_where_colleagues_are_free(office: Office) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    employ(office, "Priya Shah", PRIYA)
    employ(office, "Priya Patel", "priya.patel@company.com")

    refused = write(office, "Send Priya the agenda", PRIYA)

    assert phases(refused) == [("blocked", "blocked", "name_ambiguous")]
    assert office.calls() == []
    assert write(office, "Send the agenda", PRIYA).status == "succeeded"


def test_a_name_that_two_have_asks_a_person_where_the_user_wrote_to_the_one(office: Office) -> None:
    office.permit("send_email", conditions=[{**DIRECTORY, "novel": "ask"}])
    employ(office, "Priya Shah", PRIYA)
    employ(office, "Priya Patel", "priya.patel@company.com")

    assert write(office, "Send Priya the agenda", PRIYA).status == "pending"
    assert office.calls() == []


def test_no_name_means_a_group_and_a_person_is_asked_about_it(office: Office) -> None:
    office.permit("send_email", conditions=[{"kind": "recipient", "relation": ["named"]}])
    Person.objects.create(
        organisation=office.organisation, name="Desk", address="desk@company.com", is_group=True
    )

    assert phases(write(office, "Write to Desk", "desk@company.com")) == NOVEL
    assert look_up(office.organisation.id, ["desk@company.com", BOB]).groups == (
        "desk@company.com",
    )
    AllowedAction.objects.update(conditions=[DIRECTORY])
    asked = write(office, "Write to Desk", "desk@company.com")
    assert asked.status == "pending"
    assert "“desk@company.com” is a mailing list: nobody knows who reads it" in asked.sentence
    assert office.calls() == []


def test_the_card_says_how_a_name_was_resolved(office: Office) -> None:
    office.permit("send_email", "ask", conditions=[NAMED])
    employ(office, "Priya Shah", PRIYA)

    asked = write(office, "Send it to priya", PRIYA)

    (card,) = list_cards(organisation_id=office.organisation.id, ids=[asked.approval_id or uuid4()])
    value = card.values[0]
    assert (value.text, value.is_new) == (PRIYA, False)
    assert value.provenance == (
        f"named by the user in this request: “priya” is Priya Shah <{PRIYA}> in the directory."
    )
    assert office.calls() == []


def test_whose_account_is_connected_is_named_by_the_operators_name(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    connected(office.organisation, BOB, display_name="Robert Hale")

    assert write(office, "Tell Robert", BOB).status == "succeeded"
    assert phases(write(office, "Tell Bob", BOB)) == NOVEL


@pytest.mark.parametrize(
    ("chosen", "words", "status"),
    [
        ("Bob Hale", "Tell Bob", "succeeded"),  # the address bears it out
        ("Bobby Hale", "Tell Bobby", "succeeded"),  # and so does the surname
        ("Finance Team", "Tell the Finance Team", "refused"),
        ("Priya Shah", "Tell Priya", "refused"),
    ],
)
def test_what_users_call_themselves_counts_only_where_something_bears_it_out(
    office: Office, chosen: str, words: str, status: str
) -> None:
    office.permit("send_email", conditions=[NAMED])
    account = connected(office.organisation, BOB, display_name="Robert Hale")
    UserPreferences.objects.create(
        organisation=office.organisation, external_user_id=account.external_user_id, name=chosen
    )

    assert write(office, words, BOB).status == status


def test_the_directory_of_another_organisation_names_nobody(
    office: Office, elsewhere: Organisation
) -> None:
    office.permit("send_email", conditions=[NAMED])
    Person.objects.create(organisation=elsewhere, name="Priya Shah", address=PRIYA)
    OwnDomain.objects.create(organisation=elsewhere, domain="company.com")

    assert phases(write(office, "Tell Priya", PRIYA)) == NOVEL
    assert office.calls() == []


@pytest.mark.parametrize("trigger", ["schedule", "mcp", "webhook", "pattern"])
def test_names_count_only_where_a_person_typed_them(office: Office, trigger: Any) -> None:
    office.permit("send_email", conditions=[NAMED])
    employ(office, "Priya Shah", PRIYA)
    origin = Origin(trigger=trigger, turn_id="turn-1", user_words="Tell Priya")

    refused = execute(office.request("send_email", {"to": [PRIYA], **TEXT}, origin=origin))

    assert refused.status == "refused"
    assert office.calls() == []


def test_a_name_lets_no_blind_copy_in(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    employ(office, "Priya Shah", PRIYA)

    refused = write(office, "Tell Priya", PRIYA, bcc=[PRIYA])

    assert phases(refused) == [("blocked", "blocked", "target_not_listed")]
    assert office.calls() == []


def test_a_decision_on_a_name_is_made_again_from_the_ledger(office: Office) -> None:
    office.permit("send_email", conditions=[NAMED])
    someone = employ(office, "Priya Shah", PRIYA)
    result = write(office, "Tell Priya", PRIYA)
    someone.delete()

    row = recorded(result.action_id)[0]
    past = evidence.past(row)

    assert past is not None
    again = evidence.decide_again(past, policy_that_decided(row))
    assert again is not None
    assert canonical_bytes(storable(again.plain())) == canonical_bytes(row.payload["decision"])
    assert again.verdict == "allow"


def test_of_many_people_of_one_name_nobody_is_named(office: Office) -> None:
    Person.objects.bulk_create(
        Person(organisation=office.organisation, name="Priya Rao", address=f"p{at}@company.com")
        for at in range(MOST_FOUND)
    )
    employ(office, "Priya Shah", PRIYA)
    found = look_up(office.organisation.id, [PRIYA], words="Tell Priya Shah")
    assert found.people == (guard.Person(address=PRIYA, key=PRIYA, names=("Priya Shah",)),)
