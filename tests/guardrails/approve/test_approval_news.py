"""Who hears that an action waits: the organisation's people, once for each question."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from agents import tasks
from guardrails.approve import approval_news
from guardrails.approve.approval_news import announce
from guardrails.contracts.cards import QuestionCard
from guardrails.models import Approval
from integrations.exceptions import Rejected, Unavailable
from integrations.models import Organisation
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def office(office: Office, settings: Any) -> Office:
    settings.EMAIL_URL = "smtp://mail.company.com"
    settings.APPROVAL_MAIL = {office.organisation.slug: "desk@company.com"}
    office.permit("archive", "ask")
    return office


def waiting(office: Office, number: int = 1) -> list[Approval]:
    for _ in range(number):
        ask(office, "archive", {"email_id": office.receive()})
    return list(Approval.objects.order_by("created_at"))


def test_people_hear_once_of_each_question(office: Office) -> None:
    like = waiting(office, 2)
    other = ask(office, "archive", {"email_id": office.receive()})
    Approval.objects.filter(id__in=[one.id for one in like]).update(question=like[0].question)
    Approval.objects.filter(id=other.id).update(question=other.id)

    tasks.sweep()
    tasks.sweep()

    assert [one.to for one in mail.outbox] == [["desk@company.com"]] * 2
    both, single = mail.outbox
    assert all(str(one.id) in both.body for one in like)
    assert str(other.id) in single.body
    assert not Approval.objects.filter(announced_at=None).exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"EMAIL_URL": ""},
        {"APPROVAL_MAIL": {}},
        {"APPROVAL_MAIL": {"another-organisation": "desk@company.com"}},
    ],
    ids=["no mail server", "off", "another organisation's"],
)
def test_nobody_hears_where_nobody_wants_to(
    office: Office, settings: Any, changed: dict[str, Any]
) -> None:
    waiting(office)
    for name, value in changed.items():
        setattr(settings, name, value)

    announce(now=timezone.now())

    assert mail.outbox == []
    assert Approval.objects.filter(announced_at=None).count() == 1


def test_what_was_decided_or_waits_for_long_is_no_news(office: Office) -> None:
    [row] = waiting(office)
    later = timezone.now() + approval_news.ANNOUNCED_FOR + timedelta(minutes=1)
    announce(now=later)
    confirm(row, external_user_id=office.user_id)
    announce(now=timezone.now())

    assert mail.outbox == []


class Told:
    """Another channel: it hears of what waits, or fails."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.heard = list(errors), list[int]()

    def reaches(self, organisation: Organisation) -> bool:
        return True

    def tell(self, organisation: Organisation, question: QuestionCard) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.heard.append(len(question.cards))


def test_a_server_that_is_away_is_asked_again_and_an_address_that_is_refused_is_not(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting(office)
    channel = Told(Unavailable("away"))
    monkeypatch.setattr(approval_news, "CHANNELS", (channel,))
    announce(now=timezone.now())
    assert channel.heard == []
    announce(now=timezone.now())
    announce(now=timezone.now())
    assert channel.heard == [1]

    waiting(office)
    Approval.objects.filter(announced_at=None).update(question=Approval.objects.first().id)  # type: ignore[union-attr]
    channel.errors.append(Rejected("no such address"))
    announce(now=timezone.now())
    announce(now=timezone.now())
    assert channel.heard == [1]
