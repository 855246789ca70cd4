"""The API's way to take an action back."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.api.scope import caller_for
from guardrails.execute import undo
from integrations.web.authentication import HasScope
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer


class Command(StrictSerializer):
    user_id = StrictCharField(max_length=200)


class Undone(serializers.Serializer[Any]):
    action_id = serializers.UUIDField(
        help_text="The undoing action's id in the ledger, or the action's own when none began."
    )
    type = serializers.CharField()
    description = serializers.CharField()
    status = serializers.CharField(help_text="succeeded, noop, refused, failed, unknown")
    reason = serializers.CharField()
    sentence = serializers.CharField()


class UndoView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Command, responses=Undone, operation_id="action_undo")
    def post(self, request: Request, action_id: UUID) -> Response:
        """A person's command to take an action back. What was changed since is left alone, and
        however often it is commanded, it acts once."""
        user_id = Command.read(request.data)["user_id"]
        auth = caller_for(request, user_id)
        try:
            result = undo.undo(
                organisation_id=auth.organisation_id,
                action_id=action_id,
                by=auth.principal,
                external_user_id=user_id,
            )
        except undo.ActionNotFound as error:
            raise exceptions.NotFound(str(error), code="unknown_action") from error
        return Response(Undone({**vars(result), "type": result.action_type}).data)
