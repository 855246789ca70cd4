"""What the admin's pages about syncs show: how far one is, and whether all adds up."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from integrations.models import Organisation
from integrations.registry import BY_SOURCE
from knowledge.contracts import SourceProgress, SyncProgress
from knowledge.models import SyncRun, SyncSource
from knowledge.sync import accounting, runs as sync_runs

PERIODS = ((1, "the last day"), (7, "the last week"), (30, "the last 30 days"), (0, "ever"))
MANY = 100
STATES = {
    "queued": "It waits for a worker.",
    "running": "It is being read.",
    "done": "It is done.",
    "failed": "It stopped before its end.",
    "cancelled": "It was cancelled.",
}


def run_context(run: SyncRun, *, now: datetime) -> dict[str, Any]:
    """How far a sync is, for `knowledge/run.html`."""
    progress = sync_runs.progress(organisation_id=run.organisation_id, run_id=run.pk, now=now)
    if progress is None:
        return {}
    rows = dict(SyncSource.objects.filter(run=run).values_list("account_id", "pk"))
    return {
        "progress": progress,
        "sentence": _sentence(progress),
        "sources": [
            {
                "value": source,
                "label": BY_SOURCE[source.source].label,
                "eta": _eta(source),
                "link": reverse(
                    "admin:knowledge_syncsource_change", args=[rows[source.account_id]]
                ),
            }
            for source in progress.sources
        ],
    }


def _sentence(progress: SyncProgress) -> str:
    received = sum(source.received for source in progress.sources)
    return f"{STATES[progress.state]} {received:,} items read so far."


def _eta(source: SourceProgress) -> str:
    if source.next_try_at:
        return f"tried again at {source.next_try_at.astimezone(UTC):%H:%M:%S} UTC"
    seconds = source.eta_seconds
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {seconds} s to go"
    return f"about {round(seconds / 60)} min to go"


def accounting_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The balance of one organisation over a time."""
    organisations = list(Organisation.objects.order_by("slug")[:MANY])
    wanted = request.GET.get("organisation", "default")
    organisation = next((row for row in organisations if row.slug == wanted), None)
    organisation = organisation or next(iter(organisations), None)
    asked = request.GET.get("days", "")
    days = next((value for value, _ in PERIODS if str(value) == asked), 7)
    since = timezone.now() - timedelta(days=days) if days else datetime(2000, 1, 1, tzinfo=UTC)
    lines = accounting.balance(organisation_id=organisation.pk, since=since) if organisation else []
    context |= {
        "title": "Accounting",
        "organisations": organisations,
        "organisation": organisation,
        "periods": PERIODS,
        "days": days,
        "lines": [
            {**vars(line), "missing": line.missing, "link": _letters(line)} for line in lines
        ],
        "received": sum(line.received for line in lines),
        "missing": sum(abs(line.missing) for line in lines),
    }
    return TemplateResponse(request, "knowledge/accounting.html", context)


def _letters(line: accounting.Line) -> str:
    """The list of this line's dead letters."""
    if line.way == accounting.READS:
        address = reverse("admin:knowledge_syncfailure_changelist")
        return f"{address}?state__exact=dead&sync__account__id__exact={line.account_id}"
    address = reverse("admin:integrations_delivery_changelist")
    return f"{address}?state__exact=dead&source__exact={BY_LABEL.get(line.source, '')}"


BY_LABEL = {connector.label: connector.source for connector in BY_SOURCE.values()}
