"""Looking for what is new, at GitHub's fake."""

import hashlib
import hmac
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from integrations.accounts import arrivals, health
from integrations.models import Account, Credential, Delivery, IssueMark
from integrations.web import pushes
from tests.github_world import PLANS, GitHub
from tests.integrations.providers.github.box import Box
from tests.integrations.providers.github.conftest import box, github, running

__all__ = ["box", "github", "running"]
pytestmark = pytest.mark.django_db


def look(box: Box) -> list[tuple[str, str, str]]:
    """What was new, by kind, id and title."""
    ids: list[UUID] = []
    arrivals.look(box.account.id, enqueue=ids.append)
    rows = Delivery.objects.filter(id__in=ids).order_by("received_at", "source_id")
    return [(one.kind, one.source_id, one.body["data"]["summary"]) for one in rows]


def test_what_is_there_at_first_is_no_news_and_later_changes_are_news_once(box: Box) -> None:
    box.github.now = timezone.now().replace(microsecond=0)
    old = box.github.put(PLANS, "Old")
    box.github.issue(old)["created_at"] = "2026-01-05T09:00:00Z"
    box.github.issue(old)["updated_at"] = "2026-01-05T09:00:00Z"
    assert look(box) == []

    new = box.github.put(PLANS, "New")
    assert look(box) == [("created", new, "New")]
    assert look(box) == []
    box.github.comment(old, "Still open?")
    assert look(box) == [("updated", old, "Old")]
    assert look(box) == []


@pytest.mark.parametrize("off", [timedelta(hours=-3), timedelta(hours=3)])
def test_what_happens_after_the_first_look_is_news_whatever_the_clock_there_says(
    box: Box, off: timedelta
) -> None:
    box.github.now = timezone.now().replace(microsecond=0) + off
    assert look(box) == []

    box.github.tick(60)
    new = box.github.put(PLANS, "New")

    assert look(box) == [("created", new, "New")]


def test_how_far_it_was_looked_is_known_behind_the_last_page(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("integrations.providers.trackers.changes.READ_AT_ONCE", 2)
    box.github.now = timezone.now().replace(microsecond=0)
    look(box)
    before = IssueMark.objects.get().seen_to
    keys = [box.github.put(PLANS, f"Plan {number}") for number in range(3)]

    assert [one for _, one, _ in look(box)] == keys
    assert IssueMark.objects.get().seen_to > before


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    found: list[UUID] = []
    monkeypatch.setattr(
        "agents.tasks.async_task", lambda task, account_id: found.append(UUID(account_id))
    )
    return found


def push(account_id: UUID, *, body: bytes = b"{}", secret: str = "", header: str = "") -> int:
    key = (secret or pushes.secret_of(account_id)).encode()
    signature = "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
    answer: Any = Client().post(
        f"/webhooks/accounts/{account_id}",
        body,
        content_type="application/json",
        headers={header or "X-Hub-Signature-256": signature},
    )
    return int(answer.status_code)


def test_a_push_asks_the_account_at_once_and_many_are_one(box: Box, asked: list[UUID]) -> None:
    assert push(box.account.id) == 202
    assert push(box.account.id, header="X-Hub-Signature") == 202
    assert asked == [box.account.id]


def test_a_push_that_nobody_signed_asks_nothing(box: Box, asked: list[UUID], settings: Any) -> None:
    other = uuid4()
    assert push(box.account.id, secret=pushes.secret_of(other)) == 401
    assert push(box.account.id, header="X-Other") == 401
    assert push(other) == 202  # signed, but nobody is there
    Credential.objects.update(state=Credential.State.SIGN_IN)
    assert push(box.account.id) == 202
    settings.WEBHOOK_MAX_BYTES = 10
    assert push(box.account.id, body=b"x" * 11) == 413
    assert asked == []
    assert len({pushes.secret_of(one) for one in (other, box.account.id)}) == 2


def test_how_a_tracker_is_doing_is_said_in_words(box: Box, github: GitHub) -> None:
    github.fail = 99
    with pytest.raises(Exception, match="500"):
        arrivals.look(box.account.id, enqueue=lambda _: None)
    account = Account.objects.get(id=box.account.id)

    assert health.in_words(account, now=timezone.now()).startswith(
        "Signed in. The server does not answer."
    )
