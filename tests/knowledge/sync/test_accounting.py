from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from agents.models import Turn
from integrations.contracts import AccountRef
from integrations.models import Account, Delivery, Organisation
from knowledge.models import SyncFailure, SyncRun, SyncSource
from knowledge.sync.accounting import Line, balance
from tests.clients import log_in
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db

SINCE = datetime(2000, 1, 1, tzinfo=UTC)


def delivered(owner: AccountRef, state: str, reason: str = "", **fields: Any) -> Delivery:
    return Delivery.objects.create(
        **{
            "organisation_id": owner.organisation_id,
            "account_id": owner.id,
            "webhook_id": f"w{Delivery.objects.count()}",
            "kind": "created",
            "source": owner.source,
            "source_id": "m1",
            "body": {},
            "state": state,
            "reason": reason,
            **fields,
        }
    )


def synced(owner: AccountRef, **fields: Any) -> SyncSource:
    run = SyncRun.objects.create(organisation_id=owner.organisation_id, external_user_id="maya")
    return SyncSource.objects.create(run=run, account_id=owner.id, since=SINCE, **fields)


def lines(owner: AccountRef, since: datetime = SINCE) -> dict[str, Line]:
    return {line.way: line for line in balance(organisation_id=owner.organisation_id, since=since)}


def test_every_delivery_is_in_one_column_and_every_skip_and_dead_letter_has_its_reason() -> None:
    owner = account()
    for state, reason in (
        *(("processed", ""), ("processed", "model_unreachable"), ("skipped", "stale")),
        *(("skipped", "stale"), ("dead", "malformed_item"), ("queued", ""), ("running", "in_work")),
    ):
        delivered(owner, state, reason)

    Turn.objects.create(
        organisation_id=owner.organisation_id,
        external_user_id="maya",
        kind=Turn.Kind.INBOUND,
        account_id=owner.id,
        item_source_id="m1",
        delivery=Delivery.objects.filter(state="processed").first(),
    )

    line = lines(owner)["Webhooks and looks"]

    assert (line.handled, line.read) == (1, 1)
    counts = (line.received, line.processed, line.skipped, line.dead, line.in_work)
    assert counts == (7, 2, 2, 1, 2)
    assert line.reasons == {"stale": 2, "malformed_item": 1}
    assert line.missing == 0


def test_syncs_of_an_account_are_summed_with_their_reasons() -> None:
    owner = account()
    synced(owner, received=9, processed=5, skipped=3, failed=1, reasons={"stale": 3, "model": 1})
    synced(
        owner, state="done", received=4, skipped=3, failed=1, reasons={"stale": 3, "malformed": 1}
    )

    line = lines(owner)["Syncs"]

    assert (line.received, line.read, line.skipped, line.dead) == (13, 5, 6, 2)
    assert line.handled == 0  # a sync starts no agent
    assert line.reasons == {"stale": 6, "model": 1, "malformed": 1}
    assert line.missing == 0


def test_what_does_not_add_up_is_said() -> None:
    owner = account()
    synced(owner, received=9, processed=5)

    assert lines(owner)["Syncs"].missing == 4


def test_nothing_of_another_organisation_or_another_time_is_counted() -> None:
    owner, other = account(), account()
    delivered(other, "dead", "x")
    synced(other, received=1, processed=1)
    delivered(owner, "processed")
    future = datetime.now(UTC) + timedelta(hours=1)

    assert set(lines(owner)) == {"Webhooks and looks"}
    assert lines(owner, future) == {}


def test_deliveries_to_nobody_are_a_line_of_their_own() -> None:
    owner = account()
    delivered(owner, "skipped", "unknown_account", account_id=None)

    [line] = balance(organisation_id=owner.organisation_id, since=SINCE)
    assert (line.account, line.received, line.skipped) == ("No account", 1, 1)


def test_the_page_shows_the_balance_and_leads_to_dead_letters(admin_client: Client) -> None:
    owner = account()
    slug = Organisation.objects.get(pk=owner.organisation_id).slug
    sync = synced(owner, received=2, processed=1, failed=1, reasons={"malformed_item": 1})
    SyncFailure.objects.create(
        sync=sync, source_id="m7", reason="malformed_item", failed_at=datetime.now(UTC)
    )
    address = f"/admin/knowledge/syncrun/accounting/?organisation={slug}&days=0"

    page = admin_client.get(address).content.decode()

    assert "It adds up: all 2 items received are accounted for." in page
    assert "malformed item: 1" in page
    link = (
        f"/admin/knowledge/syncfailure/?state__exact=dead&amp;sync__account__id__exact={owner.id}"
    )
    assert link in page
    assert "m7" in admin_client.get(link.replace("&amp;", "&")).content.decode()


def test_the_page_tells_apart_what_came_and_leads_to_what_was_left_alone(
    admin_client: Client,
) -> None:
    owner, other = account(), account()
    Account.objects.filter(pk=other.id).update(
        organisation_id=owner.organisation_id, external_user_id="omar"
    )
    slug = Organisation.objects.get(pk=owner.organisation_id).slug
    delivered(owner, "processed")
    delivered(owner, "skipped", "own_mail", source_id="mine")
    delivered(
        other, "skipped", "own_mail", source_id="theirs", organisation_id=owner.organisation_id
    )
    synced(other)
    address = f"/admin/knowledge/syncrun/accounting/?organisation={slug}&days=0"

    page = admin_client.get(address)

    assert page.context["totals"] == [
        *(("Handled", 0), ("Only read", 1), ("Left alone", 2), ("Dead", 0), ("In work", 0)),
    ]
    # A line for each account that anything came to, and none where a sync found nothing.
    assert [line["way"] for line in page.context["lines"]] == ["Webhooks and looks"] * 2
    link = f"/admin/integrations/delivery/?state__exact=skipped&account__id__exact={owner.id}"
    assert link.replace("&", "&amp;") in page.content.decode()
    rows = admin_client.get(link).context["cl"].result_list
    assert [row.source_id for row in rows] == ["mine"]


def test_the_page_is_for_who_may_see_syncs() -> None:
    assert log_in("ann").get("/admin/knowledge/syncrun/accounting/").status_code == 403
