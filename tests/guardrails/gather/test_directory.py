"""The organisation's own directory: who has an account connected here, and who only seems to."""

from typing import Any
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from audit.ledger.chain import canonical_bytes, storable
from audit.ledger.selectors import recorded
from guardrails.approve.cards import list_cards
from guardrails.contracts import Origin
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.gather import judgement
from guardrails.gather.directory import colleagues
from guardrails.policies.simulation import simulate
from integrations.models import Account, Organisation
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
    assert colleagues(office.organisation.id, asked) == ("Bob@company.com",)


def test_nobody_of_another_organisation_is_a_colleague(
    office: Office, elsewhere: Organisation
) -> None:
    connected(elsewhere, BOB)
    assert colleagues(office.organisation.id, [BOB]) == ()
    assert colleagues(elsewhere.id, [BOB, office.mailbox.address]) == (BOB,)


def test_a_paused_account_is_out_of_the_directory(office: Office) -> None:
    account = connected(office.organisation, BOB, paused=True)
    assert colleagues(office.organisation.id, [BOB]) == ()
    connected(office.organisation, BOB, external_user_id=account.external_user_id, source="jira")
    assert colleagues(office.organisation.id, [BOB]) == (BOB,)


def test_many_receivers_are_one_query_and_none_are_none(
    office: Office, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    people = [f"a{number}@company.com" for number in range(30)]
    for address in people:
        connected(office.organisation, address)
    with django_assert_num_queries(1):
        assert set(colleagues(office.organisation.id, [*people, STRANGER])) == set(people)
    with django_assert_num_queries(0):
        assert colleagues(office.organisation.id, []) == ()


# --- what it permits -----------------------------------------------------------------------


def test_a_colleague_is_written_to_unlisted_and_unasked(office: Office) -> None:
    office.permit("send_email", conditions=[DIRECTORY])
    connected(office.organisation, BOB)

    done = execute(office.request("send_email", {"to": [BOB], **TEXT}))

    assert done.status == "succeeded"
    assert [call["body"]["to"] for call in office.calls()] == [[BOB]]
    row = recorded(done.action_id)[0]
    assert row.payload["decision"]["provenance"]["to[0]"] == "C"
    assert row.payload["decided_on"]["facts"]["directory"] == [BOB]


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
    assert told[0] == (BOB, "a colleague whose account is connected here", False)
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

    def broken(*_: object) -> tuple[str, ...]:
        raise RuntimeError("the database is away")

    monkeypatch.setattr(judgement, "colleagues", broken)

    refused = execute(office.request("send_email", {"to": [BOB], **TEXT}))

    assert phases(refused) == [("blocked", "blocked", "guard_failed")]
    assert office.calls() == []


def test_it_is_looked_up_only_where_a_rule_names_it(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def counting(organisation_id: object, addresses: list[str]) -> tuple[str, ...]:
        asked.append(addresses)
        return ()

    monkeypatch.setattr(judgement, "colleagues", counting)
    allowed_action = office.permit(
        "send_email", conditions=[{"kind": "recipient", "relation": ["corresponded"]}]
    )
    told(office, BOB)
    assert asked == []
    allowed_action.conditions = [DIRECTORY]
    allowed_action.save()
    told(office, BOB)
    assert asked == [[BOB]]


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
