"""Who hears of change requests: the organisation's people that one waits, its frontend what
became of it."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from guardrails.approve import change_request_news, change_requests
from guardrails.approve.change_request_news import notify, notify_again
from tests.guardrails.change_requests import BY, approve, ask_for, refuse
from tests.guardrails.office import Office
from tests.knowledge.sync.test_callbacks import SECRET, Frontend, serving

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_people_get_one_mail_without_what_was_refused(office: Office, settings: Any) -> None:
    settings.ESCALATION_MAIL = {office.organisation.slug: "desk@company.com"}
    request = ask_for(
        office, refuse(office, "archive", {"email_id": office.receive(subject="Pay")})
    )

    notify(str(request.id))
    notify(str(request.id))

    (sent,) = mail.outbox
    assert sent.to == ["desk@company.com"]
    assert str(request.id) in sent.body
    assert office.user_id in sent.body
    assert "Pay" not in sent.body


def test_the_frontend_hears_what_was_decided(office: Office, settings: Any) -> None:
    frontend, slug = Frontend(), office.organisation.slug
    yes, no = (ask_for(office, refuse(office, name)) for name in ("archive", "mark_read"))
    with serving(frontend):
        settings.SYNC_CALLBACKS = {slug: frontend.url}
        settings.SYNC_CALLBACK_SECRETS = {slug: SECRET}
        notify_again(now=timezone.now())
        assert frontend.got == []
        approve(yes)
        change_requests.decline(no.id, by=BY, answer="No.")
        frontend.status = 503
        notify(str(yes.id))
        frontend.status = 204
        notify_again(now=timezone.now())
        notify_again(now=timezone.now())

    told = [Webhook(SECRET).verify(body, headers) for _, headers, body in frontend.got]
    assert {one["type"] for one in told[:-1]} == {"change_request.approved"}
    assert told[-1]["type"] == "change_request.declined"
    assert told[-1]["data"] == {
        "change_request_id": str(no.id),
        "user_id": office.user_id,
        "turn_id": "turn-1",
    }


def test_old_news_is_sent_to_nobody(office: Office, settings: Any) -> None:
    settings.ESCALATION_MAIL = {office.organisation.slug: "desk@company.com"}
    ask_for(office, refuse(office))
    later = timezone.now() + change_request_news.NOTIFIED_FOR + timedelta(minutes=1)
    notify_again(now=later)
    assert mail.outbox == []
