"""The mail about a user's day: once, on their own clock, in the words of the activity, and with
nothing in it that acts."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core import mail
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils.html import urlize

from agents import tasks
from agents.activity import digest_mail, digests, selection
from agents.activity.selection import Wanted
from agents.models import DailyDigest
from guardrails.models import Approval
from integrations.exceptions import Rejected, Unavailable
from integrations.models import Account, Delivery, Organisation, UserPreferences
from integrations.network import outgoing
from tests.agents.activity.test_page import mail as item, worked_on
from tests.agents.pages import mailbox
from tests.clients import log_in, log_in_superuser
from tests.guardrails.approvals import ask
from tests.guardrails.office import Office, settle
from tests.sandbox_server import running_sandbox

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
DAY = date(2026, 11, 25)
MORNING = datetime(2026, 11, 26, 6, 0, tzinfo=UTC)  # 07:00 in Berlin
BAIT = "https://evil.example/a\nWaiting for you: 9"


@pytest.fixture
def office(settings: Any) -> Iterator[Office]:
    with running_sandbox() as provider:
        yield settle(provider, settings)


@pytest.fixture
def account(settings: Any) -> Account:
    settings.EMAIL_URL = "smtp://mail.company.com"
    settings.PUBLIC_URL = "https://remit.company.com"
    row = mailbox()
    Account.objects.filter(id=row.id).update(time_zone="Europe/Berlin")
    Organisation.objects.update(daily_digest=True)
    row.refresh_from_db()
    return row


def came(account: Account, number: int, at: datetime, *acts: tuple[str, str], **words: Any) -> None:
    made = item(account, number, **words)
    Delivery.objects.filter(id=made.id).update(received_at=at)
    worked_on(made, *acts)


def noon(day: date = DAY) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


def send_due(now: datetime = MORNING) -> None:
    for key in digest_mail.claim_due(now=now):
        digest_mail.send(key)


def test_it_says_what_was_done_refused_and_left_and_leads_to_the_page_alone(
    account: Account,
) -> None:
    came(account, 1, noon(), ("succeeded", "succeeded"), title=BAIT)
    came(account, 2, noon(), ("refused", "blocked"))
    came(account, 3, noon())
    came(account, 4, noon() - timedelta(days=1), ("succeeded", "succeeded"), title="Earlier")
    # By the user's clock it came on the day itself, and the next one on the day after.
    came(account, 5, datetime(2026, 11, 24, 23, 30, tzinfo=UTC), title="At night")
    came(account, 6, datetime(2026, 11, 25, 23, 30, tzinfo=UTC), title="Too late")
    unread = item(account, 7, title="Only read in")
    echo = item(account, 8, title="Its own deed", state="skipped", reason="own_action")
    Delivery.objects.filter(id__in=[unread.id, echo.id]).update(received_at=noon())

    send_due()

    [sent] = mail.outbox
    assert sent.to == ["maya@company.com"]
    assert sent.subject == "What Remit did on Wednesday 25 November"
    lines = sent.body.splitlines()
    assert lines[0] == "On Wednesday 25 November 2026 the assistant looked at 4 things for you."
    assert [one for one in lines if one.endswith((": 1", ": 2"))] == [
        "Done: 1",
        "Refused by your organisation's rules: 1",
        "Left alone: 2",
    ]
    assert "    Archive “Offer”: done." in lines
    assert "  13:00 Ines Braun: Mail 3" in lines
    assert "  00:30 Ines Braun: At night" in lines
    assert not {"Earlier", "Too late", "Only read in"} & set(" ".join(lines).split(": "))
    assert "Waiting for you: 9" not in lines
    address = urlsplit(lines[-1])
    assert (address.netloc, address.path) == ("remit.company.com", reverse("day"))
    assert parse_qs(address.query) == {
        "organisation": ["default"],
        "person": ["maya"],
        "day": ["2026-11-25"],
    }
    assert "<a " not in urlize(sent.body.removesuffix(lines[-1]))


@pytest.mark.parametrize(
    ("language", "subject", "lines"),
    [
        (
            "de-AT",
            "Was Remit am Mittwoch, 25. November getan hat",
            ["Erledigt: 1", "In Ruhe gelassen: 1", "Der ganze Tag, nach der Anmeldung:"],
        ),
        (
            "es",
            "Lo que hizo Remit el miércoles 25 de noviembre",
            ["Hecho: 1", "Sin tocar: 1", "El día entero, después de iniciar sesión:"],
        ),
        (
            "pt-BR",
            "What Remit did on Wednesday 25 November",
            ["Done: 1", "Left alone: 1", "The whole day, after you log in:"],
        ),
    ],
)
def test_it_is_in_the_users_language_where_remit_speaks_it(
    account: Account, language: str, subject: str, lines: list[str]
) -> None:
    UserPreferences.objects.create(
        organisation=account.organisation, external_user_id="maya", language=language
    )
    came(account, 1, noon(), ("succeeded", "succeeded"))
    came(account, 2, noon())

    send_due()

    [sent] = mail.outbox
    assert sent.subject.lower() == subject.lower()
    assert set(lines) <= set(sent.body.splitlines())


def test_it_counts_what_the_first_page_counts(account: Account) -> None:
    for number, acts in enumerate([[("succeeded", "succeeded")], [("refused", "blocked")], []]):
        came(account, number, noon(), *acts)

    found = digests.load_day(account.organisation_id, "maya", DAY, zone=UTC, examples=9)

    for part in found.parts:
        wanted = Wanted(
            organisation_id=account.organisation_id, since=DAY, until=DAY, outcome=part.outcome
        )
        assert part.number == len(selection.select(wanted, limit=99)) == len(part.rows) == 1
    assert found.number == 3


def test_it_is_sent_once_a_day_from_the_users_morning_on(account: Account) -> None:
    came(account, 1, noon(), ("succeeded", "succeeded"))
    came(account, 2, noon(date(2026, 11, 26)), ("succeeded", "succeeded"))

    send_due(MORNING - timedelta(minutes=1))
    assert mail.outbox == []
    for hours in range(4):
        send_due(MORNING + timedelta(hours=hours))
    assert len(mail.outbox) == 1
    digest_mail.send(DailyDigest.objects.get().pk)
    assert len(mail.outbox) == 1
    send_due(MORNING + timedelta(days=1))
    assert [one.subject[-2:] for one in mail.outbox] == ["er", "er"]
    assert list(DailyDigest.objects.values_list("state", flat=True)) == ["sent", "sent"]


def test_what_a_dead_process_may_have_sent_is_not_sent_again(account: Account) -> None:
    came(account, 1, noon(), ("succeeded", "succeeded"))
    digest_mail.claim_due(now=MORNING)
    DailyDigest.objects.update(state="sending")

    send_due(MORNING + timedelta(hours=1))
    digest_mail.send(DailyDigest.objects.get().pk)

    assert mail.outbox == []


@pytest.mark.parametrize(
    ("broken", "state", "sent"), [(Unavailable("away"), "queued", 1), (Rejected("no"), "failed", 0)]
)
def test_a_server_that_is_away_is_asked_again_the_same_day(
    account: Account, monkeypatch: pytest.MonkeyPatch, broken: Exception, state: str, sent: int
) -> None:
    came(account, 1, noon(), ("succeeded", "succeeded"))

    def fail(*_: Any, **__: Any) -> None:
        raise broken

    with monkeypatch.context() as patched:
        patched.setattr(outgoing, "send_mail", fail)
        send_due()
    assert DailyDigest.objects.get().state == state

    send_due(MORNING + timedelta(hours=1))
    assert len(mail.outbox) == sent
    send_due(MORNING + timedelta(days=1))  # nothing came that day; the old one is not caught up
    assert len(mail.outbox) == sent


def test_a_day_on_which_nothing_was_done_and_nothing_waits_is_not_told(account: Account) -> None:
    came(account, 1, noon())
    send_due()
    assert mail.outbox == []
    assert DailyDigest.objects.get().state == "quiet"


@pytest.mark.parametrize(
    ("organisation", "own", "wanted"),
    [
        (True, None, 1),
        (True, False, 0),
        (False, True, 1),
        (False, None, 0),
        (False, False, 0),
    ],
)
def test_the_users_own_word_counts_before_the_organisations(
    account: Account, organisation: bool, own: bool | None, wanted: int
) -> None:
    Organisation.objects.update(daily_digest=organisation)
    other = Organisation.objects.create(slug="other", name="Other")
    for elsewhere, user in ((account.organisation, "ada"), (other, "maya")):
        UserPreferences.objects.create(
            organisation=elsewhere, external_user_id=user, daily_digest=not own
        )
    UserPreferences.objects.create(
        organisation=account.organisation, external_user_id="maya", daily_digest=own
    )
    assert len(digest_mail.claim_due(now=MORNING)) == wanted


def test_without_a_mail_server_there_is_none(account: Account, settings: Any) -> None:
    settings.EMAIL_URL = ""
    assert digest_mail.claim_due(now=MORNING) == []
    assert not DailyDigest.objects.exists()


def test_nobody_hears_of_another_organisations_day(account: Account) -> None:
    other = mailbox(slug="other")
    Account.objects.filter(id=other.id).update(address="maya@other.example")
    came(other, 1, noon(), ("succeeded", "succeeded"))

    tasks.tell_days()
    send_due()

    assert mail.outbox == []


def test_like_actions_of_one_run_wait_as_one_question(office: Office) -> None:
    office.permit("archive", "ask")
    first, *_, other = (ask(office, "archive", {"email_id": office.receive()}) for _ in range(4))
    Approval.objects.filter(id=other.id).update(question=other.id)  # of another run

    day = digests.load_day(first.organisation_id, first.external_user_id, DAY, zone=UTC, examples=1)

    assert (day.waits, [card.id for card in day.waiting]) == (2, [first.id, other.id])


def test_what_waits_comes_first_to_be_decided_first_and_its_link_decides_nothing(
    settings: Any, office: Office
) -> None:
    settings.EMAIL_URL, settings.PUBLIC_URL = "smtp://x", "https://remit.company.com"
    Organisation.objects.update(daily_digest=True)
    office.permit("archive", "ask")
    rows = [ask(office, "archive", {"email_id": office.receive()}) for _ in range(4)]
    Approval.objects.update(question=F("id"))  # each of a run of its own
    last = rows[-1]
    Approval.objects.filter(id=last.id).update(expires_at=MORNING + timedelta(days=365))
    before = office.calls()

    send_due(MORNING + timedelta(hours=6))

    [sent] = mail.outbox
    assert sent.subject.endswith(": 4 to decide")
    assert "Waiting for you: 4. The first 3:" in sent.body
    assert sent.body.count("  Archive\n  “Lunch on Friday?”\n") == 3
    links = [one for one in sent.body.splitlines() if "signature=" in one]
    assert [str(row.id) in link for row, link in zip((last, *rows), links, strict=False)] == [
        True,
        True,
        True,
    ]
    client = log_in_superuser("olga")
    query = {"organisation": rows[0].organisation.slug, "person": rows[0].external_user_id}
    page = client.get(reverse("day"), query).content.decode()
    assert page.count("<bdi>“Lunch on Friday?”</bdi>") == 3
    for link in links:
        parts = urlsplit(link)
        assert client.get(f"{parts.path}?{parts.query}", follow=True).status_code == 200
    assert set(Approval.objects.values_list("state", flat=True)) == {"pending"}
    assert office.calls() == before


def test_the_page_shows_a_users_day_to_those_who_may_see_it(account: Account) -> None:
    came(account, 1, noon(), ("refused", "blocked"), title="<script>alert(1)</script>")
    query = {"organisation": "default", "person": "maya", "day": "2026-11-25"}
    looking = log_in("otto", "view_delivery", "view_turn")

    answer = looking.get(reverse("day"), query)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "Refused by your organisation&#x27;s rules: 1" in text
    assert "<script>alert(1)" not in text
    assert "times in Europe/Berlin" in text
    assert "looked at" in looking.get(reverse("day"), query | {"day": "junk"}).content.decode()
    assert looking.get(reverse("day"), query | {"day": "9999-12-31"}).status_code == 200
    assert looking.get(reverse("day"), query | {"day": "0001-01-01"}).status_code == 200
    assert log_in("nina", "view_turn").get(reverse("day"), query).status_code == 403
    assert Client().get(reverse("day"), query).status_code == 302
    Organisation.objects.create(slug="secret", name="Secret")
    assert looking.get(reverse("day"), {"organisation": "secret"}).status_code == 404
