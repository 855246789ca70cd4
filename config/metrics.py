"""What Prometheus reads: what cannot be done, what waits and for how long, and the last hour.

All of it is counted in the database when it is asked for, so every web process answers alike and a
restart loses nothing. Nobody is named: no organisation, no user, no address. docs/operating.md has
the alerts and what to do about each.
"""

import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Min, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_q.models import OrmQ
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from agents.journal import leases
from agents.models import Escalation, Turn
from audit.ledger import selectors
from audit.seals import progress
from config import health
from guardrails.models import Approval, ChangeRequest, HeldSend
from integrations.models import Credential, Delivery, ModelCall, Outage
from knowledge.models import SyncFailure
from knowledge.search import graph

RECENT = timedelta(hours=1)
# An attempt is settled within seconds; what is still open then waits for a provider or a person.
OPEN_AFTER, OPEN_MOST = timedelta(minutes=5), 1000
Labelled = Iterable[tuple[str, float]]


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics as text. Who does not show METRICS_TOKEN learns nothing, not even that they
    are here."""
    if not settings.METRICS_TOKEN or not _is_known(request.headers.get("Authorization", "")):
        raise Http404
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Remit(now=timezone.now()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _is_known(given: str) -> bool:
    return secrets.compare_digest(given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode())


class Remit(Collector):
    """The figures of one moment."""

    def __init__(self, *, now: datetime) -> None:
        self.now = now

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        cannot = health.find_codes()
        yield _by_label(
            "remit_cannot",
            "1 where this cannot be done now; the codes of /ready.",
            "code",
            [(code, code in cannot) for code in health.CODES],
        )
        if not health.UNAVAILABLE & set(cannot):
            yield from self._waiting()
            yield from self._recent()

    def _waiting(self) -> Iterator[Metric]:
        """What waits now, and for how long the oldest of it has."""
        unsealed = progress.load_oldest_wait() or timedelta()
        waiting: dict[str, tuple[int, float]] = {
            "task": self._wait(OrmQ.objects.filter(lock__lte=self.now), "lock"),
            "turn": self._wait(leases.list_waiting(now=self.now), "lease_expires_at"),
            "delivery": self._wait(
                Delivery.objects.filter(state=Delivery.State.QUEUED), "received_at"
            ),
            "approval": self._wait(
                Approval.objects.filter(state=Approval.State.PENDING), "created_at"
            ),
            "escalation": self._wait(
                Escalation.objects.filter(state=Escalation.State.OPEN), "created_at"
            ),
            "change_request": self._wait(
                ChangeRequest.objects.filter(state=ChangeRequest.State.OPEN), "created_at"
            ),
            "held_send": self._wait(HeldSend.objects.filter(state=HeldSend.State.HELD), "held_at"),
        }
        yield _by_label(
            "remit_waiting",
            "How many wait now, by what they are.",
            "what",
            [(what, number) for what, (number, _) in waiting.items()],
        )
        yield _by_label(
            "remit_oldest_wait_seconds",
            "How long the oldest that waits has waited; 0 where nothing does.",
            "what",
            [
                *((what, seconds) for what, (_, seconds) in waiting.items()),
                ("seal", unsealed.total_seconds()),
            ],
        )
        yield _by_label(
            "remit_dead_letters",
            "What could not be handled or read in and waits for a person, by where it came from.",
            "of",
            [
                ("delivery", Delivery.objects.filter(state=Delivery.State.DEAD).count()),
                ("sync", SyncFailure.objects.filter(state=SyncFailure.State.DEAD).count()),
            ],
        )
        yield GaugeMetricFamily(
            "remit_open_attempts",
            f"Actions of the last day whose outcome is not known after 5 minutes, {OPEN_MOST} at "
            "most.",
            value=len(
                selectors.open_attempts(
                    older_than=self.now - OPEN_AFTER,
                    newer_than=self.now - timedelta(days=1),
                    limit=OPEN_MOST,
                )
            ),
        )
        yield _by_label(
            "remit_accounts_waiting",
            "Accounts whose incoming items wait, by what is away.",
            "code",
            _counted(Outage.objects.all(), "code"),
        )
        yield GaugeMetricFamily(
            "remit_accounts_signed_out",
            "People's own accounts whose server refused the sign-in: somebody must sign in again.",
            value=Credential.objects.filter(state=Credential.State.SIGN_IN).count(),
        )
        yield GaugeMetricFamily(
            "remit_vectors_waiting",
            "Vectors of large accounts that wait for the graph; searches compare them one by one.",
            value=graph.count_waiting(),
        )

    def _recent(self) -> Iterator[Metric]:
        """What came and was done in the last hour."""
        since = self.now - RECENT
        yield _by_label(
            "remit_deliveries_last_hour",
            "Deliveries received in the last hour, by what became of them.",
            "state",
            _counted(Delivery.objects.filter(received_at__gte=since), "state"),
        )
        yield _by_label(
            "remit_turns_last_hour",
            "Turns begun in the last hour, by how they stand.",
            "state",
            _counted(Turn.objects.filter(created_at__gte=since), "state"),
        )
        yield _by_label(
            "remit_actions_last_hour",
            "Actions asked for in the last hour, by their latest status in the ledger.",
            "status",
            selectors.count_recent(since=since).items(),
        )
        calls = ModelCall.objects.filter(at__gte=since)
        yield _by_label(
            "remit_model_calls_last_hour",
            "Calls of models in the last hour, by error code; empty where none.",
            "error",
            _counted(calls, "error_code"),
        )
        used = calls.aggregate(
            prompt=Sum("prompt_tokens"),
            cached=Sum("cached_tokens"),
            answer=Sum("answer_tokens"),
            cost=Sum("cost"),
        )
        yield _by_label(
            "remit_model_tokens_last_hour",
            "Tokens of models in the last hour. Cached ones are among the prompt's.",
            "kind",
            [(kind, used[kind] or 0) for kind in ("prompt", "cached", "answer")],
        )
        yield GaugeMetricFamily(
            "remit_model_cost_usd_last_hour",
            "What models cost in the last hour, in US dollars.",
            value=float(used["cost"] or 0),
        )

    def _wait(self, rows: "QuerySet[Any]", since: str) -> tuple[int, float]:
        """How many there are, and for how many seconds the oldest has waited."""
        found = rows.order_by().aggregate(number=Count("pk"), oldest=Min(since))
        oldest = found["oldest"]
        return found["number"], max(0.0, (self.now - oldest).total_seconds()) if oldest else 0.0


def _counted(rows: "QuerySet[Any]", field: str) -> Labelled:
    return list(rows.order_by(field).values_list(field).annotate(number=Count("pk")))


def _by_label(name: str, documentation: str, label: str, values: Labelled) -> Metric:
    family = GaugeMetricFamily(name, documentation, labels=[label])
    for value, number in values:
        family.add_metric([value], float(number))
    return family
