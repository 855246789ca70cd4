"""Is the process alive, and what can it not do? For load balancers and operators
(docs/operating.md says what to do about each code)."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_q.models import OrmQ

from agents.journal import leases
from audit.seals import progress
from integrations.llm import circuit
from integrations.models import Delivery, Outage, Upstream

LATE = timedelta(minutes=5)
WRITES_EVERY_SECONDS = 5.0
# What nobody can work without: a load balancer is to send requests elsewhere.
UNAVAILABLE = frozenset({"database", "ledger_database", "writes_fail"})
OF_PROVIDER = ("unavailable", "circuit_open", "too_slow", "rate_limited")
OF_BUDGET = ("budget_exhausted",)

# A sort that does not fit into memory writes a megabyte beside the tables, and nothing into them.
_WRITE = """
SELECT current_setting('transaction_read_only'), count(*)
FROM (SELECT md5(n::text) AS text FROM generate_series(1, 20000) AS n ORDER BY 1 OFFSET 0) AS sorted
"""


@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """The process answers. Touches nothing else."""
    return JsonResponse({"status": "ok"})


@require_GET
def ready(request: HttpRequest) -> JsonResponse:
    """What cannot be done, in codes; 503 where that is everything. No numbers and no names:
    who can reach it may read it."""
    codes = find_codes()
    status = "unavailable" if UNAVAILABLE & set(codes) else "degraded" if codes else "ready"
    body = {"status": status, "cannot": codes}
    return JsonResponse(body, status=503 if status == "unavailable" else 200)


def answer_probes(respond: Callable[[HttpRequest], HttpResponseBase]) -> Any:
    """Middleware in front of all that asks for a host and for HTTPS: who asks from beside the
    process, as the health check of a container does, comes by neither."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        probe = PROBES.get(request.path_info)
        return probe(request) if probe else respond(request)

    return answer


PROBES = {"/health": health, "/ready": ready}


def find_codes() -> list[str]:
    """What cannot be done now, of CODES."""
    codes = _missing()
    if codes:
        return codes
    try:
        return [code for code, is_so in CHECKS if is_so()]
    except DatabaseError:
        return ["database"]


def _missing() -> list[str]:
    return [*_unreached("default", "database"), *_unreached("ledger", "ledger_database")]


def _unreached(alias: str, code: str) -> Iterator[str]:
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        yield code


class Writes:
    """Whether the database can write. Tried every few seconds, however often it is asked."""

    def __init__(self) -> None:
        self._at, self._fail = float("-inf"), False

    def fail(self) -> bool:
        if time.monotonic() - self._at > WRITES_EVERY_SECONDS:
            self._fail, self._at = not self._go_well(), time.monotonic()
        return self._fail

    def _go_well(self) -> bool:
        try:
            with transaction.atomic(), connections["default"].cursor() as cursor:
                cursor.execute("SET LOCAL work_mem = '64kB'")
                cursor.execute(_WRITE)
                read_only, _ = cursor.fetchone()
        except DatabaseError:
            return False
        return bool(read_only == "off")


WRITES = Writes()


def _queue_grows() -> bool:
    """A task waits, a delivery, or a chat turn, for minutes. (One that is worked on is locked until
    later.)"""
    before = timezone.now() - LATE
    return (
        OrmQ.objects.filter(lock__lt=before).exists()
        or Delivery.objects.waiting().filter(lease_expires_at__lt=before).exists()
        or leases.list_waiting(now=before).exists()
    )


def _provider_is_away() -> bool:
    return (
        Upstream.objects.filter(opened_until__isnull=False).exists()
        or Outage.objects.filter(code__in=OF_PROVIDER).exists()
    )


def _model_is_away() -> bool:
    others = Outage.objects.exclude(code__in=[*OF_PROVIDER, *OF_BUDGET])
    return circuit.is_any_open() or others.exists()


CHECKS: tuple[tuple[str, Callable[[], bool]], ...] = (
    ("writes_fail", WRITES.fail),
    ("seals_lag", progress.is_any_behind),
    ("queue_grows", _queue_grows),
    ("provider_away", _provider_is_away),
    ("model_away", _model_is_away),
    ("budget_empty", Outage.objects.filter(code__in=OF_BUDGET).exists),
)
CODES = ("database", "ledger_database", *(code for code, _ in CHECKS))
