"""The API of what models used and cost, by user and model."""

from datetime import timedelta
from typing import Any

from django.db.models import Avg, Count, Q, Sum
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from integrations.models import ModelCall
from integrations.web.authentication import HasScope, caller_for, caller_of
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer

MOST_ROWS = 1000
MOST_DAYS = 400


class UsageQuery(StrictSerializer):
    user_id = StrictCharField(max_length=200, required=False)
    days = serializers.IntegerField(default=1, min_value=1, max_value=MOST_DAYS)


class UsageRow(serializers.Serializer[Any]):
    user_id = serializers.CharField(source="external_user_id")
    model = serializers.CharField()
    calls = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Of the calls, those that were not answered.")
    prompt_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField(help_text="Of the prompts' tokens.")
    answer_tokens = serializers.IntegerField()
    cost = serializers.DecimalField(max_digits=20, decimal_places=8, help_text="US dollars")
    latency_ms = serializers.IntegerField(help_text="The mean of a call.")


class UsageShape(serializers.Serializer[Any]):
    since = serializers.DateTimeField()
    rows = UsageRow(many=True, help_text="The dearest first, at most 1,000.")


class UsageView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(
        parameters=[
            OpenApiParameter("user_id", str, description="Of one user; else of all."),
            OpenApiParameter(
                "days",
                int,
                description=f"So many times 24 hours back, 1 to {MOST_DAYS}. Usually 1.",
            ),
        ],
        responses=UsageShape,
        operation_id="usage",
    )
    def get(self, request: Request) -> Response:
        """What calls of models used and cost, for each user and model. Budgets count the same."""
        asked = UsageQuery.read(request.query_params.dict())
        user_id = asked.get("user_id")
        caller = caller_for(request, user_id) if user_id else caller_of(request)
        since = timezone.now() - timedelta(days=asked["days"])
        calls = ModelCall.objects.filter(organisation_id=caller.organisation_id, at__gt=since)
        if user_id:
            calls = calls.filter(external_user_id=user_id)
        elif caller.user_ids:
            calls = calls.filter(external_user_id__in=caller.user_ids)
        rows = (
            calls.order_by()
            .values("external_user_id", "model")
            .annotate(
                calls=Count("id"),
                failed=Count("id", filter=~Q(error_code="")),
                prompt_tokens=Sum("prompt_tokens"),
                cached_tokens=Sum("cached_tokens"),
                answer_tokens=Sum("answer_tokens"),
                cost=Sum("cost"),
                latency_ms=Avg("latency_ms"),
            )
            .order_by("-cost", "external_user_id", "model")[:MOST_ROWS]
        )
        return Response(UsageShape({"since": since, "rows": rows}).data)
