"""Who hears that an action waits: each recipient once, in their turn, outside of quiet hours."""

import re
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agents import tasks
from guardrails.approve.news import news, recipients
from guardrails.approve.news.news import announce
from guardrails.models import AllowedAction, Approval, ApprovalNotice, ApprovalRecipient
from integrations.models import Organisation
from tests.clients import client_of
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.approve.news.conftest import Receiver
from tests.guardrails.approve.news.people import person
from tests.guardrails.approve.news.recipients import add
from tests.guardrails.office import Office
from tests.imap_server import certificate
from tests.sandbox_server import serving

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
DESK, CHIEF = "desk@company.com", "chief@company.com"


@pytest.fixture
def office(office: Office) -> Office:
    office.permit("archive", "ask")
    return office


def waiting(office: Office, number: int = 1) -> list[Approval]:
    return [ask(office, "archive", {"email_id": office.receive()}) for _ in range(number)]


def heard() -> list[str]:
    return [one.to[0] for one in mail.outbox]


def states() -> list[str]:
    rows = ApprovalNotice.objects.order_by("recipient__after_minutes", "id")
    return list(rows.values_list("state", flat=True))


def test_people_hear_once_of_each_question(office: Office) -> None:
    add(office, DESK)
    like, other = waiting(office, 2), waiting(office)[0]
    Approval.objects.filter(id__in=[one.id for one in like]).update(question=like[0].question)
    Approval.objects.filter(id=other.id).update(question=other.id)

    tasks.sweep()
    tasks.sweep()

    assert heard() == [DESK] * 2
    both, single = mail.outbox
    assert all(str(one.id) in both.body for one in like)
    assert str(other.id) in single.body
    assert not Approval.objects.filter(announced_at=None).exists()


def test_nobody_hears_of_another_organisation_or_account(office: Office) -> None:
    other = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Other")
    add(office, DESK, organisation=other)
    add(office, CHIEF, account=office.mailbox)
    waiting(office)

    announce(now=timezone.now())

    assert heard() == [CHIEF]


def test_what_was_decided_or_waits_for_long_is_no_news(office: Office) -> None:
    add(office, DESK)
    [row] = waiting(office)
    announce(now=timezone.now() + news.ANNOUNCED_FOR + timedelta(minutes=1))
    confirm(row, external_user_id=office.user_id)
    announce(now=timezone.now())

    assert mail.outbox == []


def test_who_comes_next_hears_of_what_nobody_decided_and_nobody_does_afterwards(
    office: Office,
) -> None:
    add(office, DESK)
    add(office, CHIEF, after_minutes=30)
    [decided] = waiting(office)
    announce(now=timezone.now())
    confirm(decided, external_user_id=office.user_id)
    announce(now=timezone.now() + timedelta(minutes=31))
    assert heard() == [DESK]

    waiting(office)
    announce(now=timezone.now())
    announce(now=timezone.now() + timedelta(minutes=31))
    announce(now=timezone.now() + timedelta(minutes=32))
    assert heard() == [DESK, DESK, CHIEF]


def test_quiet_hours_hold_a_message_unless_it_would_expire_meanwhile(
    office: Office, settings: Any
) -> None:
    now = timezone.now()
    begins, ends = now - timedelta(hours=1), now + timedelta(hours=2)
    add(office, DESK, quiet_from=at(begins), quiet_until=at(ends))
    [held] = waiting(office)
    announce(now=now + timedelta(seconds=30))
    assert (heard(), states()) == ([], ["waiting"])
    announce(now=ends + timedelta(minutes=1))
    assert (heard(), states()) == ([DESK], ["sent"])

    settings.APPROVAL_HOURS = 1
    confirm(held, external_user_id=office.user_id)
    waiting(office)
    announce(now=now + timedelta(minutes=1))
    assert heard() == [DESK, DESK]


def at(moment: datetime) -> time:
    return moment.time().replace(second=0, microsecond=0)


def test_one_that_was_decided_in_the_quiet_hours_is_not_sent_after_them(office: Office) -> None:
    now = timezone.now()
    ends = now + timedelta(hours=2)
    add(office, DESK, quiet_from=at(now - timedelta(hours=1)), quiet_until=at(ends))
    [row] = waiting(office)
    announce(now=now + timedelta(seconds=30))
    confirm(row, external_user_id=office.user_id)
    announce(now=ends + timedelta(minutes=1))

    assert (heard(), states()) == ([], ["called_off"])


def test_a_process_that_died_leaves_it_uncertain_and_it_is_not_sent_again(
    office: Office, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(office, receiver.url, "slack")
    waiting(office)
    real = news.CHANNELS[ApprovalRecipient.Kind.SLACK]

    def die(*given: Any) -> None:
        real(*given)
        raise KeyboardInterrupt

    monkeypatch.setitem(news.CHANNELS, ApprovalRecipient.Kind.SLACK, die)
    with pytest.raises(KeyboardInterrupt):
        announce(now=timezone.now())
    monkeypatch.undo()
    announce(now=timezone.now())
    assert states() == ["sending"]
    announce(now=timezone.now() + news.LEASE + timedelta(seconds=1))

    assert (len(receiver.taken), states()) == (1, ["uncertain"])


def test_one_that_asks_to_wait_is_tried_again_then(office: Office, receiver: Receiver) -> None:
    row = add(office, receiver.url, "slack")
    waiting(office)
    receiver.status, receiver.headers = 429, {"Retry-After": "600"}
    now = timezone.now()
    announce(now=now)
    row.refresh_from_db()
    assert (states(), row.problem) == (
        ["waiting"],
        "The other side asked Remit to wait. It is tried again.",
    )
    receiver.status = 200
    announce(now=now + timedelta(seconds=599))
    assert len(receiver.taken) == 1
    announce(now=now + timedelta(seconds=601))
    row.refresh_from_db()
    assert (len(receiver.taken), states(), row.problem) == (2, ["sent"], "")


@pytest.mark.parametrize("status", [404, 410, 403])
def test_an_address_that_is_gone_is_said_and_gets_no_more(
    office: Office, receiver: Receiver, status: int
) -> None:
    row = add(office, receiver.url, "teams")
    waiting(office)
    receiver.status = status
    announce(now=timezone.now())
    waiting(office)
    announce(now=timezone.now())

    row.refresh_from_db()
    assert (len(receiver.taken), states()) == (1, ["failed"])
    assert row.stopped_at is not None
    assert row.problem.startswith("The address takes no messages any more")

    receiver.status = 200
    recipients.save(row, address=receiver.url, by="operator:olga")
    announce(now=timezone.now())
    assert (len(receiver.taken), states()) == (2, ["failed", "sent"])


def test_a_certificate_that_nobody_here_trusts_is_named(
    office: Office, receiver: Receiver, tmp_path: Path
) -> None:
    async def take(request: Request) -> Response:
        receiver.taken.append(await request.body())
        return Response()

    app = Starlette(routes=[Route("/{path:path}", take, methods=["POST"])])
    with serving(app, certificate=certificate(tmp_path)) as origin:
        row = add(office, f"{origin}/services/T0/B0/secret", "slack")
        waiting(office)
        announce(now=timezone.now())

    row.refresh_from_db()
    assert (receiver.taken, states()) == ([], ["failed"])
    assert row.stopped_at is not None
    assert row.problem == (
        "The certificate of this address comes from nobody whom this machine trusts. Nothing is "
        "sent there until somebody types in an address again. Who runs Remit can add the authority "
        "(SSL_CERT_FILE)."
    )


def test_a_redirect_is_not_followed_and_no_answer_is_uncertain(
    office: Office, receiver: Receiver
) -> None:
    add(office, receiver.url, "slack")
    waiting(office)
    receiver.status, receiver.headers = 302, {"Location": receiver.url}
    announce(now=timezone.now())
    assert (len(receiver.taken), states()) == (1, ["failed"])

    receiver.hangs_up = True
    waiting(office)
    announce(now=timezone.now())
    announce(now=timezone.now() + timedelta(hours=1))
    assert (len(receiver.taken), states()) == (2, ["failed", "uncertain"])


def test_an_address_inside_our_network_gets_nothing(
    office: Office, receiver: Receiver, settings: Any
) -> None:
    row = add(office, receiver.url.replace("127.0.0.1", "localhost"), "slack")
    waiting(office)
    settings.OUTGOING_TO_PRIVATE = False
    announce(now=timezone.now())

    row.refresh_from_db()
    assert (receiver.taken, states()) == ([], ["failed"])
    assert row.problem == "The address leads to where nothing is sent: it is not public."


@pytest.mark.parametrize("ways", [("mail", "slack"), ("slack", "mail")])
def test_two_people_say_yes_on_two_ways_and_scanners_of_both_messages_none(
    office: Office, receiver: Receiver, ways: tuple[str, str]
) -> None:
    AllowedAction.objects.update(conditions=[{"kind": "two_people"}])
    add(office, DESK)
    add(office, receiver.url, "slack")
    waiting = ask(office, "archive", {"email_id": office.receive()})
    announce(now=timezone.now())
    said = {"slack": receiver.taken[0]["blocks"][-1]["elements"][0]["url"], "mail": link_in_mail()}
    people = [
        client_of(person(office, name, "view_approval", "change_approval"))
        for name in ("ann", "bea")
    ]

    for address in said.values():
        assert {getattr(Client(), word)(address).status_code for word in ("get", "head")} == {302}
    for way, who, phase in zip(ways, people, ("first", "second"), strict=True):
        page = who.get(said[way], follow=True).content.decode()
        digest = re.findall('name="digest" value="([0-9a-f]{64})"', page)[0]
        word = reverse("admin:guardrails_approval_decide", args=[waiting.id])
        altered = who.post(word, {"word": "confirm", "digest": "0" * 64}, follow=True)
        assert "This is not what was shown" in altered.content.decode(), phase
        assert office.calls() == []
        who.post(word, {"word": "confirm", "digest": digest})
        if phase == "first":  # and not once more by the same person, on the other way
            again = who.get(said[ways[1]], follow=True).content.decode()
            assert 'value="confirm"' in page
            assert 'value="confirm"' not in again
            assert office.calls() == []

    waiting.refresh_from_db()
    assert (waiting.state, len(office.calls())) == ("executed", 1)
    assert (waiting.first_yes_by, waiting.decided_by) == ("operator:ann", "operator:bea")


def link_in_mail() -> str:
    [one] = mail.outbox
    [found] = re.findall(r"https://remit\.company\.com(/admin/cards/\S+)", str(one.body))
    return str(found)
