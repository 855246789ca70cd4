"""Runs over past mail over HTTP: try what the agent would do, start it for real, look, pause, go on
and stop. The page of the admin does the same with the same functions."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from agents import tasks
from agents.models import PastRun
from agents.past import figures, runs
from agents.past.figures import Figures, Line
from agents.past.runs import Wanted
from integrations.models import Account
from integrations.ports.registry import writable
from integrations.web.authentication import HasScope, caller_for, caller_of
from integrations.web.cursors import PageFields, page
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer


class Open(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "past_run_open"
    default_detail = "This account has a run that is not over. Stop it first."


class Moved(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "past_run_moved"
    default_detail = "The run is in another state by now. Read it again."


class NoMail(exceptions.APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "no_mail"
    default_detail = "No mail that was read in fits. Choose others, or read the account in."


class PastRunRequest(StrictSerializer):
    """Which mail: the newest `last` that fit all that is named."""

    user_id = StrictCharField(max_length=200)
    account_id = serializers.UUIDField(
        required=False, help_text="A mailbox of the user; the one connected first, if left out."
    )
    last = serializers.IntegerField(default=500, min_value=1, max_value=runs.MOST)
    since = serializers.DateField(
        required=False, allow_null=True, help_text="Mail from this day on, in the account's zone."
    )
    until = serializers.DateField(
        required=False, allow_null=True, help_text="Mail up to this day, included."
    )
    folder = StrictCharField(
        max_length=500,
        default="",
        allow_blank=True,
        help_text="A label or folder, by the provider's id. Empty: all mail.",
    )
    writes_drafts = serializers.BooleanField(
        default=False, help_text="Mail that was answered since gets none."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        since, until = attrs.get("since"), attrs.get("until")
        if since and until and until < since:
            raise serializers.ValidationError({"until": "This day is before the first one."})
        return attrs


class PastRunRow(serializers.ModelSerializer[PastRun]):
    user_id = serializers.CharField(source="account.external_user_id")
    account_id = serializers.UUIDField()
    state = serializers.CharField(help_text="queued, running, paused, done or stopped")
    waits_for = serializers.CharField(help_text="What was away when it was tried last; or empty.")

    class Meta:
        model = PastRun
        fields = [
            *("id", "user_id", "account_id", "is_trial", "writes_drafts", "last", "since"),
            *("until", "folder", "state", "waits_for", "started_by", "changed_by"),
            *("created_at", "finished_at"),
        ]


class PastRunsFields(PageFields):
    user_id = StrictCharField(max_length=200)


class PastRunPage(serializers.Serializer[Any]):
    items = PastRunRow(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Null after the last page.")


class ProgressFields(serializers.Serializer[Any]):
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    percent = serializers.IntegerField()
    skipped = serializers.DictField(child=serializers.IntegerField(), help_text="By reason.")
    failed = serializers.DictField(child=serializers.IntegerField(), help_text="By reason.")


class ExampleFields(serializers.Serializer[Any]):
    sender = serializers.CharField(help_text="A stranger wrote it: escape it.")
    subject = serializers.CharField(help_text="A stranger wrote it: escape it.")
    occurred_at = serializers.DateTimeField()


class ReasonFields(serializers.Serializer[Any]):
    sentence = serializers.CharField()
    number = serializers.IntegerField()


class ActionFigures(serializers.Serializer[Any]):
    title = serializers.CharField()
    place = serializers.CharField(help_text="The label or folder that it is about; or empty.")
    done = serializers.IntegerField(help_text="In a trial: would be done.")
    is_so_already = serializers.IntegerField()
    asked = serializers.IntegerField(help_text="In a trial: a person would be asked.")
    refused = serializers.IntegerField()
    reasons = ReasonFields(many=True, help_text="Why it was asked about or refused.")
    examples = ExampleFields(many=True)


class FiguresFields(serializers.Serializer[Any]):
    looked_at = serializers.IntegerField()
    left_alone = serializers.IntegerField()
    by_pattern = serializers.IntegerField(help_text="No model was asked.")
    tokens = serializers.IntegerField()
    actions = ActionFigures(many=True)
    examples_left_alone = ExampleFields(many=True)


class PastRunFields(PastRunRow):
    progress = ProgressFields()
    figures = FiguresFields()

    class Meta(PastRunRow.Meta):
        fields = [*PastRunRow.Meta.fields, "progress", "figures"]


def _described(run: PastRun) -> dict[str, Any]:
    counted = figures.count(run)
    return {
        **PastRunRow(run).data,
        "progress": ProgressFields(figures.count_progress(run)).data,
        "figures": _figures(counted),
    }


def _figures(counted: Figures) -> dict[str, Any]:
    return {
        "looked_at": counted.looked_at,
        "left_alone": counted.alone,
        "by_pattern": counted.by_pattern,
        "tokens": counted.tokens,
        "actions": [_line(one) for one in counted.lines],
        "examples_left_alone": ExampleFields(counted.examples_alone, many=True).data,
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "title": line.title,
        "place": line.place,
        "done": line.counts[figures.DONE],
        "is_so_already": line.counts[figures.NOTHING],
        "asked": line.counts[figures.ASKED],
        "refused": line.counts[figures.REFUSED],
        "reasons": [{"sentence": said, "number": number} for said, number in line.why],
        "examples": ExampleFields(line.examples, many=True).data,
    }


def _start(request: Request, *, is_trial: bool) -> Response:
    asked = PastRunRequest.read(request.data)
    caller = caller_for(request, asked["user_id"])
    mailboxes = Account.objects.select_related("organisation").filter(
        organisation_id=caller.organisation_id,
        external_user_id=asked.pop("user_id"),
        source__in=writable("mail"),
    )
    if key := asked.pop("account_id", None):
        mailboxes = mailboxes.filter(pk=key)
    account = mailboxes.order_by("created_at", "id").first()
    if account is None:
        raise exceptions.NotFound("This user has no such mailbox.", code="unknown_account")
    wanted = Wanted(
        **asked,
        folder_name=figures.name_places(account.pk).get(asked["folder"], ""),
        is_trial=is_trial,
    )
    if not runs.find_mails(account.ref(), wanted):
        raise NoMail
    try:
        run_id = tasks.start_past_run(account.ref(), wanted, by=caller.principal)
    except runs.AlreadyOpen as error:
        raise Open from error
    return Response(_described(_visible(request, run_id)), status=status.HTTP_202_ACCEPTED)


class PastRunsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("past-mail")]

    @extend_schema(parameters=[PastRunsFields], responses=PastRunPage, operation_id="past_runs")
    def get(self, request: Request) -> Response:
        """The runs over a user's past mail, newest first."""
        chosen = PastRunsFields.read(request.query_params.dict())
        caller = caller_for(request, chosen["user_id"])
        rows = PastRun.objects.select_related("account").filter(
            account__organisation_id=caller.organisation_id,
            account__external_user_id=chosen["user_id"],
        )
        items, after = page(rows, chosen, by="created_at")
        return Response(PastRunPage({"items": items, "next_cursor": after}).data)

    @extend_schema(
        request=PastRunRequest, responses={202: PastRunFields}, operation_id="past_run_start"
    )
    def post(self, request: Request) -> Response:
        """Work through past mail as if it had just arrived. What may be done is what the policy
        permits; mail that was worked through before is left out."""
        return _start(request, is_trial=False)


class PastTrialView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("past-mail")]

    @extend_schema(
        request=PastRunRequest, responses={202: PastRunFields}, operation_id="past_run_try"
    )
    def post(self, request: Request) -> Response:
        """See what the agent would do with past mail. Nothing is done, and nobody is asked; the
        model's calls cost what they cost."""
        return _start(request, is_trial=True)


class PastRunView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("past-mail")]

    @extend_schema(responses=PastRunFields, operation_id="past_run")
    def get(self, request: Request, past_run_id: UUID) -> Response:
        """How far a run is, with figures by action and examples."""
        return Response(_described(_visible(request, past_run_id)))


class _WordView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("past-mail")]

    def say(self, request: Request, run_id: UUID, word: Callable[[UUID, str], bool]) -> Response:
        run = _visible(request, run_id)
        if not word(run.pk, caller_of(request).principal):
            raise Moved
        return Response(_described(_visible(request, run_id)))


class PausePastRunView(_WordView):
    @extend_schema(request=None, responses=PastRunFields, operation_id="past_run_pause")
    def post(self, request: Request, past_run_id: UUID) -> Response:
        """Begin no other mail. What is under way ends first."""
        return self.say(request, past_run_id, lambda key, by: runs.pause(key, by=by))


class ResumePastRunView(_WordView):
    @extend_schema(request=None, responses=PastRunFields, operation_id="past_run_resume")
    def post(self, request: Request, past_run_id: UUID) -> Response:
        """Go on with a run that is paused."""
        return self.say(request, past_run_id, lambda key, by: tasks.resume_past_run(key, by=by))


class StopPastRunView(_WordView):
    @extend_schema(request=None, responses=PastRunFields, operation_id="past_run_stop")
    def post(self, request: Request, past_run_id: UUID) -> Response:
        """End a run for good. What was done stays."""
        now = timezone.now()
        return self.say(request, past_run_id, lambda key, by: runs.stop(key, by=by, now=now))


def _visible(request: Request, run_id: UUID) -> PastRun:
    """The run, if the caller may see it. Raises NotFound, whatever the reason."""
    caller = caller_of(request)
    rows = PastRun.objects.select_related("account")
    run = rows.filter(id=run_id, account__organisation_id=caller.organisation_id).first()
    if run is None or not caller.allows_user(run.account.external_user_id):
        raise exceptions.NotFound("There is no such run.", code="unknown_past_run")
    return run
