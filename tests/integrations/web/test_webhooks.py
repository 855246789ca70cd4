import base64
import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from django.db import transaction
from django.test import Client
from hypothesis import given, settings, strategies as st
from standardwebhooks.webhooks import Webhook

from integrations.models import Account, Delivery, Organisation
from tests.database import failing_with

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
OTHER_SECRET = "whsec_" + base64.b64encode(b"another-secret-of-32-bytes-long!").decode()
HOSTILE = st.characters() | st.sampled_from("\x00\ud800\udfff\u2028\u202e")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def organisation(settings: Any) -> Organisation:
    settings.WEBHOOK_SECRETS = {"default": SECRET, "other": OTHER_SECRET}
    Organisation.objects.create(slug="other", name="Other")
    return Organisation.objects.create(slug="default", name="Default")


@pytest.fixture
def account(organisation: Organisation) -> Account:
    return Account.objects.create(
        organisation=organisation,
        external_user_id="maya",
        source="gmail",
        address="maya@company.com",
    )


def event(**changes: Any) -> dict[str, Any]:
    body = {
        "user_id": "maya",
        "source": "gmail",
        "source_id": "m1",
        "content_type": "email",
        "data": {"id": "m1", "date": "2026-11-20T10:00:00Z"},
        "timestamp": "2026-11-20T10:00:00Z",
    }
    return {key: value for key, value in (body | changes).items() if value is not None}


def post(
    body: bytes,
    *,
    path: str = "/webhooks/item-created",
    secret: str = SECRET,
    id: str | None = None,
    at: datetime | None = None,
    headers: dict[str, str] | None = None,
) -> Any:
    signed = sign(body, secret=secret, id=id or f"msg_{secrets.token_hex(8)}", at=at)
    return Client().post(
        path, data=body, content_type="application/json", headers=signed | (headers or {})
    )


def sign(
    body: bytes, *, id: str, secret: str = SECRET, at: datetime | None = None
) -> dict[str, str]:
    at = at or datetime.now(UTC)
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(id, at, body.decode("latin-1"))
        if body.isascii()
        else "v1,none",
    }


def dump(body: Any) -> bytes:
    return json.dumps(body).encode()


def nothing_stored() -> bool:
    return not Delivery.objects.exists()


def test_a_signed_event_is_stored_and_queued_and_answered_with_202(account: Account) -> None:
    response = post(dump(event()), id="msg_1")

    delivery = Delivery.objects.get()
    assert response.status_code == 202
    assert response.json() == {
        "status": "accepted",
        "source_id": "m1",
        "delivery_id": str(delivery.id),
    }
    assert (delivery.account, delivery.webhook_id, delivery.state) == (account, "msg_1", "queued")
    assert list(Delivery.objects.waiting()) == [delivery]


@pytest.mark.parametrize("kind", ["created", "updated", "deleted"])
def test_what_the_schema_gives_as_an_example_is_taken_as_it_says(
    account: Account, kind: str
) -> None:
    path = f"/webhooks/item-{kind}"
    described = Client().get("/api/schema?format=json").json()["paths"][path]["post"]
    asked = described["requestBody"]["content"]["application/json"]
    jsonschema.validate(asked["example"], asked["schema"])

    response = post(dump(asked["example"]), path=path)

    assert response.status_code == 202
    answer = described["responses"]["202"]["content"]["application/json"]
    jsonschema.validate(response.json(), answer["schema"])
    assert set(answer["example"]) == set(response.json())
    without = {name: value for name, value in asked["example"].items() if name != "timestamp"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(without, asked["schema"])
    assert post(dump(without), path=path).status_code == 400


def test_the_same_webhook_id_again_is_a_duplicate_and_queues_nothing(account: Account) -> None:
    first = post(dump(event()), id="msg_1")
    again = post(dump(event(source_id="m2", data={"id": "m2"})), id="msg_1")

    assert (again.status_code, again.json()["status"]) == (202, "duplicate")
    assert again.json()["delivery_id"] == first.json()["delivery_id"]
    assert Delivery.objects.get().source_id == "m1"


def test_an_event_of_an_unknown_user_is_accounted_for() -> None:
    assert post(dump(event(user_id="nobody"))).status_code == 202
    assert Delivery.objects.get().account is None


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_refused(missing: str) -> None:
    response = post(dump(event()), headers={missing: ""})

    assert response.status_code == 401
    assert response.json()["error"]["code"] == "missing_signature"
    assert nothing_stored()


@pytest.mark.parametrize("age", [timedelta(minutes=-6), timedelta(minutes=6)])
def test_a_stale_or_future_timestamp_is_refused(age: timedelta) -> None:
    response = post(dump(event()), at=datetime.now(UTC) - age)

    assert (response.status_code, response.json()["error"]["code"]) == (401, "bad_signature")
    assert nothing_stored()


def test_a_signature_of_another_organisation_is_refused() -> None:
    response = post(dump(event()), secret=OTHER_SECRET)

    assert (response.status_code, response.json()["error"]["code"]) == (401, "bad_signature")
    assert nothing_stored()


def test_each_organisation_has_its_own_address_and_secret(account: Account) -> None:
    body = dump(event())

    taken = post(body, path="/webhooks/other/item-created", secret=OTHER_SECRET)
    of_nobody = post(
        dump(event(user_id="nobody")), path="/webhooks/other/item-created", secret=OTHER_SECRET
    )
    refused = post(body, path="/webhooks/other/item-created", secret=SECRET)
    unknown = post(body, path="/webhooks/nobody/item-created", secret=SECRET)

    assert [r.status_code for r in (taken, of_nobody, refused, unknown)] == [202, 202, 401, 401]
    assert refused.content == unknown.content
    # The other organisation has no such user: the same is stored as of one that nobody has.
    stored = Delivery.objects.filter(organisation__slug="other", account=None, state="queued")
    assert stored.count() == Delivery.objects.count() == 2


def test_a_changed_body_does_not_fit_its_signature() -> None:
    now = datetime.now(UTC)
    signature = Webhook(SECRET).sign("msg_1", now, dump(event()).decode())

    response = post(
        dump(event(user_id="omar")),
        id="msg_1",
        at=now,
        headers={"webhook-signature": signature},
    )

    assert response.status_code == 401
    assert nothing_stored()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"[]", "invalid_json"),
        (b"null", "invalid_json"),
        (b'{"user_id": "a", "user_id": "b"}', "invalid_json"),
        (b'{"user_id": NaN}', "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (dump(event(surprise=1)), "invalid"),
        (dump(event(kind="deleted")), "invalid"),
        (dump(event(user_id=7)), "invalid"),
        (dump(event(user_id="")), "invalid"),
        (dump(event(user_id="x" * 201)), "invalid"),
        (dump(event(source="hotmail")), "invalid"),
        (dump(event(data=[1])), "invalid"),
        (dump(event(timestamp="yesterday")), "invalid"),
        (dump(event(timestamp="2026-11-20T10:00:00")), "invalid"),
        (dump({"user_id": "maya", "source": "gmail"}), "invalid"),
        (dump(event(data={"id": 0.5})).replace(b"0.5", b"1e999"), "invalid"),
        (dump(event(data={"a": json.loads("[" * 150 + "]" * 150)})), "invalid"),
        (dump(event(timestamp="0001-01-01T00:00:00+14:00")), "invalid"),
    ],
)
def test_a_bad_body_is_refused_with_a_sentence_and_nothing_stored(body: bytes, code: str) -> None:
    response = post(body)

    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, code)
    assert error["message"].endswith(".")
    assert nothing_stored()


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(HOSTILE),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(HOSTILE), inner),
        max_leaves=20,
    ),
    field=st.sampled_from(["data", "changes", "user_id", "source_id", "timestamp"]),
)
@settings(max_examples=200, deadline=None)
def test_whatever_stands_in_a_body_is_taken_or_refused_in_words(value: Any, field: str) -> None:
    body = event(**{field: {"x": value} if field in ("data", "changes") else value})
    with transaction.atomic():
        before = Delivery.objects.count()

        response = post(dump(body))

        assert response.status_code in (202, 400)
        if response.status_code == 400:
            assert response.json()["error"]["message"].endswith(".")
        assert Delivery.objects.count() - before == (response.status_code == 202)
        transaction.set_rollback(True)


def test_what_cannot_be_stored_is_left_out_and_the_event_is_taken(account: Account) -> None:
    response = post(dump(event(data={"id": "m1", "sub\x00ject": ["Ann\x00\ud800"]})))

    assert response.status_code == 202
    assert Delivery.objects.get().body["data"] == {"id": "m1", "subject": ["Ann?"]}


def test_a_body_over_the_limit_is_refused() -> None:
    response = post(dump(event(data={"body_text": "x" * 2_000_000})))

    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")
    assert nothing_stored()


@pytest.mark.django_db(transaction=True)
def test_with_a_full_disk_the_sender_hears_to_come_again_and_then_taken(account: Account) -> None:
    with failing_with("integrations_delivery", "53100"):
        full = post(dump(event()), id="msg_1")
    stored = Delivery.objects.count()
    again = post(dump(event()), id="msg_1")

    assert (full.status_code, full.json()["error"]["code"]) == (503, "storage_full")
    assert full.headers["Retry-After"] == "60"
    assert stored == 0
    assert (again.status_code, again.json()["status"]) == (202, "accepted")


def test_only_post_is_allowed() -> None:
    assert Client().get("/webhooks/item-created").status_code == 405


def test_a_deletion_carries_no_data(account: Account) -> None:
    path = "/webhooks/item-deleted"

    assert post(dump(event(data=None, content_type=None)), path=path).status_code == 202
    assert post(dump(event()), path=path).status_code == 400


def test_an_update_carries_the_full_item(account: Account) -> None:
    body = event(data=None, full_data={"id": "m1"}, changes={"labels": ["A"]})

    assert post(dump(body), path="/webhooks/item-updated").status_code == 202
    assert Delivery.objects.get().body["data"] == {"id": "m1"}


def test_the_number_of_queries_is_fixed(
    account: Account, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(1):
        post(dump(event()))
