"""Over HTTP: start a sync, see how far it is, cancel it; search what was read."""

from datetime import timedelta
from typing import Any, get_args
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from integrations.contracts import ContentType
from integrations.llm.completions import Payer
from integrations.models import Account
from integrations.models.preferences import find_zones
from integrations.ports.registry import BY_SOURCE, SYNCED
from integrations.web import stale
from integrations.web.authentication import HasScope, caller_for, caller_of
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer
from knowledge.contracts import FoundItem, SearchRequest, SyncProgress, TimeFilter
from knowledge.search import retrieval
from knowledge.search.queries import MAX_LIMIT, MAX_QUERY
from knowledge.sync import runs as sync_runs
from knowledge.tasks import start_sync
from knowledge.text.highlights import cut

MAY_SYNC = [HasScope("sync")]


class SyncRequest(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    sources = serializers.ListField(
        child=serializers.ChoiceField(choices=SYNCED),
        required=False,
        allow_empty=False,
        max_length=50,
        help_text="Leave it out for all sources the user has connected.",
    )
    only_changes = serializers.BooleanField(
        default=False, help_text="Read what changed since the last sync, not the whole window."
    )
    window_days = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=sync_runs.MAX_WINDOW.days,
        help_text="How far back the whole window goes; as each source has it, if left out.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["only_changes"] and attrs.get("window_days"):
            message = "A sync of changes has no window."
            raise serializers.ValidationError({"window_days": message})
        return attrs


class SourceFields(serializers.Serializer[Any]):
    source = serializers.CharField()  # type: ignore[assignment]  # a field of the answer
    account_id = serializers.UUIDField()
    state = serializers.CharField(help_text="queued, running, done, failed or cancelled")
    received = serializers.IntegerField(help_text="processed + skipped + failed")
    processed = serializers.IntegerField()
    skipped = serializers.IntegerField()
    failed = serializers.IntegerField()
    remaining = serializers.IntegerField(
        allow_null=True, help_text="Items still to come; null where the data service says nothing."
    )
    percent = serializers.IntegerField(allow_null=True, help_text="null: show a spinner")
    eta_seconds = serializers.IntegerField(allow_null=True)
    reasons = serializers.DictField(
        child=serializers.IntegerField(), help_text="Skipped and failed items by reason."
    )
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    next_try_at = serializers.DateTimeField(
        allow_null=True,
        help_text="It waits until then: the data service or the model does not answer.",
    )
    error = serializers.CharField(allow_blank=True)


class SyncFields(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    user_id = serializers.CharField(source="external_user_id")
    state = serializers.CharField(help_text="queued, running, done, failed or cancelled")
    only_changes = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    sources = SourceFields(many=True)


class SearchFields(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    query = StrictCharField(
        max_length=MAX_QUERY, allow_blank=True, help_text="Empty: the newest inside the filters."
    )
    sources = serializers.ListField(
        child=serializers.ChoiceField(choices=list(BY_SOURCE)), default=list, max_length=50
    )
    types = serializers.ListField(
        child=serializers.ChoiceField(choices=get_args(ContentType)), default=list, max_length=50
    )
    time_filter = serializers.ChoiceField(choices=get_args(TimeFilter), required=False)
    since = serializers.DateTimeField(
        required=False, help_text="For the time filter `custom`: at or after this time."
    )
    until = serializers.DateTimeField(required=False, help_text="For `custom`: before this time.")
    entity = StrictCharField(
        max_length=320, default="", allow_blank=True, help_text="A person, project or address."
    )
    excluded_ids = serializers.ListField(
        child=serializers.UUIDField(), default=list, max_length=1_000
    )
    limit = serializers.IntegerField(default=10, min_value=1, max_value=MAX_LIMIT)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_custom = attrs.get("time_filter") == "custom"
        if is_custom is not ("since" in attrs or "until" in attrs):
            message = "`custom` needs since or until, and only `custom` takes them."
            raise serializers.ValidationError({"time_filter": message})
        return attrs


class PartFields(serializers.Serializer[Any]):
    text = serializers.CharField(help_text="Plain text that others wrote: escape it.")
    found = serializers.BooleanField(help_text="Words that were searched for: <mark> them.")


class FoundFields(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field of the answer
    source_id = serializers.CharField(help_text="The provider's id.")
    type = serializers.CharField(source="content_type")
    title = serializers.CharField()
    summary = serializers.CharField()
    snippet = PartFields(many=True, help_text="At most 240 characters of the best passage.")
    sender_name = serializers.CharField()
    sender_address = serializers.CharField()
    occurred_at = serializers.DateTimeField()
    relevance = serializers.FloatField(help_text="0 to 1, comparable only within one answer.")


class FoundEntityFields(serializers.Serializer[Any]):
    type = serializers.CharField(source="kind")
    name = serializers.CharField()
    address = serializers.CharField()
    mentions = serializers.IntegerField()


class FoundPage(serializers.Serializer[Any]):
    items = FoundFields(many=True)
    entities = FoundEntityFields(many=True)


class SearchView(ApiView):
    permission_classes = [HasScope("chat")]  # who may chat may ask for all of it anyway

    @extend_schema(
        operation_id="search",
        parameters=[
            OpenApiParameter(
                stale.HEADER,
                OpenApiTypes.DATETIME,
                OpenApiParameter.HEADER,
                response=True,
                description="All that was committed before this time was searched. Without it: "
                "all until now. `Cache-Control: no-cache` wants that.",
            ),
        ],
        request=SearchFields,
        responses=FoundPage,
        description="What was read of this user's accounts, the best first.",
    )
    def post(self, request: Request) -> Response:
        wanted = SearchFields.read(request.data)
        user_id = wanted.pop("user_id")
        caller = caller_for(request, user_id)
        accounts = list(
            Account.objects.filter(
                organisation_id=caller.organisation_id, external_user_id=user_id
            ).order_by("source")
        )
        if not accounts:
            raise NotFound("This user has connected no account.", code="unknown_account")
        for name in ("sources", "excluded_ids"):
            wanted[name] = tuple(wanted[name])
        question = SearchRequest(
            account_ids=tuple(account.pk for account in accounts),
            content_types=tuple(wanted.pop("types")),
            time_zone=find_zones(caller.organisation_id, [user_id])[user_id],
            **wanted,
        )
        payer = Payer(organisation_id=caller.organisation_id, external_user_id=user_id)

        def respond() -> Response:
            found = retrieval.search(question, now=timezone.now(), payer=payer)
            items = [{**vars(item), "snippet": _parts(item)} for item in found.items]
            return Response(FoundPage({"items": items, "entities": found.entities}).data)

        return stale.answer(request, respond)


def _parts(item: FoundItem) -> list[dict[str, Any]]:
    return [{"text": text, "found": found} for text, found in cut(item.snippet, item.highlights)]


class SyncsView(ApiView):
    permission_classes = MAY_SYNC

    @extend_schema(
        operation_id="start_sync",
        request=SyncRequest,
        responses={202: SyncFields, 200: SyncFields},
        description="Starts a sync (202). One that is running already is answered as it is (200).",
    )
    def post(self, request: Request) -> Response:
        asked = SyncRequest.read(request.data)
        requested = start_sync(
            organisation_id=caller_for(request, asked["user_id"]).organisation_id,
            external_user_id=asked["user_id"],
            sources=asked.get("sources", ()),
            only_changes=asked["only_changes"],
            window=timedelta(days=days) if (days := asked.get("window_days")) else None,
        )
        if requested is None:
            raise NotFound("This user has connected no such account.", code="unknown_account")
        code = status.HTTP_202_ACCEPTED if requested.queued else status.HTTP_200_OK
        return Response(SyncFields(_visible(request, requested.run_id)).data, status=code)


class SyncView(ApiView):
    permission_classes = MAY_SYNC

    @extend_schema(operation_id="read_sync", responses=SyncFields)
    def get(self, request: Request, sync_id: UUID) -> Response:
        """How far a sync is, source by source."""
        return Response(SyncFields(_visible(request, sync_id)).data)


class CancelSyncView(ApiView):
    permission_classes = MAY_SYNC

    @extend_schema(
        operation_id="cancel_sync",
        request=None,
        responses=SyncFields,
        description="Stops what is still running. Stored items stay.",
    )
    def post(self, request: Request, sync_id: UUID) -> Response:
        _visible(request, sync_id)
        sync_runs.cancel(sync_id, now=timezone.now())
        return Response(SyncFields(_visible(request, sync_id)).data)


def _visible(request: Request, sync_id: UUID) -> SyncProgress:
    """The sync, if the caller may see it. Raises NotFound, whatever the reason."""
    caller = caller_of(request)
    found = sync_runs.load_progress(
        organisation_id=caller.organisation_id, run_id=sync_id, now=timezone.now()
    )
    if found is None or not caller.allows_user(found.external_user_id):
        raise NotFound("There is no such sync.", code="unknown_sync")
    return found
