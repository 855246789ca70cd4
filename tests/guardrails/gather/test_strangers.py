"""Who is a stranger, as the mail reader learns and as the guardrails decide: one answer."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest
from django.db import connections

from agents.inbound.inbound import build_context
from audit.ledger.ids import uuid7
from audit.ledger.selectors import recorded
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.gather import strangers
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.models import AgentMail, OwnDomain, Person
from integrations.accounts.reads import mail_reader
from integrations.exceptions import NotFound
from integrations.models import Account, ContactCard, Credential, Organisation, UserPreferences
from integrations.providers.data_service.reader import DataServiceReader
from tests.guardrails.office import Office, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

TOM = "tom@elsewhere.test"
FIRST: list[dict[str, Any]] = [{"kind": "first_contact"}]
Given = Callable[[Office], object]


def is_stranger(office: Office, sender: str = TOM) -> bool:
    """What the mail reader learns about a new mail, which must be what the condition says."""
    mail = office.receive(**{"from": sender})
    account = office.ref(office.mailbox)
    told = build_context(account, mail_reader(account).email(mail)).first_contact
    answer = execute(office.request("archive", {"email_id": mail}))
    assert answer.reason == ("performed" if told else "condition_failed")
    return told


def write(office: Office, address: str = TOM) -> None:
    office.receive(**{"from": office.mailbox.address}, to=[address], labels=["SENT"])


def write_unasked(office: Office) -> None:
    write(office)
    AgentMail.objects.create(account=office.mailbox, action_id=uuid7(), address=TOM)


def list_person(office: Office, organisation: Organisation | None = None) -> None:
    Person.objects.create(organisation=organisation or office.organisation, address=TOM, name="Tom")


def list_person_elsewhere(office: Office) -> None:
    list_person(office, Organisation.objects.create(slug=f"o-{uuid7().hex}", name="Other"))


def connect(office: Office, address: str = TOM, *, paused: bool = False) -> None:
    """An account of their own."""
    Account.objects.create(
        organisation=office.organisation,
        external_user_id="tom",
        source="gmail",
        address=address,
        paused=paused,
    )


def keep_contact(
    office: Office, user: str | None = None, address: str = TOM, *, paused: bool = False
) -> None:
    """In an address book of a user's own."""
    book = Account.objects.create(
        organisation=office.organisation,
        external_user_id=user or office.mailbox.external_user_id,
        source="carddav",
        address="maya@office.test",
        paused=paused,
    )
    Credential.objects.create(account=book, user_name="maya", servers={}, sealed=b"x", key_id="k")
    ContactCard.objects.create(account=book, path="/maya/book/tom.vcf", addresses=[address])


def name_them(office: Office, user: str | None = None) -> None:
    """In a user's preferences."""
    UserPreferences.objects.create(
        organisation=office.organisation,
        external_user_id=user or office.mailbox.external_user_id,
        known_senders=[TOM],
    )


def list_domain(office: Office, organisation: Organisation | None = None) -> None:
    OwnDomain.objects.create(
        organisation=organisation or office.organisation, domain="elsewhere.test"
    )


def list_domain_elsewhere(office: Office) -> None:
    list_domain(office, Organisation.objects.create(slug=f"o-{uuid7().hex}", name="Other"))


@pytest.fixture
def desk(office: Office) -> Office:
    office.permit("archive", conditions=FIRST)
    return office


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda office: None, True),
        (lambda office: [office.receive(**{"from": TOM}) for _ in range(3)], True),
        (lambda office: write(office, "tom@elsewhere.test.evil.test"), True),
        (write_unasked, True),
        (list_person_elsewhere, True),
        (list_domain_elsewhere, True),
        (lambda office: connect(office, paused=True), True),
        (lambda office: connect(office, "Tom@elsewhere.test"), True),
        (lambda office: keep_contact(office, paused=True), True),
        (lambda office: keep_contact(office, user="somebody else"), True),
        (lambda office: keep_contact(office, address="Tom@elsewhere.test"), True),
        (lambda office: name_them(office, user="somebody else"), True),
        (keep_contact, False),
        (name_them, False),
        (lambda office: office.list_target("create_calendar_event", "recipient", TOM), True),
        (lambda office: office.list_target("draft", "recipient", "ann@elsewhere.test"), True),
        (write, False),
        (list_person, False),
        (list_domain, False),
        (connect, False),
        (lambda office: connect(office, "tom@Elsewhere.test"), False),
        (lambda office: office.list_target("draft", "recipient", TOM), False),
        (
            lambda office: office.list_target("send_email", "recipient_domain", "elsewhere.test"),
            False,
        ),
    ],
    ids=[
        "nobody",
        "wrote three times",
        "a look-alike was written to",
        "the agent wrote unasked",
        "in another organisation's directory",
        "at another organisation's domain",
        "their account is paused",
        "somebody of another spelling has an account",
        "in an address book that is paused",
        "in somebody else's address book",
        "in an address book in another spelling",
        "named by somebody else",
        "in an address book",
        "named by the user",
        "listed for another account",
        "their colleague is listed",
        "written to",
        "in the directory",
        "at an own domain",
        "has an account",
        "has an account whose domain has capitals",
        "listed",
        "listed with their domain",
    ],
)
def test_a_stranger_is_one_until_the_user_or_an_operator_says_otherwise(
    desk: Office, given: Given, expected: bool
) -> None:
    given(desk)
    assert is_stranger(desk) is expected


def test_colleagues_are_no_strangers_but_at_a_public_domain_everybody_else_is(
    desk: Office,
) -> None:
    assert not is_stranger(desk, "new@company.com")
    assert is_stranger(desk, "new@mail.company.com")

    desk.mailbox.address = "maya@gmail.com"
    desk.mailbox.save()
    assert is_stranger(desk, "new@gmail.com")
    assert is_stranger(desk, "new@company.com")


def test_who_cannot_be_looked_up_counts_as_known(
    desk: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(self: DataServiceReader, address: str) -> NoReturn:
        raise NotFound("nobody kept it")

    mail = desk.receive(**{"from": TOM})
    account = desk.ref(desk.mailbox)
    assert build_context(account, mail_reader(account).email(mail)).first_contact
    monkeypatch.setattr(DataServiceReader, "correspondence", unknown)
    assert not build_context(account, mail_reader(account).email(mail)).first_contact


@pytest.mark.parametrize("sender", ["", "undisclosed", "tom@", "Tom <tom@elsewhere.test"])
def test_a_sender_without_one_plain_address_counts_as_known(desk: Office, sender: str) -> None:
    account = desk.ref(desk.mailbox)
    assert not strangers.is_stranger(account, mail_reader(account), sender)


def test_two_mails_that_race_are_both_of_a_stranger(desk: Office) -> None:
    desk.permit("draft")
    mails = [desk.receive(id=f"mail-{n}", thread_id=f"t-{n}", **{"from": TOM}) for n in (1, 2)]
    account = desk.ref(desk.mailbox)

    def handle(mail: str) -> tuple[bool, str]:
        try:
            told = build_context(account, mail_reader(account).email(mail)).first_contact
            wish = {"reply_to_id": mail, "to": [TOM], "subject": "Re: Hello", "body": "Yes."}
            origin = webhook(mail, mail.replace("mail", "t"))
            return told, execute(desk.request("draft", wish, origin=origin)).reason
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=2) as pool:
        assert [*pool.map(handle, mails)] == [(True, "receiver_stranger")] * 2
    assert desk.calls() == []


def test_a_draft_for_a_stranger_is_refused_again_from_its_evidence(office: Office) -> None:
    office.permit("draft")
    mail = office.receive(id="mail-1", thread_id="t-1", **{"from": TOM})
    wish = {"reply_to_id": mail, "to": [TOM], "subject": "Re: Hello", "body": "Yes."}
    result = execute(office.request("draft", wish, origin=webhook(mail, "t-1")))
    assert (result.status, result.reason) == ("refused", "receiver_stranger")
    assert office.calls() == []

    past = evidence.past(recorded(result.action_id)[-1])
    assert past is not None
    assert past.facts is not None
    assert past.facts.strangers == (TOM,)
    account = office.ref(office.mailbox)
    again = evidence.decide_again(past, policy_snapshot(account))
    assert again is not None
    assert again.reason == "receiver_stranger"
    office.list_target("draft", "recipient", TOM)
    again = evidence.decide_again(past, policy_snapshot(account))
    assert again is not None
    assert again.verdict == "allow"


def test_a_person_may_have_an_answer_to_a_stranger_drafted(office: Office) -> None:
    office.permit("draft")
    mail = office.receive(**{"from": TOM})
    wish = {"reply_to_id": mail, "to": [TOM], "subject": "Re: Hello", "body": "Yes."}
    assert execute(office.request("draft", wish)).status == "succeeded"
