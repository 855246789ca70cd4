"""The API of a user's preferences: read and changed by the user, through their frontend."""

from typing import Any

from django.core.exceptions import ValidationError as InvalidRow
from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from integrations.contracts import preferences as said
from integrations.models import Account, UserPreferences
from integrations.web.authentication import HasScope, caller_for
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer


@extend_schema_field({"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"})
class ClockTime(serializers.TimeField):
    """Hours and minutes: what OpenAPI calls a time has seconds and a zone, too."""


class DayHours(StrictSerializer):
    start = ClockTime(format="%H:%M", input_formats=["%H:%M"])
    end = ClockTime(format="%H:%M", input_formats=["%H:%M"])


class WeekHours(StrictSerializer):
    """A day that is not named is a day off."""

    monday = DayHours(required=False)
    tuesday = DayHours(required=False)
    wednesday = DayHours(required=False)
    thursday = DayHours(required=False)
    friday = DayHours(required=False)
    saturday = DayHours(required=False)
    sunday = DayHours(required=False)


class PreferencesChange(StrictSerializer):
    """What is not named stays as it is."""

    name = StrictCharField(
        max_length=said.NAME_CHARS,
        required=False,
        allow_blank=True,
        help_text="As the user signs. Empty: the name of the account connected first.",
    )
    language = StrictCharField(
        max_length=said.LANGUAGE_CHARS,
        required=False,
        allow_blank=True,
        help_text="A BCP 47 tag such as de or pt-BR. Empty: the language the user writes in.",
    )
    time_zone = StrictCharField(
        max_length=64,
        required=False,
        allow_blank=True,
        help_text="An IANA name such as Europe/Berlin. Empty: that of the account connected first.",
    )
    working_hours = WeekHours(
        required=False, help_text="On the user's clock. {}: Monday to Friday, 08:00 to 18:00."
    )
    signature = StrictCharField(
        max_length=said.SIGNATURE_CHARS,
        required=False,
        allow_blank=True,
        help_text="Ends the mails that are drafted for the user. May have several lines.",
    )
    known_senders = serializers.ListField(
        child=StrictCharField(max_length=320),
        max_length=said.KNOWN_SENDERS,
        required=False,
        help_text="Addresses of people who are no strangers, though the user never wrote to them. "
        "It permits nothing else.",
    )
    daily_digest = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="A mail each morning about the day before. null: as the organisation has it.",
    )


class InEffect(serializers.Serializer[Any]):
    name = serializers.CharField()
    time_zone = serializers.CharField()
    working_hours = WeekHours()
    daily_digest = serializers.BooleanField()


class PreferencesShape(PreferencesChange):
    user_id = serializers.CharField()
    in_effect = InEffect(help_text="What counts, with what is taken from the first account.")


FIELDS = (
    *("name", "language", "time_zone", "working_hours", "signature", "known_senders"),
    "daily_digest",
)


class PreferencesView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]
    USER = [OpenApiParameter("user_id", str, required=True)]

    @extend_schema(parameters=USER, responses=PreferencesShape, operation_id="preferences")
    def get(self, request: Request) -> Response:
        """What the user has said of themself, and what counts where they have said nothing."""
        row, account = self._find(request)
        return Response(_described(row, account))

    @extend_schema(
        parameters=USER,
        request=PreferencesChange,
        responses=PreferencesShape,
        operation_id="preferences_change",
    )
    def patch(self, request: Request) -> Response:
        """Change some of it. `working_hours` and `known_senders` are replaced as a whole."""
        changes = PreferencesChange.read(request.data)
        if "working_hours" in changes:
            changes["working_hours"] = WeekHours(changes["working_hours"]).data
        with transaction.atomic():
            row, account = self._find(request, locked=True)
            for name, value in changes.items():
                setattr(row, name, value)
            try:
                row.full_clean()
            except InvalidRow as error:
                raise exceptions.ValidationError(error.message_dict) from error
            row.save()
        return Response(_described(row, account))

    def _find(self, request: Request, *, locked: bool = False) -> tuple[UserPreferences, Account]:
        """The row, a new one where there is none, and the account connected first."""
        user_id = request.query_params.get("user_id", "")
        if not user_id:
            raise exceptions.ValidationError({"user_id": ["Say for which user."]})
        caller = caller_for(request, user_id)
        of = {"organisation_id": caller.organisation_id, "external_user_id": user_id}
        accounts = Account.objects.filter(**of).order_by("created_at", "id")
        # A change holds the account, so that two at once are one after the other, also where there
        # is no row yet.
        account = (accounts.select_for_update() if locked else accounts).first()
        if account is None:
            raise exceptions.NotFound("There is no such user.", code="unknown_user")
        return UserPreferences.objects.filter(**of).first() or UserPreferences(**of), account


def _described(row: UserPreferences, account: Account) -> dict[str, Any]:
    hours = said.read_hours(row.working_hours) or said.OFFICE_HOURS
    return {
        **{name: getattr(row, name) for name in FIELDS},
        "user_id": row.external_user_id,
        "in_effect": {
            "name": row.name or account.display_name or row.external_user_id,
            "time_zone": row.time_zone or account.time_zone,
            "working_hours": said.dump_hours(hours),
            "daily_digest": account.organisation.daily_digest
            if row.daily_digest is None
            else row.daily_digest,
        },
    }
