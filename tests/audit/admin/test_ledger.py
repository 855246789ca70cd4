import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape
from pytest_django.fixtures import Settings

from audit.admin.ledger import LedgerAdmin
from audit.contracts import Artifact
from audit.formats import parquet
from audit.keeping import rewrapping
from audit.ledger import ledger, policies, search, selectors, vault
from audit.ledger.ids import uuid7
from audit.ledger.vault import DataKeys
from audit.models import ExecutedAgentAction
from tests.audit import sealed
from tests.audit.bundle import files
from tests.audit.entries import append_action, entry
from tests.audit.tampering import tampered
from tests.clients import read_page

pytestmark = [
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    pytest.mark.urls("tests.audit.urls"),
]

LIST = "/admin/audit/executedagentaction/"
LOCKED = escape(selectors.LOCKED)


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("olga"))
    return client


def text(html: str) -> str:
    """What a reader sees: tags out, blanks folded, entities left as they are."""
    return " ".join(re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL).split())


def address(action_id: UUID) -> str:
    return f"{LIST}{selectors.recorded(action_id)[0].id}/change/"


def test_the_list_has_one_line_an_action_with_its_latest_phase(operator: Client) -> None:
    account_id = uuid4()
    append_action(
        tenant_id=uuid4(),
        account_id=account_id,
        actor_id="orchestrator",
        on_behalf_of="maya",
        payload={"description": "Archive “Lunch”", "sentence": "It is listed."},
        decision_reason="option_listed",
    )
    html = read_page(operator, f"{LIST}?account_id={account_id}")
    seen = text(html)
    assert re.search(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC Done: Archive “Lunch”\. It is listed\. archive "
        r"succeeded allowed: option listed "
        r"Agent orchestrator maya",
        seen,
    )
    assert seen.count("archive succeeded") == 1
    assert "pending allowed" not in seen


def test_filters_and_search_choose(operator: Client) -> None:
    account_id = uuid4()
    same: dict[str, Any] = {"tenant_id": uuid4(), "account_id": account_id}
    wanted = append_action(**same, run_id=f"turn-{account_id}", action_type="archive")
    append_action(**same, status="failed", action_type="draft")
    for query in (
        f"account_id={account_id}&status=succeeded",
        f"account_id={account_id}&action_type=archive&hours=1",
        f"tenant_id={same['tenant_id']}&status=succeeded",
        f"run_id=turn-{account_id}",
        f"q={wanted}",
        f"q=turn-{account_id}",
    ):
        seen = text(read_page(operator, f"{LIST}?{query}"))
        assert seen.count("archive succeeded") == 1, query
        assert "draft failed" not in seen, query
    assert "draft failed" in text(read_page(operator, f"{LIST}?q={account_id}"))
    assert "archive succeeded" not in text(read_page(operator, f"{LIST}?account_id=nonsense"))


def test_the_list_goes_on_behind_the_last_action_it_showed(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LedgerAdmin, "list_per_page", 2)
    tenant_id = uuid4()
    made = [str(append_action(tenant_id=tenant_id)) for _ in range(5)]
    seen, query = [], f"tenant_id={tenant_id}"
    for _ in range(3):
        html = read_page(operator, f"{LIST}?{query}")
        shown = [
            str(row.action_id) for row in operator.get(f"{LIST}?{query}").context["cl"].result_list
        ]
        seen += shown
        older = re.search(r'rel="next" href="\?([^"]+)"', html)
        append_action(tenant_id=tenant_id)  # what comes meanwhile shifts nothing
        if older is None:
            break
        query = older[1].replace("&amp;", "&")
    assert seen == made[::-1]
    assert older is None
    assert "9999999999" not in html
    with CaptureQueriesContext(connections["ledger"]) as queries:
        read_page(operator, f"{LIST}?{query}")
    assert not any(re.search(r"OFFSET [1-9]", one["sql"]) for one in queries)


def test_a_thing_is_found_by_its_id_at_the_provider(operator: Client) -> None:
    tenant_id, thing = uuid4(), f"mail-{uuid4()}"
    wanted = append_action(tenant_id=tenant_id, resource_id=thing, action_type="archive")
    made = append_action(tenant_id=tenant_id, action_type="other")
    for _ in range(2):
        found = operator.get(f"{LIST}?q={thing}").context["cl"].result_list
        assert [row.action_id for row in found] == [wanted]
    by_artifact = operator.get(f"{LIST}?q=draft-1&tenant_id={tenant_id}").context["cl"].result_list
    assert [row.action_id for row in by_artifact] == [made, wanted]
    assert list(operator.get(f"{LIST}?q=mail-nobody").context["cl"].result_list) == []


def test_the_list_takes_the_same_few_queries_whatever_the_ledger_holds(operator: Client) -> None:
    tenant_id = uuid4()
    numbers = []
    for _ in range(2):
        for _ in range(5):
            append_action(tenant_id=tenant_id)
        with CaptureQueriesContext(connections["ledger"]) as queries:
            read_page(operator, f"{LIST}?tenant_id={tenant_id}")
        numbers.append(len(queries))
        assert not any("COUNT(" in query["sql"] for query in queries)
    assert numbers[0] == numbers[1] <= 5


def test_the_detail_shows_every_phase_with_payload_and_artifacts(operator: Client) -> None:
    action_id = append_action(
        tenant_id=uuid4(),
        resource_type="email",
        resource_id="mail-7",
        payload={"decision": {"sentence": "The label is one of the options."}},
    )
    html = read_page(operator, address(action_id))
    seen = text(html)
    assert re.search(r"Attempt pending \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", seen)
    assert re.search(r"Outcome succeeded \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", seen)
    assert "The label is one of the options." in seen
    assert "Resource email mail-7" in seen
    assert "Draft gmail draft-1" in seen
    assert 'href="https://mail.example/d/1"' in html


def test_text_of_strangers_is_escaped_and_its_hidden_characters_are_shown(
    operator: Client,
) -> None:
    hostile = "<script>alert(1)</script>\u202egnp.exe\u200b"
    action_id = append_action(
        tenant_id=uuid4(),
        action_type=hostile,
        resource_id=hostile,
        payload={"subject": hostile, "decision": "text"},
    )
    ledger.append(
        entry(
            action_id=action_id,
            phase="control",
            status="recorded",
            artifacts=(
                Artifact(
                    kind=hostile, provider="x", external_id=hostile, url="javascript:alert(1)"
                ),
            ),
        )
    )
    html = read_page(operator, address(action_id))
    assert "<script>alert" not in html
    assert "⟨U+202E⟩gnp.exe⟨U+200B⟩" in html
    assert 'href="javascript:' not in html
    assert "<script>alert" not in read_page(operator, f"{LIST}?q={action_id}")


def test_an_address_stays_good_when_phases_follow(operator: Client) -> None:
    action_id = append_action(tenant_id=uuid4(), status="pending")
    before = address(action_id)
    ledger.append(entry(action_id=action_id, phase="outcome", status="succeeded"))
    assert "Outcome" in text(read_page(operator, before))


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_pages_refuse_every_method_that_changes(operator: Client, method: str) -> None:
    action_id = append_action(tenant_id=uuid4())
    before = selectors.recorded(action_id)
    row = address(action_id)
    for target in (LIST, row, f"{LIST}export/csv/"):
        assert getattr(operator, method)(target).status_code == 405, target
    for target in (f"{LIST}add/", row.replace("change", "delete")):
        assert getattr(operator, method)(target).status_code == 403, target
    assert selectors.recorded(action_id) == before


def test_no_page_offers_to_change_anything(operator: Client) -> None:
    action_id = append_action(tenant_id=uuid4())
    for html in (read_page(operator, LIST), read_page(operator, address(action_id))):
        assert 'name="_save"' not in html
        assert f"{LIST}add/" not in html
        assert "/delete/" not in html


def test_an_unknown_row_leads_back(operator: Client) -> None:
    for row in ("999999999", "nonsense"):
        assert operator.get(f"{LIST}{row}/change/").status_code == 302


def test_export_links_carry_the_filters_and_the_export_obeys_them(operator: Client) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    append_action(tenant_id=tenant_id, status="failed")
    html = read_page(operator, f"{LIST}?tenant_id={tenant_id}&status=failed")
    (link,) = re.findall(r'href="([^"]*export/csv/[^"]*)"', html)
    response = operator.get(link.replace("&amp;", "&"))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(
        r'attachment; filename="remit-ledger-\d{8}T\d{6}Z\.csv"', response["Content-Disposition"]
    )
    lines = response.getvalue().decode().splitlines()
    assert len(lines) == 3
    recorded = selectors.recorded(UUID(response["X-Ledger-Export"]))
    assert [(row.status, row.actor_id) for row in recorded] == [
        ("pending", "operator:olga"),
        ("succeeded", "operator:olga"),
    ]


def test_an_export_asks_for_the_organisation_when_there_are_several(operator: Client) -> None:
    append_action(tenant_id=uuid4())
    append_action(tenant_id=uuid4())
    response = operator.get(f"{LIST}export/jsonl/?status=failed", follow=True)
    assert response.redirect_chain == [(f"{LIST}?status=failed", 302)]
    assert "Choose an organisation in the filters first" in response.content.decode()


def test_a_bundle_is_downloaded_for_the_organisation_chosen(operator: Client) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    refused = operator.get(f"{LIST}export/bundle/?tenant_id={tenant_id}", follow=True)
    assert (
        "Nothing of this organisation, or not its last erasure, is sealed yet."
        in refused.content.decode()
    )
    sealed.seal(tenant_id)
    html = read_page(operator, f"{LIST}?tenant_id={tenant_id}&status=failed")
    (link,) = re.findall(r'href="([^"]*export/bundle/[^"]*)"', html)
    response = operator.get(link.replace("&amp;", "&"))
    assert response["Content-Type"] == "application/zip"
    held = files.lines(files.unpack(response.getvalue()), "ledger")
    assert [row["status"] for row in held] == ["pending", "succeeded"]


def test_the_list_says_how_far_the_ledger_is_sealed(operator: Client) -> None:
    tenant_id = uuid4()
    assert "Nothing is sealed yet." in text(read_page(operator, f"{LIST}?tenant_id={tenant_id}"))
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    seen = text(read_page(operator, f"{LIST}?tenant_id={tenant_id}"))
    assert re.search(r"Sealed \d+ s ago, 2 records\.", seen)
    assert "Choose an organisation under Filters" not in seen
    append_action(tenant_id=uuid4())
    assert "Choose an organisation under Filters" in text(read_page(operator, LIST))


def test_actions_whose_clocks_disagree_are_marked_and_found(operator: Client) -> None:
    tenant_id = uuid4()
    now = datetime.now(UTC)
    fine = append_action(tenant_id=tenant_id)
    behind = append_action(tenant_id=tenant_id, occurred_at=now - timedelta(minutes=5))
    ahead = uuid7()
    same = {"tenant_id": tenant_id, "action_id": ahead}
    ledger.append(entry(**same, occurred_at=now + timedelta(hours=1)))
    ledger.append(entry(**same, phase="outcome", status="succeeded"))

    marked = text(read_page(operator, f"{LIST}?tenant_id={tenant_id}"))
    assert marked.count("⚠ clocks apart") == 2
    found = operator.get(f"{LIST}?tenant_id={tenant_id}&clocks=apart").context["cl"].result_list
    assert {row.action_id for row in found} == {behind, ahead}
    seen = text(read_page(operator, address(behind)))
    assert re.search(r"⚠ The worker&#x27;s clock was 30\d\.\d s behind the database&#x27;s", seen)
    assert "s ahead of the database&#x27;s" in text(read_page(operator, address(ahead)))
    assert "⚠" not in text(read_page(operator, address(fine)))

    response = operator.get(f"{LIST}export/jsonl/?tenant_id={tenant_id}&clocks=apart")
    rows = [json.loads(line) for line in response.getvalue().decode().splitlines()]
    assert {row["action_id"] for row in rows[:-1]} == {str(behind), str(ahead)}
    assert rows[-1]["manifest"]["filters"] == {"clocks_apart": True}


def test_what_was_begun_is_looked_for_in_the_newest_rows_and_the_page_says_so(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "NEWEST", 5)
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, status="pending")
    append_action(tenant_id=tenant_id)
    begun = append_action(tenant_id=tenant_id, status="pending")
    append_action(tenant_id=tenant_id)

    page = operator.get(f"{LIST}?tenant_id={tenant_id}&status=pending")

    assert [row.action_id for row in page.context["cl"].result_list] == [begun]
    assert search.HOW_FAR_BEGUN in text(page.content.decode())
    other = read_page(operator, f"{LIST}?tenant_id={tenant_id}&status=failed")
    assert search.HOW_FAR_BEGUN not in text(other)


def test_parquet_is_offered_where_it_can_be_made(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant_id = uuid4()
    assert "export/parquet/" in read_page(operator, f"{LIST}?tenant_id={tenant_id}")
    monkeypatch.setattr(parquet, "pyarrow", None)
    assert "export/parquet/" not in read_page(operator, f"{LIST}?tenant_id={tenant_id}")


def test_an_unknown_format_is_not_found(operator: Client) -> None:
    assert operator.get(f"{LIST}export/xlsx/?tenant_id={uuid4()}").status_code == 404


def test_staff_who_may_not_see_the_ledger_see_nothing(client: Client) -> None:
    user = User.objects.create_user("sam", is_staff=True)
    client.force_login(user)
    for target in (LIST, f"{LIST}export/csv/?tenant_id={uuid4()}"):
        assert client.get(target).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_executedagentaction"))
    assert client.get(LIST).status_code == 200


def test_a_refusal_lists_what_was_checked_in_order(operator: Client) -> None:
    checks = [
        {"name": "switches", "passed": True, "detail": ""},
        {"name": "target to[0]", "passed": False, "detail": "“<b>x</b>\u200b” (to[0])"},
    ]
    action_id = append_action(tenant_id=uuid4(), payload={"decision": {"checks": checks}})
    html = read_page(operator, address(action_id))
    seen = text(html)
    assert "✓ passed: switches ✗ failed: target to — “&lt;b&gt;x" in seen
    assert "⟨U+200B⟩” (to[0])" in seen
    assert "<b>x</b>" not in html


def test_a_filtered_list_offers_its_rows_with_a_proof_each(
    operator: Client, tmp_path: Path
) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    append_action(tenant_id=tenant_id, status="failed")
    sealed.seal(tenant_id)
    whole = read_page(operator, f"{LIST}?tenant_id={tenant_id}&hours=24")
    assert "filtered_bundle" not in whole
    html = read_page(operator, f"{LIST}?tenant_id={tenant_id}&status=failed")
    (link,) = re.findall(r'href="([^"]*export/filtered_bundle/[^"]*)"', html)
    data = operator.get(link.replace("&amp;", "&")).getvalue()
    held = files.lines(files.unpack(data), "ledger")
    assert [row["status"] for row in held] == ["pending", "failed"]
    assert files.check(tmp_path, data, sealed.key(tenant_id)) == 0


@pytest.fixture
def fresh_keys() -> Iterator[DataKeys]:
    with mock.patch.object(vault, "keys", DataKeys()) as keys:
        yield keys


@pytest.fixture
def locked(settings: Settings, fresh_keys: DataKeys) -> Iterator[list[UUID]]:
    """Three actions of an organisation whose data key was wrapped with another vault key."""
    tenant_id, before = uuid4(), settings.LEDGER_VAULT_KEY
    settings.LEDGER_VAULT_KEY = "another"
    said = {"description": f"Archive “Layoffs {tenant_id}”", "sentence": "It is listed."}
    made = [append_action(tenant_id=tenant_id, payload=said) for _ in range(3)]
    settings.LEDGER_VAULT_KEY = before
    fresh_keys.forget(tenant_id)
    yield made
    settings.LEDGER_VAULT_KEY_BEFORE = "another"  # other tests and programs open all keys
    rewrapping.rewrap(tenant_id, vault.load_wrapped(tenant_id) or b"", actor_id="command:test")


def row_of(action_id: UUID) -> str:
    return f"{LIST}{ExecutedAgentAction.objects.filter(action_id=action_id)[0].pk}/change/"


def tenant_of(action_id: UUID) -> UUID:
    found: UUID = ExecutedAgentAction.objects.filter(action_id=action_id)[0].tenant_id
    return found


def test_the_list_of_all_shows_those_that_open_and_says_which_do_not(
    operator: Client, locked: list[UUID]
) -> None:
    append_action(tenant_id=uuid4(), payload={"description": "Archive “Lunch”"})

    page = operator.get(LIST)

    html = page.content.decode()
    # Other tests' rows are there too.
    shown = [one for one in page.context["cl"].result_list if one.action_id in locked]
    assert [(one.why_closed, one.payload) for one in shown] == [(selectors.LOCKED, {})] * 3
    assert html.count(f"Done: archive. {LOCKED}") >= 3
    assert "Done: Archive “Lunch”." in html
    assert f"Layoffs {tenant_of(locked[0])}" not in html


def test_a_key_that_does_not_open_is_tried_once_a_page(
    operator: Client, locked: list[UUID]
) -> None:
    with CaptureQueriesContext(connections["ledger"]) as asked:
        read_page(operator, LIST)

    tenant_id = tenant_of(locked[0]).hex
    tried = [one for one in asked if "audit_data_key" in one["sql"] and tenant_id in one["sql"]]
    assert len(tried) == 1


def test_a_rows_page_says_so_and_shows_what_stands_in_the_clear(
    operator: Client, locked: list[UUID]
) -> None:
    html = read_page(operator, row_of(locked[0]))

    assert LOCKED in html
    assert str(locked[0]) in html
    assert "Layoffs" not in html
    assert "It is listed." not in html


def test_what_was_exchanged_is_not_shown_as_what_was_stored(operator: Client) -> None:
    tenant_id = uuid4()
    first, second = (
        append_action(tenant_id=tenant_id, payload={"description": f"Archive “Bonus {one}”"})
        for one in range(2)
    )
    taken = f"(SELECT box FROM audit_payload WHERE action_id = '{second}' ORDER BY row_id LIMIT 1)"

    with tampered(f"UPDATE audit_payload SET box = {taken} WHERE action_id = '{first}'"):
        html = read_page(operator, f"{LIST}?q={first}")
        page = read_page(operator, row_of(first))

    assert f"Done: archive. {escape(selectors.ALTERED)}" in html
    assert "Bonus" not in html
    assert escape(selectors.ALTERED) in page
    assert "Bonus" not in page


def test_a_policy_that_does_not_open_is_said_to_be_locked(
    operator: Client, locked: list[UUID], settings: Settings, fresh_keys: DataKeys
) -> None:
    tenant_id = tenant_of(locked[0])
    body = f'{{"of": "{tenant_id}"}}'
    digest = sha256(body.encode()).hexdigest()
    before, settings.LEDGER_VAULT_KEY = settings.LEDGER_VAULT_KEY, "another"
    policies.store(tenant_id=tenant_id, digest=digest, body=body)
    settings.LEDGER_VAULT_KEY = before
    fresh_keys.forget(tenant_id)

    html = read_page(operator, f"/admin/audit/ledgerpolicy/{digest}/change/")

    assert LOCKED in html
    assert escape(body) not in html
