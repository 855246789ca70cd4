"""The ledger over HTTP, for one organisation at a time.

Who may call is said where the views are wired (`config.urls`), by
`as_view(permission_classes=[…])`: without that nobody may.
"""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from django.http import Http404, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.api.serializers import (
    BundleFields,
    ExportFields,
    FeedFields,
    FilterFields,
    LedgerFeed,
    LedgerPage,
    LedgerTimeline,
    ListFields,
)
from audit.bundle.contents import Bundle
from audit.bundle.downloads import download
from audit.bundle.extent import NothingSealed
from audit.contracts import Filters
from audit.formats import feed, ocsf
from audit.formats.export import Export
from audit.formats.parquet import NoParquet
from audit.ledger import selectors


class Caller(Protocol):
    """What these views need of `request.auth`."""

    @property
    def organisation_id(self) -> UUID: ...
    @property
    def principal(self) -> str: ...
    @property
    def user_ids(self) -> frozenset[str]: ...
    def allows_user(self, external_user_id: str) -> bool: ...


class Nobody(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return False


def read_filters(request: Request, kind: type[FilterFields]) -> tuple[Filters, Mapping[str, Any]]:
    """The filters of a request within what its caller may see, and all its parameters."""
    fields = kind(data=request.query_params.dict())
    fields.is_valid(raise_exception=True)
    chosen: Mapping[str, Any] = fields.validated_data
    caller = caller_of(request)
    user_id = chosen.get("user_id")
    if user_id is not None and not caller.allows_user(user_id):
        raise PermissionDenied("This token does not cover that user.")
    names = ("account_id", "action_type", "status", "run_id", "since", "until")
    return Filters(
        tenant_id=caller.organisation_id,
        on_behalf_of=frozenset({user_id}) if user_id is not None else caller.user_ids,
        **{name: chosen[name] for name in names if name in chosen},
    ), chosen


def caller_of(request: Request) -> Caller:
    caller: Caller = request.auth  # type: ignore[assignment]  # permitted requests have one
    return caller


class LedgerView(APIView):
    permission_classes = [Nobody]

    @extend_schema(
        operation_id="ledger_list",
        summary="List actions",
        tags=["ledger"],
        parameters=[ListFields],
        responses=LedgerPage,
    )
    def get(self, request: Request) -> Response:
        """Actions of the organisation, each by its latest phase, newest first."""
        filters, chosen = read_filters(request, ListFields)
        page = selectors.actions(
            filters=filters, limit=chosen["limit"], before=chosen.get("cursor")
        )
        return Response(LedgerPage({"items": page.rows, "next_cursor": page.before}).data)


class LedgerActionView(APIView):
    permission_classes = [Nobody]

    @extend_schema(
        operation_id="ledger_action",
        summary="One action's timeline",
        tags=["ledger"],
        responses=LedgerTimeline,
    )
    def get(self, request: Request, action_id: UUID) -> Response:
        """Every phase of one action: attempt, outcome, refusal, approval."""
        filters, _ = read_filters(request, FilterFields)
        rows = selectors.recorded_of_tenant(action_id, filters=filters)
        if not rows:
            raise Http404
        return Response(LedgerTimeline({"items": rows}).data)


class Chosen(APIView):
    """A view in which `format` chooses what is answered, not the renderer of JSON."""

    def perform_content_negotiation(
        self, request: Request, force: bool = False
    ) -> tuple[BaseRenderer, str]:
        renderer = self.get_renderers()[0]
        return renderer, str(renderer.media_type)


class LedgerExportView(Chosen):
    permission_classes = [Nobody]

    @extend_schema(
        operation_id="ledger_export",
        summary="Export the ledger",
        tags=["ledger"],
        parameters=[
            ExportFields,
            OpenApiParameter(
                "X-Ledger-Export",
                OpenApiTypes.UUID,
                OpenApiParameter.HEADER,
                response=True,
                description="The export's own action in the ledger; its end has the manifest.",
            ),
        ],
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/vnd.apache.parquet"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Every phase of the actions that match, streamed. The last line of JSON Lines is
        the manifest (rows, SHA-256, filters). `ocsf` is OCSF 1.6.0 API Activity, one event a
        line, without payloads. `parquet` needs an extra on the server, else 400. The export
        is recorded in the ledger."""
        filters, chosen = read_filters(request, ExportFields)
        try:
            export = Export(
                filters=filters,
                format=chosen["format"],
                actor_type="user",
                actor_id=caller_of(request).principal,
            )
        except NoParquet as error:
            raise ValidationError({"format": str(error)}) from error
        return download(export, request=request._request)


class NotSealed(APIException):
    status_code = 409
    default_code = "not_sealed"


class AheadOfLedger(APIException):
    status_code = 409
    default_code = "ahead_of_ledger"

    def __init__(self, reason: feed.AheadOfLedger) -> None:
        super().__init__(str(reason))
        self.template, self.values = reason.template, reason.values


class LedgerBundleView(APIView):
    permission_classes = [Nobody]

    @extend_schema(
        operation_id="ledger_bundle",
        summary="Export with proofs",
        tags=["ledger"],
        parameters=[BundleFields],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Sealed rows of the organisation, as a zip file that proves itself. Without filters
        but `since` and `until` it has every row that was recorded then, and proves that none
        was altered or left out. With others it has the actions that match and proves that
        none of their rows was altered; completeness is not claimed. Tokens that cover some
        users only may not have it."""
        caller = caller_of(request)
        if caller.user_ids:
            raise PermissionDenied(
                "A bundle has policies and erasures of the whole organisation; this token "
                "covers some users."
            )
        filters, chosen = read_filters(request, BundleFields)
        try:
            bundle = Bundle(
                filters=filters,
                actor_type="user",
                actor_id=caller.principal,
                with_derived=chosen["with_derived"],
            )
        except NothingSealed as error:
            raise NotSealed(str(error)) from error
        return download(bundle, request=request._request)


class LedgerFeedView(Chosen):
    permission_classes = [Nobody]

    @extend_schema(
        operation_id="ledger_feed",
        summary="Feed for a SIEM",
        tags=["ledger"],
        parameters=[FeedFields],
        responses=LedgerFeed,
    )
    def get(self, request: Request) -> Response:
        """Every sealed row of the organisation once, in the order of its place, which has no
        gaps. Tokens that cover some users only may not have it."""
        fields = FeedFields(data=request.query_params.dict())
        fields.is_valid(raise_exception=True)
        wanted = fields.validated_data
        caller = caller_of(request)
        if caller.user_ids:
            raise PermissionDenied("A feed has every user's actions; this token covers some.")
        try:
            found = feed.load_page(
                tenant_id=caller.organisation_id, start=wanted["place"], limit=wanted["limit"]
            )
        except feed.AheadOfLedger as error:
            raise AheadOfLedger(error) from error
        items = map(ocsf.event, found.items) if wanted["format"] == "ocsf" else found.items
        answer = {"items": list(items), "left": found.left, "next_place": found.next_place}
        return Response(answer | {"size": found.size})
