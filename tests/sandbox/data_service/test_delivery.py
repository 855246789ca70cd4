import asyncio
from pathlib import Path

import httpx
import pytest

from sandbox.data_service.delivery import SIDE_BY_SIDE, Delivery
from sandbox.data_service.faults import Faults, FaultSettings
from sandbox.data_service.settings import Settings
from sandbox.data_service.store import Store
from tests.ports import free_port
from tests.sandbox.data_service.client import Client, mail
from tests.sandbox.data_service.receiver import Receiver
from tests.sandbox_server import running_sandbox, serving


def counts(office: Client) -> dict[str, int]:
    found: dict[str, int] = office.control("GET", "/webhooks")
    return found


def test_loading_the_office_sends_nothing(sending: Client, receiver: Receiver) -> None:
    sending.control("POST", "/reset")
    assert counts(sending) == {"pending": 0, "delivered": 0, "dead": 0}
    assert receiver.deliveries == []


def test_a_new_mail_is_announced_with_all_its_data(sending: Client, receiver: Receiver) -> None:
    email = sending.control("POST", "/users/maya/deliver/question")
    (delivered,) = receiver.wait_for(1)
    assert delivered.event == "item-created"
    assert delivered.body == {
        "user_id": "maya",
        "source": "gmail",
        "source_id": email["id"],
        "content_type": "email",
        "data": email,
        "timestamp": email["updated_at"],
    }


def test_a_change_is_announced_with_what_changed_and_the_whole(
    sending: Client, receiver: Receiver
) -> None:
    email = sending.items("/maya/emails")[0]
    changed = sending.post(f"/maya/emails/{email['id']}/labels", {"add": ["UNREAD"]}).json()
    (delivered,) = receiver.wait_for(1)
    assert delivered.event == "item-updated"
    assert delivered.body == {
        "user_id": "maya",
        "source": "gmail",
        "source_id": email["id"],
        "changes": {"labels": [*email["labels"], "UNREAD"], "is_read": False},
        "full_data": changed,
        "timestamp": changed["updated_at"],
    }


def test_a_removal_is_announced_later_than_every_change(
    sending: Client, receiver: Receiver
) -> None:
    event = sending.items("/maya/events")[-1]
    sending.write("PATCH", f"/maya/calendar/events/{event['id']}", {"title": "Other"})
    sending.write("DELETE", f"/maya/calendar/events/{event['id']}")
    updated, deleted = receiver.wait_for(2)
    assert deleted.event == "item-deleted"
    assert deleted.body == {
        "user_id": "maya",
        "source": "calendar",
        "source_id": event["id"],
        "timestamp": deleted.body["timestamp"],
    }
    assert deleted.body["timestamp"] > updated.body["timestamp"]


def test_every_kind_of_write_is_announced_and_drafts_are_not(
    sending: Client, receiver: Receiver
) -> None:
    sending.post("/maya/drafts", {"to": ["a@b.example"]})
    sending.post("/maya/emails/send", {"to": ["a@b.example"], "body": "x"})
    sending.post("/maya/jira/issues", {"project_key": "OPS", "type": "bug", "summary": "x"})
    sending.post("/maya/documents", {"name": "x"})
    sending.post(
        "/omar/calendar/events",
        {"title": "x", "start": "2030-01-01T09:00:00Z", "end": "2030-01-01T10:00:00Z"},
    )
    told = {
        (delivered.body["user_id"], delivered.body["source"], delivered.body["content_type"])
        for delivered in receiver.wait_for(4)
    }
    assert told == {
        ("maya", "gmail", "email"),
        ("maya", "jira", "issue"),
        ("maya", "gdrive", "document"),
        ("omar", "calendar", "event"),
    }
    (sent,) = (d for d in receiver.deliveries if d.body["source"] == "gmail")
    assert sent.body["data"]["labels"] == ["SENT"]


def test_what_changes_nothing_and_what_is_refused_tell_nothing(
    sending: Client, receiver: Receiver
) -> None:
    email = sending.items("/maya/emails")[0]
    sending.post(f"/maya/emails/{email['id']}/mark-read")
    sending.post(f"/maya/emails/{email['id']}/labels", {"add": ["label_none"]})
    sending.post("/maya/emails/send", {"to": ["a@b.example"], "body": "x"}, key="k1")
    sending.post("/maya/emails/send", {"to": ["a@b.example"], "body": "x"}, key="k1")
    receiver.wait_for(1)
    found = counts(sending)
    assert found["pending"] + found["delivered"] == 1


def test_without_a_receiver_no_webhook_is_kept(office: Client) -> None:
    office.control("POST", "/users/maya/deliver/fyi")
    assert counts(office) == {"pending": 0, "delivered": 0, "dead": 0}


def test_a_webhook_waits_for_a_receiver_that_is_down(tmp_path: Path, http: httpx.Client) -> None:
    port = free_port()
    receiver = Receiver(url=f"http://127.0.0.1:{port}/webhooks")
    state = str(tmp_path / "state.sqlite3")
    with running_sandbox(
        state=state, webhook_url=receiver.url, webhook_secret=receiver.secret
    ) as sandbox:
        office = Client(sandbox=sandbox, http=http)
        email = office.control("POST", "/users/maya/deliver/fyi")
        assert counts(office) == {"pending": 1, "delivered": 0, "dead": 0}
    with (
        running_sandbox(state=state, webhook_url=receiver.url, webhook_secret=receiver.secret),
        serving(receiver.app(), port=port),
    ):
        (delivered,) = receiver.wait_for(1)
    assert delivered.body["source_id"] == email["id"]


def test_a_webhook_keeps_its_id_until_it_is_taken(sending: Client, receiver: Receiver) -> None:
    receiver.answer = lambda earlier: (500, 503, 429, 408, 302, 200)[earlier]
    sending.control("POST", "/users/maya/deliver/fyi")
    delivered = receiver.wait_for(6)
    assert len({one.id for one in delivered}) == 1
    assert [one.status for one in delivered] == [500, 503, 429, 408, 302, 200]


def test_a_webhook_refused_five_times_is_kept_as_dead(sending: Client, receiver: Receiver) -> None:
    receiver.answer = lambda earlier: 400 if earlier < 5 else 202
    email = sending.control("POST", "/users/maya/deliver/fyi")
    receiver.wait_for(5)
    # A later webhook of the same item comes only once the earlier one no longer waits.
    sending.control("PATCH", f"/users/maya/emails/{email['id']}", {"is_starred": True})
    delivered = receiver.wait_for(6)
    assert [one.event for one in delivered] == ["item-created"] * 5 + ["item-updated"]
    assert counts(sending)["dead"] == 1


def test_one_items_webhooks_come_in_order_although_one_fails(
    sending: Client, receiver: Receiver
) -> None:
    receiver.answer = lambda earlier: 500 if earlier == 0 else 202
    email = sending.items("/maya/emails")[0]
    for label in ("label_fyi", "label_team", "label_cold"):
        sending.post(f"/maya/emails/{email['id']}/labels", {"add": [label]})
    delivered = receiver.wait_for(4)
    assert [one.body["full_data"]["version"] for one in delivered] == [2, 2, 3, 4]


def test_many_webhooks_all_come_once(sending: Client, receiver: Receiver) -> None:
    mails = [mail(f"m{number}") for number in range(200)]
    sending.control("POST", "/users/omar/emails", {"items": mails})
    delivered = receiver.wait_for(200)
    assert sorted(one.body["source_id"] for one in delivered) == sorted(m["id"] for m in mails)
    assert len({one.id for one in delivered}) == 200


def test_duplicates_come_under_the_same_id(sending: Client, receiver: Receiver) -> None:
    sending.control("PUT", "/faults", {"duplicate_webhooks": True})
    sending.control("POST", "/users/maya/deliver/fyi")
    first, second = receiver.wait_for(2)
    assert (first.id, first.event, first.body) == (second.id, second.event, second.body)


def test_reordered_webhooks_come_newest_first(sending: Client, receiver: Receiver) -> None:
    sending.control("PUT", "/faults", {"reorder_webhooks": True})
    created = sending.post(
        "/maya/jira/issues", {"project_key": "OPS", "type": "bug", "summary": "x"}
    )
    path = f"/maya/jira/issues/{created.json()['key']}"
    sending.write("PATCH", path, {"status": "Done"})
    sending.control("DELETE", f"/users/maya/issues/{created.json()['id']}")
    delivered = receiver.wait_for(3)
    assert [one.event for one in delivered] == ["item-deleted", "item-updated", "item-created"]


@pytest.mark.parametrize("answer", [200, 204, 299])
def test_any_success_counts_as_taken(sending: Client, receiver: Receiver, answer: int) -> None:
    receiver.answer = lambda earlier: answer if earlier == 0 else 202
    first = sending.control("POST", "/users/maya/deliver/fyi")
    receiver.wait_for(1)
    sending.control("PATCH", f"/users/maya/emails/{first['id']}", {"is_starred": True})
    assert [one.event for one in receiver.wait_for(2)] == ["item-created", "item-updated"]


def test_it_ends_also_in_the_moment_it_is_woken() -> None:
    async def end_awake() -> None:
        settings = Settings(key="k", webhook_url="http://127.0.0.1:9", webhook_secret="whsec_eA==")
        store = Store(settings.state, records_webhooks=True)
        delivery = Delivery(store, settings=settings, faults=Faults(FaultSettings()))
        async with delivery.running():
            while len(delivery._woken._waiters) < SIDE_BY_SIDE:  # noqa: ASYNC110
                await asyncio.sleep(0)  # until all wait for something to send
            delivery.wake()
        store.close()

    asyncio.run(asyncio.wait_for(end_awake(), 10))
