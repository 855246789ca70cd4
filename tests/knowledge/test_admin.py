from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from knowledge import sync_runs
from knowledge.ingest import ingest
from knowledge.models import Entity, Item, SyncFailure, SyncRun, SyncSource
from tests.knowledge.office import NOW, account, email
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

PAGES = ["item", "entity", "syncrun", "syncsource"]


@pytest.fixture
def rows(model: ScriptedModel) -> dict[str, Any]:
    """One row of each page; the mail is hostile."""
    owner = account()
    mail = email(subject="<script>alert(1)</script>", body_text="<img src=x onerror=alert(2)>")
    ingest(account=owner, source_id="m1", item=mail, now=NOW)
    sync_runs.request_sync(
        organisation_id=owner.organisation_id, external_user_id="maya", now=timezone.now()
    )
    source = SyncSource.objects.get()
    SyncFailure.objects.create(sync=source, source_id="<b>x</b>", reason="r", failed_at=NOW)
    return {
        "item": Item.objects.get(),
        "entity": Entity.objects.first(),
        "syncrun": SyncRun.objects.get(),
        "syncsource": source,
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_and_changes_nothing(
    admin_client: Client, rows: dict[str, Any], page: str
) -> None:
    listed = admin_client.get(f"/admin/knowledge/{page}/")
    shown = admin_client.get(f"/admin/knowledge/{page}/{rows[page].pk}/change/")

    assert (listed.status_code, shown.status_code) == (200, 200)
    for content in (listed.content.decode(), shown.content.decode()):
        assert "<script>alert" not in content
        assert "<img src=x" not in content
        assert "<b>x</b>" not in content
    assert admin_client.get(f"/admin/knowledge/{page}/add/").status_code == 403
    for action in ("change", "delete"):
        address = f"/admin/knowledge/{page}/{rows[page].pk}/{action}/"
        assert admin_client.post(address, {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("wanted", ["alert", "m1", "JOHN@company.com"])
def test_items_are_found_through_an_index_and_without_counting_the_table(
    admin_client: Client, rows: dict[str, Any], wanted: str
) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found = admin_client.get("/admin/knowledge/item/", {"q": wanted})

    statements = [query["sql"] for query in queries.captured_queries]
    assert found.context["cl"].result_count == 1
    assert not [s for s in statements if "LIKE" in s and "knowledge_item" in s]
    assert not [s for s in statements if s == 'SELECT COUNT(*) AS "__count" FROM "knowledge_item"']


def test_nothing_is_found_for_words_that_are_nowhere(
    admin_client: Client, rows: dict[str, Any]
) -> None:
    found = admin_client.get("/admin/knowledge/item/", {"q": "submarine"})

    assert found.context["cl"].result_count == 0


@pytest.mark.parametrize("page", PAGES)
def test_a_list_takes_the_same_number_of_queries_whatever_it_holds(
    admin_client: Client, rows: dict[str, Any], model: ScriptedModel, page: str
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(f"/admin/knowledge/{page}/")
        return len(queries)

    admin_client.get(f"/admin/knowledge/{page}/")
    few = count()
    for number in range(3):
        owner = account(user=f"u{number}")
        ingest(account=owner, source_id="m1", item=email(), now=NOW)
        sync_runs.request_sync(
            organisation_id=owner.organisation_id,
            external_user_id=owner.external_user_id,
            now=timezone.now(),
        )

    assert count() == few
