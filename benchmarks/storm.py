"""A user who is read while everything goes wrong, beside one who is read in peace: both have the
same objects at the provider, and both must have the same here afterwards, with all accounted for.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

Object = dict[str, Any]
Objects = dict[str, list[Object]]  # by collection
Control = Callable[..., Any]  # of the sandbox: method, path, body

CALM, STORM = "calm", "storm"
FAULTS = {
    "error_rate": 0.05,
    "timeout_rate": 0.05,
    "rate_limit_rate": 0.02,
    "duplicate_webhooks": True,
    "reorder_webhooks": True,
    "seed": 1,
}
SOURCES = {"emails": "gmail", "documents": "gdrive", "issues": "jira", "events": "calendar"}
BATCH = 50


def connect(control: Control, user: str, objects: Objects) -> None:
    """A user with these objects at the provider and accounts for them here."""
    from integrations.models import Account, Organisation

    organisation, _ = Organisation.objects.get_or_create(
        slug="default", defaults={"name": "Default"}
    )
    control("POST", f"/users/{user}", {"address": f"{user}@company.example", "name": user})
    for collection, wanted in objects.items():
        Account.objects.create(
            organisation=organisation, external_user_id=user, source=SOURCES[collection]
        )
        for start in range(0, len(wanted), BATCH):
            body = {"items": wanted[start : start + BATCH], "notify": False}
            control("POST", f"/users/{user}/{collection}", body)


def change(control: Control, user: str, objects: Objects) -> Iterator[None]:
    """The same changes for every user: contents, flags, deletions, and some put back."""
    texts = {
        "emails": "subject",
        "documents": "content_text",
        "issues": "summary",
        "events": "title",
    }
    for collection, wanted in objects.items():
        path = f"/users/{user}/{collection}"
        for number, item in enumerate(wanted):
            match number % 12:
                case 1:
                    body = {texts[collection]: f"Changed {number} {item[texts[collection]][:50]}"}
                    control("PATCH", f"{path}/{item['id']}", body)
                    body = {texts[collection]: f"Changed again {number}"}
                    control("PATCH", f"{path}/{item['id']}", body)
                case 4:
                    control("DELETE", f"{path}/{item['id']}")
                case 7 if collection != "emails":  # a mail that comes back is a new mail
                    control("DELETE", f"{path}/{item['id']}")
                    back = item | {texts[collection]: f"Put back {number}"}
                    control("POST", path, {"items": [back]})
                case _:
                    continue
            yield


def begin(user: str) -> None:
    """Ask for a first sync."""
    from integrations.models import Organisation
    from knowledge.tasks import start_sync

    organisation = Organisation.objects.get(slug="default")
    assert start_sync(organisation_id=organisation.pk, external_user_id=user)


def contents(user: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    """What the user has here, by source and id at the provider."""
    from knowledge.models import Chunk, Item

    rows = Item.objects.filter(account__external_user_id=user)
    passages: dict[Any, list[str]] = {}
    chunks = Chunk.objects.filter(item__in=rows, vectors__isnull=False).order_by("position")
    for item_id, digest in chunks.values_list("item_id", "digest"):
        passages.setdefault(item_id, []).append(digest)
    return {
        (row.source, row.source_id): ("deleted", row.title, row.text)
        if row.deleted_at  # before it was read or after: its version differs
        else (
            *(row.title, row.text, row.summary, row.content_hash, row.source_version),
            *(row.metadata, passages.get(row.pk, [])),
        )
        for row in rows
    }


def balance() -> list[Any]:
    """What came in and what became of it, by account and way."""
    from integrations.models import Organisation
    from knowledge.sync import accounting

    organisation = Organisation.objects.get(slug="default")
    return accounting.balance(
        organisation_id=organisation.pk, since=datetime(2000, 1, 1, tzinfo=UTC)
    )


def findings(control: Control) -> dict[str, int]:
    """What is wrong after the storm, counted."""
    from integrations.models import Delivery
    from knowledge.models import SyncSource

    expected, found = contents(CALM), contents(STORM)
    sent, lines = control("GET", "/webhooks"), balance()
    syncs = SyncSource.objects.filter(run__external_user_id=STORM)
    return {
        "syncs_not_done": syncs.exclude(state="done").count(),
        "not_accounted_for": sum(abs(line.missing) for line in lines),
        "dead": sum(line.dead for line in lines),
        "webhooks_lost": sent["delivered"] + sent["dead"] - Delivery.objects.count(),
        "items_missing": len(expected.keys() - found.keys()),
        "items_too_many": len(found.keys() - expected.keys()),
        "items_different": sum(found.get(key) != value for key, value in expected.items()),
    }
