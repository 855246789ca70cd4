"""Is the process alive, and can it do its work? For load balancers and operators."""

from django.db import DatabaseError, connections
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET


@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """The process answers. Touches nothing else."""
    return JsonResponse({"status": "ok"})


@require_GET
def ready(request: HttpRequest) -> JsonResponse:
    """Both database connections answer; 503 and which one when not."""
    for alias in ("default", "ledger"):
        try:
            with connections[alias].cursor() as cursor:
                cursor.execute("SELECT 1")
        except DatabaseError:
            return JsonResponse({"status": "unavailable", "what": f"database {alias}"}, status=503)
    return JsonResponse({"status": "ready"})
