"""Large mail has a lane of its own, and small mail never waits behind it."""

import threading
from typing import Any

import pytest

from agents.inbound import claims, reactions
from agents.models import Turn
from integrations.models import Delivery
from knowledge.ingest.reading import LARGE
from knowledge.models import Item
from tests.office import Office, run_next_task
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
READER = "You are Remit's mail reader."
INGEST = "You summarise an item and list its entities."
SMALL = "Staging is faster now"  # the subject of the small mail
SUMMARY = {"summary": "A mail.", "entities": []}


def deliver_large(office: Office, name: str) -> str:
    """A mail of over LARGE characters arrives; its id."""
    mail = {
        "id": name,
        "thread_id": name,
        "from": "eve@evil.example",
        "to": ["maya@company.com"],
        "subject": name,
        "date": "2026-11-20T10:00:00Z",
        "labels": ["INBOX"],
        "body_text": "a " * LARGE,
    }
    office.control("POST", "/users/maya/emails", json={"items": [mail], "notify": True})
    office.settle_webhooks()
    return name


def test_small_mail_never_waits_behind_large_mail_of_its_account(
    office: Office, settings: Any
) -> None:
    settings.DELIVERY_THREADS = 3
    large = [deliver_large(office, f"large-{number}") for number in range(3)]
    small = office.deliver("fyi")["id"]
    small_is_done, at_work, most = threading.Event(), set[str](), list[int]()

    def summary(request: dict[str, Any]) -> dict[str, Any]:
        name = next((name for name in large if name in str(request)), "")
        if name:
            at_work.add(name)
            most.append(len(at_work))
            assert small_is_done.wait(timeout=60)
            at_work.remove(name)
        return SUMMARY

    def read(request: dict[str, Any]) -> str:
        if SMALL in str(request):
            small_is_done.set()
        return "Nothing is to be done."

    with scripted({INGEST: summary, READER: read}):
        assert run_next_task()
        office.drain()

    assert set(most) == {1}
    handled = Delivery.objects.filter(kind="created").order_by("finished_at")
    assert list(handled.values_list("source_id", "state")) == [
        (id, "processed") for id in (small, *large)
    ]


def test_a_large_mail_that_was_changed_and_deleted_meanwhile_is_not_brought_back(
    office: Office,
) -> None:
    name = deliver_large(office, "large")
    office.control("DELETE", f"/users/maya/emails/{name}")
    office.settle_webhooks()
    deleted, created = (Delivery.objects.get(kind=kind) for kind in ("deleted", "created"))
    claimed = claims.claim_queued(8, large=False)
    assert [one.id for one in claimed] == [deleted.id]  # small, so it overtakes the other
    Delivery.objects.update(state="queued")
    reactions.react(deleted.id)
    office.drain()

    created.refresh_from_db()
    assert (created.state, created.reason) == ("skipped", "deleted")
    assert not Item.objects.filter(deleted_at=None).exists()
    assert not Turn.objects.exists()
    assert office.calls() == []
