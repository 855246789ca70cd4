"""A mail goes to the trash after a person's yes, and comes back."""

from dataclasses import replace

import pytest

from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.execute.undo import undo
from guardrails.models import Approval
from tests.guardrails.approvals import confirm
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def trash(office: Office, mail: str) -> ActionResult:
    return execute(office.request("trash_email", {"email_id": mail}))


@pytest.fixture
def mailbox(office: Office) -> Office:
    office.permit("trash_email")
    office.receive(id="mail-1", labels=["INBOX", "UNREAD"])
    return office


def test_a_person_is_asked_however_automatic_it_is(mailbox: Office) -> None:
    asked = trash(mailbox, "mail-1")

    assert (asked.status, asked.description) == (
        "pending",
        "Put into the trash: “Lunch on Friday?”",
    )
    approval = Approval.objects.get(action_id=asked.action_id)
    assert approval.differences == [["in the trash", "no", "yes"]]
    assert mailbox.calls() == []

    assert confirm(approval).status == "succeeded"
    assert set(mailbox.email("mail-1")["labels"]) == {"UNREAD", "TRASH"}


def test_it_comes_back_to_where_it_was(mailbox: Office) -> None:
    done = confirm(Approval.objects.get(action_id=trash(mailbox, "mail-1").action_id))

    back = undo(
        organisation_id=mailbox.organisation.id, action_id=done.action_id, by="operator:olga"
    )

    assert (back.status, back.reason) == ("succeeded", "performed")
    assert set(mailbox.email("mail-1")["labels"]) == {"INBOX", "UNREAD"}


@pytest.mark.parametrize(
    "subject",
    [
        "New sign-in to your account",
        "Neue Anmeldung bei Ihrem Konto",
        "Nouvelle connexion à votre compte",
        "Nuevo inicio de sesión en tu cuenta",
    ],
)
@pytest.mark.parametrize("action_type", ["trash_email", "move_email"])
def test_an_alert_is_put_away_by_nobodys_own_idea(
    office: Office, subject: str, action_type: str
) -> None:
    removing = [{"kind": "removing", "unasked": "own"}] if action_type == "trash_email" else []
    office.permit(action_type, conditions=removing)
    office.list_target("move_email", "folder", "folder_clients", "Clients")
    wish = {"email_id": office.receive(subject=subject)}
    wish |= {"folder_id": "folder_clients"} if action_type == "move_email" else {}

    asked = execute(office.request(action_type, wish))

    assert asked.status == "pending"
    sentence = "Hides something: the mail is a security or delivery alert."
    assert sentence in Approval.objects.get(action_id=asked.action_id).side_effects
    assert office.calls() == []


def test_what_lies_there_already_is_left_alone(mailbox: Office) -> None:
    mailbox.receive(id="mail-2", labels=["TRASH"])
    result = trash(mailbox, "mail-2")
    assert (result.status, result.reason) == ("noop", "already_so")
    assert mailbox.calls() == []


@pytest.mark.parametrize(
    ("words", "status"), [("Bin mail-1, please.", "succeeded"), ("Tidy up my inbox.", "pending")]
)
def test_what_the_user_named_goes_unasked_where_the_policy_says_so(
    office: Office, words: str, status: str
) -> None:
    office.permit("trash_email", conditions=[{"kind": "removing", "unasked": "own"}])
    office.receive(id="mail-1", labels=["INBOX"])
    origin = replace(CHAT, user_words=words)

    result = execute(office.request("trash_email", {"email_id": "mail-1"}, origin=origin))

    assert result.status == status, result.sentence
    assert len(office.calls()) == (status == "succeeded")
