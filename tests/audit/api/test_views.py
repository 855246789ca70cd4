import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client

from audit.ledger import selectors
from audit.ledger.ids import uuid7
from integrations.models import Organisation, ServiceToken
from tests.audit import sealed
from tests.audit.bundle import files
from tests.audit.entries import append_action

pytestmark = [
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    pytest.mark.urls("tests.audit.urls"),
]

LEDGER = "/api/v1/ledger"


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug=f"o-{uuid4().hex}", name="Office")


def bearer(organisation: Organisation, **fields: Any) -> dict[str, str]:
    fields = {"scopes": ["audit:read"], "name": "auditor"} | fields
    _, plain = ServiceToken.issue(organisation=organisation, **fields)
    return {"Authorization": f"Bearer {plain}"}


def ask(
    organisation: Organisation, address: str = LEDGER, *, expect: int = 200, **params: Any
) -> Any:
    response = Client().get(address, params, headers=bearer(organisation))
    assert response.status_code == expect, response.content
    return response.json()


def ids_of(answer: Any) -> list[UUID]:
    return [UUID(item["action_id"]) for item in answer["items"]]


def test_actions_are_listed_newest_first_page_by_page(organisation: Organisation) -> None:
    made = [append_action(tenant_id=organisation.id) for _ in range(3)]
    first = ask(organisation, limit=2)
    assert ids_of(first) == [made[2], made[1]]
    second = ask(organisation, limit=2, cursor=first["next_cursor"])
    assert ids_of(second) == [made[0]]
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    "odd",
    [
        {"cursor": "<>"},
        {"cursor": "\x00"},
        {"cursor": str(UUID(int=0))},
        {"cursor": str(UUID(int=2**128 - 1))},
        {"cursor": str(uuid4())},
        {"until": "1969-12-31T23:59:59Z"},
        {"until": "0001-01-01T00:00:00+14:00"},
        {"since": "9999-12-31T23:59:59-14:00"},
        {"since": "0001-01-01T00:00:00Z", "until": "0001-01-02T00:00:00Z"},
        {"user_id": "\x00"},
        {"run_id": "\ud800"},
        {"action_type": "x" * 10_000},
        {"limit": "9" * 5000},
        {"account_id": "1"},
    ],
)
def test_an_odd_parameter_is_answered_or_refused_in_words(
    organisation: Organisation, odd: dict[str, str]
) -> None:
    client = Client(raise_request_exception=False)
    given = {name: value.encode("utf-8", "surrogatepass") for name, value in odd.items()}

    response = client.get(LEDGER, given, headers=bearer(organisation))

    assert response.status_code in (200, 400)
    if response.status_code == 400:
        assert response.json()["error"]["message"]


def test_an_item_says_what_was_done_and_why(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id, resource_id="mail-1", decision_reason="option_listed")
    (item,) = ask(organisation)["items"]
    assert item["status"] == "succeeded"
    assert item["decision_reason"] == "option_listed"
    assert item["resource_id"] == "mail-1"
    assert item["payload"] == {"arguments": {"email_id": "mail-1"}}
    assert item["artifacts"] == [
        {
            "kind": "draft",
            "provider": "gmail",
            "external_id": "draft-1",
            "url": "https://mail.example/d/1",
        }
    ]
    assert item["recorded_at"].endswith("Z")


def test_filters_choose(organisation: Organisation) -> None:
    failed = append_action(tenant_id=organisation.id, status="failed", on_behalf_of="maya")
    append_action(tenant_id=organisation.id, run_id="turn-1")
    assert ids_of(ask(organisation, status="failed")) == [failed]
    assert ids_of(ask(organisation, user_id="maya")) == [failed]
    assert len(ids_of(ask(organisation, run_id="turn-1"))) == 1
    assert ids_of(ask(organisation, since="2100-01-01T00:00:00Z")) == []
    assert ids_of(ask(organisation, account_id=str(uuid4()))) == []


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"status": "done"}, "status"),
        ({"since": "yesterday"}, "since"),
        ({"account_id": "1"}, "account_id"),
        ({"limit": "0"}, "limit"),
        ({"limit": "201"}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"since": "2026-11-02", "until": "2026-11-01"}, "until"),
        ({"tenant_id": str(uuid4())}, "tenant_id"),
        ({"action_type": "a\x00b"}, "action_type"),
    ],
)
def test_a_wrong_parameter_is_named(
    organisation: Organisation, params: dict[str, str], named: str
) -> None:
    response = Client().get(LEDGER, params, headers=bearer(organisation))
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == [named]


def test_the_timeline_holds_every_phase_oldest_first(organisation: Organisation) -> None:
    action_id = append_action(tenant_id=organisation.id)
    answer = ask(organisation, f"{LEDGER}/{action_id}")
    assert [item["phase"] for item in answer["items"]] == ["attempt", "outcome"]


def test_nothing_crosses_from_one_organisation_to_another(organisation: Organisation) -> None:
    other = append_action(tenant_id=uuid4())
    assert ids_of(ask(organisation)) == []
    unknown = ask(organisation, f"{LEDGER}/{uuid7()}", expect=404)
    assert ask(organisation, f"{LEDGER}/{other}", expect=404) == unknown


def test_a_token_of_some_users_sees_only_their_actions(organisation: Organisation) -> None:
    mine = append_action(tenant_id=organisation.id, on_behalf_of="maya")
    others = append_action(tenant_id=organisation.id, on_behalf_of="omar")
    headers = bearer(organisation, user_ids=["maya"])
    client = Client()
    assert ids_of(client.get(LEDGER, headers=headers).json()) == [mine]
    assert client.get(f"{LEDGER}/{mine}", headers=headers).status_code == 200
    assert client.get(f"{LEDGER}/{others}", headers=headers).status_code == 404
    assert client.get(LEDGER, {"user_id": "omar"}, headers=headers).status_code == 403
    lines = client.get(f"{LEDGER}/export", headers=headers).getvalue().splitlines()
    assert {json.loads(line)["on_behalf_of"] for line in lines[:-1]} == {"maya"}


def test_without_the_scope_or_a_token_nothing_is_shown(organisation: Organisation) -> None:
    for address in (LEDGER, f"{LEDGER}/{uuid7()}", f"{LEDGER}/export"):
        assert Client().get(address).status_code == 401
        headers = bearer(organisation, scopes=["chat"])
        assert Client().get(address, headers=headers).status_code == 403


def test_views_are_closed_until_somebody_says_who_may(organisation: Organisation) -> None:
    assert Client().get("/closed", headers=bearer(organisation)).status_code == 403


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_written(organisation: Organisation, method: str) -> None:
    for address in (LEDGER, f"{LEDGER}/{uuid7()}", f"{LEDGER}/export"):
        response = getattr(Client(), method)(address, headers=bearer(organisation))
        assert response.status_code == 405


def test_an_export_is_streamed_with_its_manifest_and_recorded(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id)
    headers = bearer(organisation)
    response = Client().get(f"{LEDGER}/export", {"format": "jsonl"}, headers=headers)
    assert response.streaming
    assert response["Content-Type"] == "application/x-ndjson"
    *lines, last = response.getvalue().splitlines(keepends=True)
    manifest = json.loads(last)["manifest"]
    assert manifest["rows"] == len(lines) == 2
    assert manifest["sha256"] == hashlib.sha256(b"".join(lines)).hexdigest()
    recorded = selectors.recorded(UUID(response["X-Ledger-Export"]))
    assert recorded[-1].actor_id.startswith("token:")


def test_an_export_as_csv(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id)
    response = Client().get(f"{LEDGER}/export", {"format": "csv"}, headers=bearer(organisation))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert len(response.getvalue().splitlines()) == 3


@pytest.mark.parametrize(
    ("format", "kind", "suffix"),
    [
        ("ocsf", "application/x-ndjson", ".ocsf.jsonl"),
        ("parquet", "application/vnd.apache.parquet", ".parquet"),
    ],
)
def test_an_export_as_events_or_columns(
    organisation: Organisation, format: str, kind: str, suffix: str
) -> None:
    append_action(tenant_id=organisation.id)
    params, headers = {"format": format}, bearer(organisation)
    response = Client().get(f"{LEDGER}/export", params, headers=headers)
    assert response["Content-Type"] == kind
    assert f'{suffix}"' in response["Content-Disposition"]
    data = response.getvalue()
    assert data[:4] == b"PAR1" if format == "parquet" else json.loads(data.splitlines()[0])


def test_parquet_without_its_package_is_a_refusal(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit.formats.parquet.pyarrow", None)
    answer = ask(organisation, f"{LEDGER}/export", expect=400, format="parquet")
    assert "pyarrow" in str(answer["error"]["fields"]["format"])
    assert ids_of(ask(organisation)) == []


def test_an_unknown_format_is_refused_and_nothing_is_recorded(organisation: Organisation) -> None:
    answer = ask(organisation, f"{LEDGER}/export", expect=400, format="xlsx")
    assert list(answer["error"]["fields"]) == ["format"]
    assert ids_of(ask(organisation)) == []


def test_an_export_is_streamed_under_asgi_too(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id)
    headers = bearer(organisation)

    async def fetch() -> bytes:
        response: Any = await AsyncClient().get(f"{LEDGER}/export", headers=headers)
        assert response.is_async
        data = b"".join([chunk async for chunk in response])
        await sync_to_async(connections.close_all)()  # those of the thread that read
        return data

    lines = asyncio.run(fetch()).splitlines()
    assert json.loads(lines[-1])["manifest"]["rows"] == 2


def test_a_bundle_is_handed_out_and_its_program_finds_it_sound(
    organisation: Organisation, tmp_path: Path
) -> None:
    append_action(tenant_id=organisation.id)
    assert ask(organisation, f"{LEDGER}/bundle", expect=409)["error"]
    sealed.seal(organisation.id)
    response = Client().get(f"{LEDGER}/bundle", headers=bearer(organisation))
    assert response["Content-Type"] == "application/zip"
    data = response.getvalue()
    assert files.check(tmp_path, data, sealed.key(organisation.id)) == 0
    assert len(files.lines(files.unpack(data), "ledger")) == 2
    recorded = selectors.recorded(UUID(response["X-Ledger-Export"]))
    assert [(row.status, row.actor_id[:6]) for row in recorded] == [
        ("pending", "token:"),
        ("succeeded", "token:"),
    ]


def test_a_token_for_some_users_gets_no_bundle(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id)
    sealed.seal(organisation.id)
    headers = bearer(organisation, user_ids=["maya"])
    assert Client().get(f"{LEDGER}/bundle", headers=headers).status_code == 403


@pytest.mark.parametrize("wrong", [{"since": "yesterday"}, {"status": "done"}])
def test_a_wrong_filter_of_a_bundle_is_refused(
    organisation: Organisation, wrong: dict[str, str]
) -> None:
    answer = ask(organisation, f"{LEDGER}/bundle", expect=400, **wrong)
    assert list(answer["error"]["fields"]) == list(wrong)


def test_a_filtered_bundle_is_handed_out(organisation: Organisation, tmp_path: Path) -> None:
    append_action(tenant_id=organisation.id, on_behalf_of="omar")
    mine = append_action(tenant_id=organisation.id, on_behalf_of="maya")
    sealed.seal(organisation.id)
    headers = bearer(organisation)
    response = Client().get(f"{LEDGER}/bundle", {"user_id": "maya"}, headers=headers)
    data = response.getvalue()
    held = files.lines(files.unpack(data), "ledger")
    assert [row["action_id"] for row in held] == [str(mine)] * 2
    assert files.check(tmp_path, data, sealed.key(organisation.id)) == 0
