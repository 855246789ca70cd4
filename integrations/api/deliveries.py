"""The API of webhooks that were accepted, for the service that sends them: what became of each."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from integrations.models import Delivery
from integrations.web.authentication import HasScope, caller_for, caller_of
from integrations.web.cursors import PageFields, page
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField


class DeliveriesFields(PageFields):
    user_id = StrictCharField(max_length=200, required=False)
    webhook_id = StrictCharField(max_length=200, required=False)
    state = serializers.ChoiceField(choices=Delivery.State.choices, required=False)


class DeliveryRow(serializers.ModelSerializer[Delivery]):
    user_id = serializers.CharField(
        source="account.external_user_id",
        default=None,
        allow_null=True,
        help_text="Null where no account fits.",
    )
    reason = serializers.CharField(help_text="Why it was skipped or given up, as a code.")

    class Meta:
        model = Delivery
        fields: ClassVar = [
            *("id", "webhook_id", "user_id", "kind", "source", "source_id", "state", "reason"),
            *("attempts", "received_at", "finished_at"),
        ]


class DeliveryPage(serializers.Serializer[Any]):
    items = DeliveryRow(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Null after the last page.")


class DeliveriesView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("webhooks")]

    @extend_schema(parameters=[DeliveriesFields], responses=DeliveryPage, operation_id="deliveries")
    def get(self, request: Request) -> Response:
        """The webhooks that were accepted and what became of each, newest first. Webhooks
        themselves are signed and need no token."""
        chosen = DeliveriesFields.read(request.query_params.dict())
        user_id = chosen.get("user_id")
        caller = caller_for(request, user_id) if user_id else caller_of(request)
        rows = Delivery.objects.select_related("account").defer("body")
        rows = rows.filter(organisation_id=caller.organisation_id)
        if user_id or caller.user_ids:
            wanted = [user_id] if user_id else caller.user_ids
            rows = rows.filter(account__external_user_id__in=wanted)
        given = {name: chosen[name] for name in ("webhook_id", "state") if name in chosen}
        items, after = page(rows.filter(**given), chosen, by="received_at")
        return Response(DeliveryPage({"items": items, "next_cursor": after}).data)
