"""What people take off and put on by hand, and for which mail of which account that counts."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.learn import corrections
from guardrails.models import LabelCorrection, TargetGroup
from integrations.accounts.reads import mail_reader
from integrations.models import Account, Organisation
from tests.guardrails.office import PASSED, Office, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LABEL, OTHER = "label_fyi", "label_actioned"
FORGED = {"authentication": PASSED | {"dmarc": "fail"}}


@pytest.fixture(autouse=True)
def permitted(office: Office) -> None:
    office.permit("classify")
    office.list_target("classify", "label", LABEL, "FYI")
    office.list_target("classify", "label", OTHER, "Actioned")


def label(office: Office, mail: str, label_id: str = LABEL, **changes: Any) -> ActionResult:
    """The agent labels a mail that arrived."""
    origin = webhook(mail, office.email(mail)["thread_id"], **changes)
    arguments = {"email_id": mail, "label_id": label_id}
    return execute(office.request("classify", arguments, origin=origin))


def change(office: Office, mail: str, *, days: int = 0, **labels: str) -> None:
    """A person changes the labels of a mail, and Remit hears of it."""
    before = office.email(mail)["labels"]
    after = [one for one in before if one != labels.get("remove")]
    after += [labels["add"]] if "add" in labels else []
    office.change("emails", mail, labels=after)
    hear(office, mail, before, days=days)


def hear(office: Office, mail: str, before: list[str], *, days: int = 0) -> None:
    account = office.ref(office.mailbox)
    seen = mail_reader(account).email(mail)
    now = timezone.now() + timedelta(days=days)
    corrections.note(account, seen, before=before, now=now)


def correct(office: Office, **fields: Any) -> str:
    mail = office.receive(**fields)
    assert label(office, mail).status == "succeeded"
    change(office, mail, remove=LABEL)
    return mail


def outcome(office: Office, **fields: Any) -> tuple[str, str]:
    """What becomes of the same label on a new mail."""
    written = len(office.calls())
    result = label(office, office.receive(**fields))
    assert len(office.calls()) == written + (result.status == "succeeded")
    return result.status, result.reason


REFUSED, DONE = ("refused", "label_corrected"), ("succeeded", "performed")


def test_like_mail_is_of_the_same_proved_sender_through_the_same_list(office: Office) -> None:
    correct(office)
    assert outcome(office) == REFUSED
    assert outcome(office, **{"from": "ADA@client.com"}) == REFUSED
    assert outcome(office, **{"from": "bob@client.com"}) == DONE
    assert outcome(office, list_id="<a.client.com>") == DONE
    assert outcome(office, **FORGED) == DONE


def test_a_forged_mail_says_nothing_of_whose_name_it_bears_and_stays_without_the_label(
    office: Office,
) -> None:
    mail = correct(office, **FORGED)
    assert outcome(office) == DONE
    assert outcome(office, **FORGED) == DONE
    assert (label(office, mail, turn_id="again").reason) == "label_corrected"


@pytest.mark.parametrize("is_other_organisation", [False, True])
def test_what_is_said_in_one_account_concerns_no_other(
    office: Office, is_other_organisation: bool
) -> None:
    organisation = office.organisation
    if is_other_organisation:
        organisation = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Other")
    elsewhere = Account.objects.create(
        organisation=organisation,
        external_user_id="user-other",
        source="gmail",
        kind="mail",
        address="other@company.com",
    )
    correct(office)
    LabelCorrection.objects.update(account=elsewhere)
    # Of one's own, so that it is looked at all.
    correct(office, **{"from": "bob@client.com"})

    assert outcome(office) == DONE
    assert outcome(office, **{"from": "bob@client.com"}) == REFUSED
    change(office, office.receive(), add=LABEL)
    assert LabelCorrection.objects.get(account=elsewhere).lifted_at is None


def test_what_a_person_says_while_the_account_is_stopped_counts(office: Office) -> None:
    mail = office.receive()
    label(office, mail)
    Account.objects.filter(pk=office.mailbox.pk).update(paused=True)
    change(office, mail, remove=LABEL)
    Account.objects.filter(pk=office.mailbox.pk).update(paused=False)
    assert outcome(office) == REFUSED


@pytest.mark.parametrize("place", ["INBOX", "UNREAD"])
def test_who_puts_away_or_reads_a_mail_corrects_nothing(
    office: Office, place: str, django_assert_num_queries: Any
) -> None:
    mail = office.receive(labels=["INBOX", "UNREAD"])
    label(office, mail)
    before = office.email(mail)["labels"]
    office.change("emails", mail, labels=[one for one in before if one != place])
    account = office.ref(office.mailbox)
    seen = mail_reader(account).email(mail)
    with django_assert_num_queries(0):
        corrections.note(account, seen, before=before, now=timezone.now())
    assert outcome(office) == DONE


def test_who_deletes_a_mail_corrects_nothing(office: Office) -> None:
    mail = office.receive()
    label(office, mail)
    before = office.email(mail)["labels"]
    office.change("emails", mail, labels=["TRASH"])
    hear(office, mail, before)
    assert outcome(office) == DONE


def test_a_label_that_a_person_put_on_is_theirs_to_take_off(office: Office) -> None:
    mail = office.receive()
    change(office, mail, add=LABEL)
    change(office, mail, remove=LABEL)
    assert outcome(office) == DONE


def test_what_the_user_asked_for_in_a_chat_is_theirs_to_take_off(office: Office) -> None:
    mail = office.receive()
    label(office, mail, trigger="chat")
    change(office, mail, remove=LABEL)
    assert outcome(office) == DONE


def test_who_puts_it_back_on_the_very_mail_lifts_it(office: Office) -> None:
    mail = correct(office)
    assert outcome(office) == REFUSED
    change(office, mail, add=LABEL)
    assert outcome(office) == DONE
    change(office, mail, remove=LABEL)
    assert outcome(office) == REFUSED


def test_a_state_of_a_thread_corrects_nothing(office: Office) -> None:
    group = TargetGroup.objects.create(
        account=office.mailbox, name="Status", cardinality=TargetGroup.Cardinality.SINGLE
    )
    office.list_target("classify", "label", "label_to_reply", "To Reply", group=group)
    office.list_target("classify", "label", "label_awaiting_reply", "Awaiting Reply", group=group)
    mail = office.receive()
    assert label(office, mail, "label_to_reply").status == "succeeded"
    change(office, mail, remove="label_to_reply")
    assert not LabelCorrection.objects.filter(account=office.mailbox).exists()


def test_weeks_later_nothing_is_a_correction(office: Office) -> None:
    mail = office.receive()
    label(office, mail)
    change(office, mail, remove=LABEL, days=31)
    assert outcome(office) == DONE


def test_another_label_of_a_single_choice_replaces_the_first(office: Office) -> None:
    group = TargetGroup.objects.create(
        account=office.mailbox, name="Kind", cardinality=TargetGroup.Cardinality.SINGLE
    )
    office.mailbox.listed_targets.update(group=group)
    mail = office.receive()
    label(office, mail)
    change(office, mail, add=OTHER)
    assert outcome(office) == REFUSED


def test_what_the_agent_itself_replaces_is_no_correction(office: Office) -> None:
    group = TargetGroup.objects.create(
        account=office.mailbox, name="Kind", cardinality=TargetGroup.Cardinality.SINGLE
    )
    office.mailbox.listed_targets.update(group=group)
    mail = office.receive()
    label(office, mail)
    before = office.email(mail)["labels"]
    label(office, mail, OTHER, turn_id="later")
    hear(office, mail, before)
    assert outcome(office) == DONE


def test_a_label_that_comes_back_by_the_agent_lifts_nothing(office: Office) -> None:
    correct(office)
    mail = office.receive(**{"from": "bob@client.com"})
    before = office.email(mail)["labels"]
    label(office, mail)
    # Its sender is now one whose mail was corrected, so that a lift would be seen.
    LabelCorrection.objects.update(sender="bob@client.com")
    hear(office, mail, before)
    assert LabelCorrection.objects.get().lifted_at is None


def test_the_newest_word_wins_back_and_forth(office: Office) -> None:
    correct(office)
    mail = office.receive()
    change(office, mail, add=LABEL)
    assert outcome(office) == DONE
    change(office, mail, remove=LABEL)
    assert outcome(office) == REFUSED
    change(office, mail, add=LABEL)
    assert outcome(office) == DONE


def test_what_counts_no_more_is_forgotten_for_its_account_alone(office: Office) -> None:
    correct(office)
    account, now = office.ref(office.mailbox), timezone.now()
    almost = now + timedelta(days=99)
    assert corrections.forget_old(account, now=almost) == 0
    assert corrections.forget_old(office.ref(office.tracker), now=now + timedelta(days=101)) == 0
    assert corrections.forget_old(account, now=now + timedelta(days=101)) == 1


def test_only_mail_of_an_account_with_corrections_costs_a_query_more(office: Office) -> None:
    label(office, office.receive())  # keeps the policy that decides, once
    other = office.receive(**{"from": "bob@client.com"})
    with CaptureQueriesContext(connection) as without:
        label(office, other)
    correct(office)
    another = office.receive(**{"from": "bob@client.com"})
    with CaptureQueriesContext(connection) as beside:
        assert label(office, another).status == "succeeded"
    assert len(beside) == len(without) + 1
