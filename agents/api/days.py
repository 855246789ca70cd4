"""One user's day over HTTP, for the frontends that show it to them."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from agents.activity import digests
from agents.activity.rows import Row
from integrations.models.preferences import find_zones, load_preferences
from integrations.web.authentication import HasScope, caller_for
from integrations.web.idempotency import ApiView
from integrations.web.languages import asked_for, speaking
from integrations.web.serializers import StrictCharField

EXAMPLES = 20  # of each outcome


class DayFields(serializers.Serializer[Any]):
    user_id = StrictCharField(max_length=200)
    day = serializers.DateField(
        required=False, help_text="On the user's calendar; the day before today, if left out."
    )


class DoneFields(serializers.Serializer[Any]):
    what = serializers.CharField()
    status = serializers.CharField()
    why = serializers.CharField(help_text="Where it was refused.")


class CameFields(serializers.Serializer[Any]):
    time = serializers.CharField(help_text="On the user's clock.")
    kind = serializers.CharField()
    who = serializers.CharField(help_text="A stranger wrote it: escape it.")
    title = serializers.CharField(help_text="A stranger wrote it: escape it.")
    why = serializers.CharField(help_text="Where nothing was done.")
    done = DoneFields(many=True)


class OutcomeFields(serializers.Serializer[Any]):
    outcome = serializers.CharField()
    title = serializers.CharField()
    number = serializers.IntegerField()
    newest = CameFields(many=True, help_text=f"At most {EXAMPLES} of them.")


class WaitingFields(serializers.Serializer[Any]):
    approval_id = serializers.UUIDField()
    heading = serializers.CharField()


class DayShape(serializers.Serializer[Any]):
    user_id = serializers.CharField()
    day = serializers.DateField()
    time_zone = serializers.CharField()
    number = serializers.IntegerField(help_text="Of things that an agent looked at.")
    parts = OutcomeFields(many=True)
    waits = serializers.IntegerField(
        help_text="How many questions wait for the user's word now: like actions count as one."
    )
    waiting = WaitingFields(many=True, help_text="Those to be decided first.")


class DayView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(parameters=[DayFields], responses=DayShape, operation_id="day")
    def get(self, request: Request) -> Response:
        """What was done, asked, refused and left alone on one day, and what waits now."""
        fields = DayFields(data=request.query_params.dict())
        fields.is_valid(raise_exception=True)
        chosen = fields.validated_data
        person = chosen["user_id"]
        organisation_id = caller_for(request, person).organisation_id
        zone = find_zones(organisation_id, [person]).get(person)
        if zone is None:
            raise exceptions.NotFound("There is no such user.", code="unknown_user")
        today = timezone.now().astimezone(ZoneInfo(zone)).date()
        day = chosen.get("day") or today - timedelta(days=1)
        if not 1970 <= day.year <= 9000:
            raise exceptions.ValidationError({"day": ["Name a day since 1970."]})
        language = asked_for(request) or load_preferences(organisation_id, person).language
        with speaking(language):
            found = digests.load_day(
                organisation_id, person, day, zone=ZoneInfo(zone), examples=EXAMPLES
            )
        return Response(
            {
                "user_id": person,
                "day": day,
                "time_zone": zone,
                "number": found.number,
                "parts": [
                    {
                        "outcome": part.outcome,
                        "title": part.title,
                        "number": part.number,
                        "newest": [_came(row) for row in part.rows],
                    }
                    for part in found.parts
                ],
                "waits": found.waits,
                "waiting": [
                    {"approval_id": card.id, "heading": card.heading} for card in found.waiting
                ],
            }
        )


def _came(row: Row) -> dict[str, Any]:
    done = [{"what": one.what, "status": one.status, "why": one.why} for one in row.done]
    words = {name: getattr(row, name) for name in ("time", "kind", "who", "title", "why")}
    return words | {"done": done}
