import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from django.db import OperationalError
from starlette.responses import PlainTextResponse

from agents.inbound.intake import accept_deliveries
from config.door import webhooks as door
from integrations.models import Account, Delivery, Organisation
from integrations.web.webhooks import Refused, Stored, Verified
from tests.away import server_for
from tests.integrations.web.test_webhooks import SECRET, dump, event, sign
from tests.office import until

pytestmark = pytest.mark.django_db(transaction=True)
BEHIND = PlainTextResponse("behind", status_code=418)


@pytest.fixture(autouse=True)
def organisation(settings: Any) -> Organisation:
    settings.WEBHOOK_SECRETS = {"default": SECRET, "nowhere": SECRET}
    settings.ALLOWED_HOSTS = ["remit.test"]
    found = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(
        organisation=found, external_user_id="maya", source="gmail", address="maya@company.com"
    )
    return found


class Storing:
    """The real store, which notes what it is asked for at once. The first waits for `others`."""

    def __init__(self, *, others: int = 0, refuse: str = "") -> None:
        self.others, self.refuse = others, refuse
        self.sizes: list[int] = []
        self.began, self.may_go_on = threading.Event(), threading.Event()

    def __call__(self, verified: Sequence[Verified]) -> Sequence[Stored | Refused]:
        self.sizes.append(len(verified))
        self.began.set()
        if self.others and len(self.sizes) == 1:
            assert self.may_go_on.wait(20)
        if self.refuse in [one.event.source_id for one in verified]:
            raise OperationalError("the database does not take this one")
        return accept_deliveries(verified)


def post(store: Storing, requests: Sequence[dict[str, Any]]) -> list[httpx.Response]:
    """The first, and while it is stored all others."""
    app = door.with_webhooks(BEHIND, store=store)

    async def send() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://remit.test") as client:
            tasks = []
            for request in requests:
                tasks.append(asyncio.create_task(client.request(**{"method": "POST"} | request)))
                await asyncio.sleep(0)
            if store.others:
                await asyncio.to_thread(store.began.wait, 20)
            for _ in range(50):  # until all others wait
                await asyncio.sleep(0)
            store.may_go_on.set()
            return await asyncio.gather(*tasks)

    return asyncio.run(send())


def webhook(number: int, path: str = "/webhooks/item-created", **more: Any) -> dict[str, Any]:
    body = more.pop("content", dump(event(source_id=f"m{number}")))
    headers = sign(body, id=more.pop("id", f"w{number}")) | more.pop("headers", {})
    return {"url": path, "content": body, "headers": headers, **more}


def codes(answers: Sequence[httpx.Response]) -> list[int]:
    return [answer.status_code for answer in answers]


def test_what_comes_meanwhile_is_stored_by_the_next_statement() -> None:
    store = Storing(others=8)

    answers = post(store, [webhook(number) for number in range(9)])

    assert codes(answers) == [202] * 9
    assert store.sizes == [1, 8]
    assert sorted(Delivery.objects.values_list("source_id", "webhook_id", "state", "reason")) == [
        (f"m{number}", f"w{number}", "queued", "") for number in range(9)
    ]
    ids = {answer.json()["source_id"]: answer.json()["delivery_id"] for answer in answers}
    assert ids == {str(row.source_id): str(row.id) for row in Delivery.objects.all()}


def test_each_of_those_stored_together_hears_of_itself_alone() -> None:
    store = Storing(others=6)
    wrong = webhook(3, headers={"webhook-signature": "v1,AAAA"})
    nobody = webhook(4, path="/webhooks/nowhere/item-created")
    broken = webhook(5, content=b"{")

    same = [webhook(6, id="same"), webhook(6, id="same")]

    answers = post(store, [webhook(1), webhook(2), wrong, nobody, broken, *same])

    assert codes(answers) == [202, 202, 401, 401, 400, 202, 202]
    said = [answer.json()["status"] for answer in answers if answer.status_code == 202]
    assert sorted(said) == ["accepted"] * 3 + ["duplicate"]
    assert answers[5].json()["delivery_id"] == answers[6].json()["delivery_id"]
    assert sorted(Delivery.objects.values_list("source_id", flat=True)) == ["m1", "m2", "m6"]
    assert store.sizes == [1, 4]


def test_one_that_the_database_does_not_take_keeps_no_other_out() -> None:
    store = Storing(others=3, refuse="m2")

    answers = post(store, [webhook(number) for number in range(4)])

    assert codes(answers) == [202, 202, 503, 202]
    assert answers[2].headers["retry-after"]
    assert sorted(Delivery.objects.values_list("source_id", flat=True)) == ["m0", "m1", "m3"]
    assert store.sizes == [1, 3, 1, 1, 1]


def test_one_statement_stores_no_more_than_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_BYTES", 2 * len(webhook(1)["content"]))
    store = Storing(others=5)

    assert codes(post(store, [webhook(number) for number in range(6)])) == [202] * 6
    assert store.sizes == [1, 2, 2, 1]


def test_what_is_no_webhook_or_comes_by_another_name_goes_on(settings: Any) -> None:
    store = Storing()
    others = [
        webhook(1, method="GET"),
        webhook(2, path="/webhooks/item-created/"),
        webhook(3, path="/webhooks/item-moved"),
        webhook(4, path="/webhooks/a/b/item-created"),
        webhook(5, headers={"host": "elsewhere.test"}),
    ]

    assert codes(post(store, others)) == [418] * 5
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert codes(post(store, [webhook(6)])) == [418]
    safe = webhook(7, headers={"x-forwarded-proto": "https"})
    assert codes(post(store, [safe])) == [202]
    assert (store.sizes, Delivery.objects.count()) == ([1], 1)


def test_while_the_database_is_away_all_hear_to_come_again_and_none_is_lost() -> None:
    store = Storing()
    many = [webhook(number) for number in range(1, 9)]
    with server_for("web", "default") as server:
        assert codes(post(store, [webhook(0)])) == [202]
        server.go_away()

        refused = post(store, many)
        again = post(store, many)
        server.come_back()
        until(lambda: codes(post(store, [webhook(0)])) == [202])
        taken = post(store, many)

    for answer in (*refused, *again):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
        assert answer.json()["code"] == "database_away"
    assert codes(taken) == [202] * 8
    assert [answer.json()["status"] for answer in taken] == ["accepted"] * 8
    stored = sorted(Delivery.objects.values_list("source_id", flat=True))
    assert stored == [f"m{number}" for number in range(9)]
