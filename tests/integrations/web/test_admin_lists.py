from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin import site
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Conversation, Message, Turn
from integrations.models import Delivery, ModelCall
from integrations.web.admin_lists import NewestFirst
from knowledge.models import Entity, Item, SyncFailure, SyncRun, SyncSource
from tests.knowledge.office import account

BIG = (
    *(Item, Entity, SyncRun, SyncSource, SyncFailure),
    *(Delivery, ModelCall, Conversation, Message, Turn),
)


def shown(model: Any) -> Any:
    return site._registry[model]


@pytest.mark.parametrize("model", BIG)
def test_every_list_of_a_table_that_grows_goes_by_an_index_of_a_field_that_is_never_null(
    model: Any,
) -> None:
    page = shown(model)
    assert isinstance(page, NewestFirst)
    if page.newest_by != "pk":
        assert not model._meta.get_field(page.newest_by).null
        whole = [index.fields[0] for index in model._meta.indexes if not index.condition]
        assert f"-{page.newest_by}" in whole


@pytest.mark.django_db
@pytest.mark.parametrize("model", BIG)
def test_no_such_list_counts_its_table_or_skips_rows(admin_client: Client, model: Any) -> None:
    meta = model._meta
    address = f"/admin/{meta.app_label}/{meta.model_name}/"
    with CaptureQueriesContext(connection) as queries:
        answers = [admin_client.get(address), admin_client.get(address, {"before": "nonsense"})]
    assert [answer.status_code for answer in answers] == [200, 200]
    asked = [q["sql"] for q in queries.captured_queries if f'FROM "{meta.db_table}"' in q["sql"]]
    assert asked
    assert not [sql for sql in asked if sql.startswith("SELECT COUNT") or "OFFSET" in sql]


@pytest.mark.django_db
def test_a_filtered_list_goes_on_behind_its_last_row_though_many_failed_at_once(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = account()
    run = SyncRun.objects.create(organisation_id=owner.organisation_id, external_user_id="maya")
    sync = SyncSource.objects.create(run=run, account_id=owner.id, since=timezone.now())
    at = datetime(2026, 3, 9, tzinfo=UTC)
    for number, minutes in enumerate((3, 1, 2, 2, 2, 4)):
        SyncFailure.objects.create(
            sync=sync,
            source_id=f"m{number}",
            reason="malformed_item",
            failed_at=at + timedelta(minutes=minutes),
            state="queued" if number == 5 else "dead",
        )
    monkeypatch.setattr(type(shown(SyncFailure)), "list_per_page", 2)
    seen: list[str] = []
    chosen = {"state__exact": "dead", "sync__account__id__exact": str(owner.id)}
    while True:
        answer = admin_client.get("/admin/knowledge/syncfailure/", chosen)
        found = list(answer.context["cl"].result_list)
        seen += [row.source_id for row in found]
        if b'rel="next"' not in answer.content:
            break
        chosen["before"] = str(found[-1].pk)

    assert seen == ["m0", "m4", "m3", "m2", "m1"]
    assert b"Nothing older" in answer.content


@pytest.mark.django_db
@pytest.mark.parametrize("model", BIG)
def test_no_list_asks_a_whole_table_for_the_values_to_filter_by(
    admin_client: Client, model: Any
) -> None:
    address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    with CaptureQueriesContext(connection) as queries:
        page = admin_client.get(address, {"_facets": "1"})

    table = f'FROM "{model._meta.db_table}"'
    asked = [query["sql"] for query in queries if table in query["sql"]]
    # What is stopped says how many mails were left alone, by an index of those alone.
    asked = [sql for sql in asked if not sql.startswith('SELECT "guardrails_killswitch"')]
    assert page.status_code == 200
    assert asked
    assert [sql for sql in asked if sql.startswith(("SELECT DISTINCT", "SELECT COUNT"))] == []
    assert [sql for sql in asked if "LIMIT" not in sql] == []


@pytest.mark.django_db
def test_the_values_to_filter_by_are_those_of_the_newest_rows_and_the_chosen_one(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("integrations.web.admin_lists.RecentValues.looked_at", 2)
    owner = account()
    for model in ("old", "<b>large</b>", "small"):
        ModelCall.objects.create(
            organisation_id=owner.organisation_id, purpose="ingest", model=model, latency_ms=1
        )

    def offered(**asked: str) -> list[str]:
        page = admin_client.get("/admin/integrations/modelcall/", asked)
        [shown] = [one for one in page.context["cl"].filter_specs if one.title == "model"]
        assert "<b>large</b>" not in page.content.decode()
        return list(shown.lookup_choices)

    assert offered() == ["<b>large</b>", "small"]
    assert offered(model="old") == ["<b>large</b>", "old", "small"]
    found = admin_client.get("/admin/integrations/modelcall/", {"model": "old"})
    assert [row.model for row in found.context["cl"].result_list] == ["old"]
