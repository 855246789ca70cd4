from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import OrmQ

from knowledge.ingest.ingest import ingest
from knowledge.models import (
    Chunk,
    EmbeddingModel,
    Entity,
    Item,
    SyncFailure,
    SyncRun,
    SyncSource,
)
from knowledge.sync import runs as sync_runs
from tests.clients import log_in
from tests.knowledge.office import NOW, account, email
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

PAGES = ["item", "entity", "syncrun", "syncsource", "syncfailure", "embeddingmodel"]


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
    failure = SyncFailure.objects.create(
        sync=source, source_id="<b>x</b>", reason="r", failed_at=NOW
    )
    return {
        "item": Item.objects.get(),
        "entity": Entity.objects.first(),
        "syncrun": SyncRun.objects.get(),
        "syncsource": source,
        "syncfailure": failure,
        "embeddingmodel": EmbeddingModel.objects.create(name="first", started_at=NOW),
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
    assert len(found.context["cl"].result_list) == 1
    assert not [s for s in statements if "LIKE" in s and "knowledge_item" in s]
    assert not [s for s in statements if s == 'SELECT COUNT(*) AS "__count" FROM "knowledge_item"']


@pytest.mark.parametrize("few", [0, 1, 3, 1_000])
def test_few_and_many_items_are_found_alike(
    admin_client: Client,
    rows: dict[str, Any],
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
) -> None:
    monkeypatch.setattr("knowledge.admin.items.FEW", few)
    owner = account(user="omar")
    for number in range(3):
        mail = email(id=f"o{number}", subject="Roof", date=f"2026-03-0{number + 1}T09:00:00Z")
        ingest(account=owner, source_id=mail.id, item=mail, now=NOW)

    def found(**asked: str) -> list[str]:
        page = admin_client.get("/admin/knowledge/item/", asked)
        return [row.source_id for row in page.context["cl"].result_list]

    assert found(q="roof") == ["o2", "o1", "o0"]
    assert found(q="o1") == ["o1"]
    assert found(q="submarine") == []
    last = str(Item.objects.get(source_id="o2").pk)
    assert found(q="roof", before=last) == ["o1", "o0"]
    assert found(q="roof", source__exact="jira") == []


@pytest.mark.parametrize("looked_at", [1, 3, 4, 1_000])
def test_what_many_items_hold_is_found_page_by_page_to_the_last(
    admin_client: Client,
    rows: dict[str, Any],
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    looked_at: int,
) -> None:
    monkeypatch.setattr("knowledge.admin.items.LOOKED_AT", looked_at)
    monkeypatch.setattr("knowledge.admin.items.FEW", 2)
    monkeypatch.setattr(type(site._registry[Item]), "list_per_page", 2)
    owner = account(user="omar")
    for number in range(9):
        words = "Budget" if number in (3, 6) else "Roof"
        mail = email(id=f"o{number}", subject=words, date=f"2026-03-0{number + 1}T09:00:00Z")
        ingest(account=owner, source_id=mail.id, item=mail, now=NOW)

    seen, before = list[str](), ""
    while True:
        answer = admin_client.get("/admin/knowledge/item/", {"q": "roof", "before": before})
        found = list(answer.context["cl"].result_list)
        seen += [row.source_id for row in found]
        if b'rel="next"' not in answer.content:
            break
        before = str(found[-1].pk)

    assert seen == ["o8", "o7", "o5", "o4", "o2", "o1", "o0"]


def test_nothing_is_found_for_words_that_are_nowhere(
    admin_client: Client, rows: dict[str, Any]
) -> None:
    found = admin_client.get("/admin/knowledge/item/", {"q": "submarine"})

    assert len(found.context["cl"].result_list) == 0


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


def operate(client: Client, page: str, action: str, pk: object) -> None:
    body = {"action": action, "_selected_action": [str(pk)]}
    client.post(f"/admin/knowledge/{page}/", body, follow=True)


def test_a_sync_is_cancelled_and_a_dead_letter_taken_up_by_who_may(
    admin_client: Client, rows: dict[str, Any]
) -> None:
    operate(admin_client, "syncrun", "cancel", rows["syncrun"].pk)
    operate(admin_client, "syncfailure", "retry", rows["syncfailure"].pk)

    assert SyncSource.objects.get().state == "cancelled"
    assert SyncFailure.objects.get().state == "queued"
    assert OrmQ.objects.count() == 1


def test_who_may_only_look_operates_nothing(rows: dict[str, Any]) -> None:
    client = log_in("ann", "view_syncrun", "view_syncfailure")
    operate(client, "syncrun", "cancel", rows["syncrun"].pk)
    operate(client, "syncfailure", "retry", rows["syncfailure"].pk)

    assert SyncSource.objects.get().state == "queued"
    assert SyncFailure.objects.get().state == "dead"
    assert not OrmQ.objects.exists()


def test_the_page_of_a_sync_says_how_far_it_is(admin_client: Client, rows: dict[str, Any]) -> None:
    SyncSource.objects.update(
        state="running",
        received=100,
        processed=90,
        skipped=9,
        failed=1,
        remaining=300,
        started_at=timezone.now() - timedelta(seconds=60),
    )

    address = f"/admin/knowledge/syncrun/{rows['syncrun'].pk}/change/"
    content = admin_client.get(address).content.decode()
    SyncSource.objects.update(restarts=2)
    later = admin_client.get(address).content.decode()

    assert "had expired" not in content
    assert "had expired: read again from the start of the window, 2 times." in later
    assert 'data-live="on"' in content
    assert "100 items read so far." in content
    assert 'max="100" value="25"' in content
    assert "25 % · 100 read = 90 processed + 9 skipped + 1 dead · 300 to come" in content
    assert "about 3 min to go" in content


@pytest.mark.parametrize("page", ["item", "entity"])
def test_each_page_goes_on_after_the_last_row_of_the_one_before(
    admin_client: Client, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    owner = account()
    for number, day in enumerate((3, 1, 2, 2, 2)):  # some at the same time
        mail = email(id=f"m{number}", date=f"2026-03-0{day}T09:00:00Z", to=[f"p{number}@x.example"])
        ingest(account=owner, source_id=mail.id, item=mail, now=NOW)
    shown: Any = type(site._registry[apps.get_model("knowledge", page)])
    monkeypatch.setattr(shown, "list_per_page", 2)
    seen: list[Any] = []
    before = ""
    with CaptureQueriesContext(connection) as queries:
        while True:
            answer = admin_client.get(f"/admin/knowledge/{page}/", {"before": before})
            found = list(answer.context["cl"].result_list)
            seen += found
            if b'rel="next"' not in answer.content:
                break
            before = str(found[-1].pk)

    everything = apps.get_model("knowledge", page).objects.all()
    by = shown.newest_by
    assert seen == list(everything.order_by(f"-{by}", "-pk"))
    assert b"Nothing older" in answer.content
    assert not [
        q
        for q in queries.captured_queries
        if f'FROM "knowledge_{page}"' in q["sql"] and q["sql"].startswith("SELECT COUNT")
    ]


@pytest.mark.parametrize("before", ["nonsense", "00000000-0000-0000-0000-000000000000"])
def test_a_page_after_a_row_that_is_not_there_is_the_first_one(
    admin_client: Client, rows: dict[str, Any], before: str
) -> None:
    found = admin_client.get("/admin/knowledge/item/", {"before": before})

    assert found.status_code == 200
    assert len(found.context["cl"].result_list) == 1


def test_the_list_of_embedding_models_tells_which_is_searched_by_and_how_far_one_is(
    admin_client: Client, rows: dict[str, Any], settings: Any
) -> None:
    settings.EMBEDDING_MODEL = "new"
    old, last = NOW - timedelta(days=1), Chunk.objects.latest("pk").pk
    for name, completed_at, done in (("now", NOW, 0), ("new", None, last // 2), ("old", None, 0)):
        EmbeddingModel.objects.create(
            name=name, started_at=old, completed_at=completed_at, done_up_to=done
        )
    shown = admin_client.get("/admin/knowledge/embeddingmodel/").content.decode()

    assert "Searches use it" in shown
    assert f"Being filled: {100 * (last // 2) // last} %" in shown
    assert "Not used any more" in shown


def test_the_page_of_an_embedding_model_says_its_state_in_words(
    admin_client: Client, rows: dict[str, Any]
) -> None:
    row = EmbeddingModel.objects.create(name="now", started_at=NOW, completed_at=NOW)

    shown = admin_client.get(f"/admin/knowledge/embeddingmodel/{row.pk}/change/").content.decode()

    assert "Searches use it" in shown
    assert "(&#x27;searched&#x27;" not in shown
