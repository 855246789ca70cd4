"""An account that its operator narrowed: what is let in, and what becomes of the rest."""

from dataclasses import replace
from typing import Any

import pytest

from integrations.contracts import AccountRef
from knowledge.models import Chunk, Item, Mention
from knowledge.sync import deletions
from tests.knowledge.office import NOW, account, document, issue, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

SHEET = "application/vnd.ms-excel"
LATER = {"version": 2, "updated_at": "2026-03-03T09:00:00Z"}
Kept = dict[str, tuple[str, ...]]


def of(owner: AccountRef, **kept: tuple[str, ...]) -> AccountRef:
    return replace(owner, **kept)  # type: ignore[arg-type]  # the two fields that narrow


def stored() -> list[str]:
    return [*Item.objects.filter(deleted_at=None).values_list("title", flat=True)]


@pytest.mark.parametrize(
    ("source", "kept", "let_in", "left_out"),
    [
        ("jira", {"project_keys": ("PROJ",)}, issue(), issue(id="i2", project_key="OPS")),
        (
            "gdrive",
            {"mime_types": ("application/pdf",)},
            document(mime_type="application/pdf"),
            document(id="d2", mime_type=SHEET),
        ),
    ],
)
def test_what_is_not_let_in_costs_nothing_and_is_not_stored(
    source: str, kept: Kept, let_in: Any, left_out: Any, model: ScriptedModel
) -> None:
    owner = of(account(source=source), **kept)

    assert take(owner, left_out).state == "left_out"
    assert model.requests == []
    assert not Item.objects.exists()
    assert take(owner, let_in).state == "created"


def test_what_moves_out_of_reach_goes_and_comes_back_with_a_later_or_the_same_version(
    model: ScriptedModel,
) -> None:
    everything = account(source="jira")
    owner = of(everything, project_keys=("PROJ",))
    take(owner, issue())

    assert take(owner, issue(project_key="OPS", **LATER)).state == "left_out"
    assert stored() == []
    assert not Chunk.objects.exists()
    assert not Mention.objects.exists()
    # The operator lets it in again: what is listed then has not changed since.
    assert take(everything, issue(project_key="OPS", **LATER)).state == "created"
    assert stored() == ["PROJ-123 Login fails"]


def test_a_deletion_counts_whatever_was_left_out_since(model: ScriptedModel) -> None:
    owner = of(account(source="jira"), project_keys=("PROJ",))
    take(owner, issue())
    Item.objects.update(last_deleted_at="2026-03-01T12:00:00Z")  # restored after it

    take(owner, issue(project_key="OPS", **LATER))

    assert str(Item.objects.get().last_deleted_at) == "2026-03-01 12:00:00+00:00"


def test_the_sync_after_an_account_was_narrowed_forgets_the_rest(
    model: ScriptedModel, settings: Any
) -> None:
    owner = account(source="jira")
    take(owner, issue())
    take(owner, issue(id="i2", key="OPS-1", project_key="OPS", summary="Old"))
    settings.DATA_SERVICES = {owner.organisation_slug: "http://127.0.0.1:9/v1/data"}

    gone = deletions.forget_removed(of(owner, project_keys=("PROJ",)), since=NOW)

    assert next(gone) is True
    assert stored() == ["PROJ-123 Login fails"]
