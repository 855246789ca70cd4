"""Saved filters, through the pages."""

from uuid import UUID, uuid4

import pytest
from django.test import Client

from audit.models import SavedFilter
from tests.audit.entries import append_action
from tests.clients import log_in, log_in_superuser

pytestmark = [
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    pytest.mark.urls("tests.audit.urls"),
]
LIST = "/admin/audit/executedagentaction/"


def somebody(name: str) -> Client:
    return log_in_superuser(name)


@pytest.fixture
def olga() -> Client:
    return somebody("olga")


@pytest.fixture
def vera() -> Client:
    return somebody("vera")


@pytest.fixture
def tenant_id() -> UUID:
    found = uuid4()
    append_action(tenant_id=found, status="failed")
    return found


def page(client: Client, query: str = "") -> str:
    return client.get(f"{LIST}?{query}").content.decode()


def save(client: Client, query: str, name: str = "Mine", **more: str) -> str:
    answer = client.post(f"{LIST}saved/?{query}", {"name": name, **more}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_present_filter_is_kept_and_chosen_again_by_one_click(
    olga: Client, vera: Client, tenant_id: UUID
) -> None:
    query = f"status=failed&tenant_id={tenant_id}"
    assert "Save these filters as" in page(olga, query)
    assert "Save these filters as" not in page(olga, f"before={UUID(int=0)}")

    told = save(olga, f"{query}&before={uuid4()}&p=7", "My <b>failures")

    assert "Saved as “My &lt;b&gt;failures”." in told
    assert SavedFilter.objects.get().query == query
    assert f'href="?{query.replace("&", "&amp;")}" aria-current="page"' in told
    assert "My &lt;b&gt;failures" in page(olga)
    assert "My &lt;b&gt;failures" not in page(vera, f"tenant_id={tenant_id}")


def test_a_shared_one_is_seen_in_its_organisation_and_is_its_owners_to_delete(
    olga: Client, vera: Client, tenant_id: UUID
) -> None:
    save(olga, f"status=failed&tenant_id={tenant_id}", "Failures", shared="on")
    found = SavedFilter.objects.get()

    assert "Failures" in page(vera, f"tenant_id={tenant_id}")
    assert "Failures" not in page(vera, f"tenant_id={uuid4()}")
    assert "Delete the saved filter" not in page(vera, f"tenant_id={tenant_id}")
    assert vera.post(f"{LIST}saved/{found.pk}/delete/").status_code == 404
    assert "Delete the saved filter Failures" in page(olga)
    assert "Deleted." in olga.post(f"{LIST}saved/{found.pk}/delete/", follow=True).content.decode()
    assert not SavedFilter.objects.exists()


def test_the_same_name_replaces_ones_own_only(olga: Client, vera: Client) -> None:
    save(olga, "status=failed")
    save(vera, "status=denied")
    save(olga, "status=blocked")
    assert sorted(SavedFilter.objects.values_list("query", flat=True)) == [
        "status=blocked",
        "status=denied",
    ]


@pytest.mark.parametrize(
    ("query", "name", "more", "why"),
    [
        ("status=failed", "  ", {}, "Give the filters a name."),
        ("status=failed", "a\u202eb", {}, "Give the filters a name."),
        ("", "Mine", {}, "Choose a filter first"),
        ("p=3&surprise=1", "Mine", {}, "Choose a filter first"),
        ("status=failed", "Mine", {"shared": "on"}, "Choose an organisation"),
    ],
)
def test_what_cannot_be_kept_says_why(
    olga: Client, tenant_id: UUID, query: str, name: str, more: dict[str, str], why: str
) -> None:
    append_action(tenant_id=uuid4())
    answer = olga.post(f"{LIST}saved/?{query}", {"name": name, **more})
    assert answer.status_code == 302
    assert not SavedFilter.objects.exists()
    assert why in page(olga)


def test_fifty_are_enough(olga: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.admin.saved_filters.MAX_SAVED", 2)
    for name in ("a", "b", "c", "a"):
        save(olga, "status=failed", name)
    assert sorted(SavedFilter.objects.values_list("name", flat=True)) == ["a", "b"]


def test_who_may_not_see_the_ledger_keeps_nothing(olga: Client) -> None:
    stranger = log_in("stan")
    save(olga, "status=failed")
    found = SavedFilter.objects.get()
    for address in (f"{LIST}saved/?status=failed", f"{LIST}saved/{found.pk}/delete/"):
        assert stranger.post(address, {"name": "x"}).status_code == 403
        assert olga.get(address).status_code == 405
    assert SavedFilter.objects.count() == 1
