"""The API of accounts whose users sign in at their provider's own page: started and finished
through their frontend, whose address the browser comes back to."""

from typing import Any

from django.core.exceptions import ValidationError as InvalidRow
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from integrations.accounts import consent
from integrations.accounts.connecting import Wish
from integrations.api.account_bodies import TrialFields
from integrations.api.accounts import (
    CannotSeal,
    TrialThrottle,
    name_of,
    offered,
    refusal_of,
)
from integrations.credentials.sealing import BadKey
from integrations.exceptions import ProviderError
from integrations.web.authentication import HasScope, TokenThrottle, caller_for
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer


class ConsentWish(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field of the body
        choices=sorted(consent.PLACES)
    )
    address = StrictCharField(max_length=320)
    redirect_url = StrictCharField(
        max_length=500,
        help_text="Your own page, as it is registered at the provider: the browser comes back to "
        "it with what you send to `finish`.",
    )
    display_name = StrictCharField(max_length=200, required=False)
    time_zone = StrictCharField(max_length=64, required=False)


class ConsentFields(serializers.Serializer[Any]):
    page = serializers.CharField(help_text="Send the user's browser there.")
    ticket = serializers.CharField(
        help_text="Keep it in that user's session, and show it to nobody: it is good for half an "
        "hour."
    )
    how_long = serializers.CharField(help_text="How long such a consent lasts.")


class ConsentAnswer(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    ticket = StrictCharField(max_length=8_000)
    answer = serializers.DictField(
        child=StrictCharField(max_length=4_000, allow_blank=True),
        help_text="All parameters that the browser came back with.",
    )


class ConsentsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]
    throttle_classes = [TokenThrottle, TrialThrottle]

    @extend_schema(request=ConsentWish, responses=ConsentFields, operation_id="consent_begin")
    def post(self, request: Request) -> Response:
        """Begin to connect an account whose user signs in at the provider. Nothing is stored."""
        given = ConsentWish.read(request.data)
        caller = caller_for(request, given["user_id"])
        wish = Wish(
            organisation_id=caller.organisation_id,
            user_id=given["user_id"],
            address=given["address"],
            user_name=given["address"],
            display_name=given.get("display_name", ""),
            time_zone=given.get("time_zone", "UTC"),
            source=given["source"],
        )
        by = name_of(caller, wish.user_id)
        try:
            started = consent.begin(wish, by=by, redirect=given["redirect_url"])
        except InvalidRow as error:
            raise exceptions.ValidationError(error.message_dict) from error
        except ProviderError as error:
            raise refusal_of(error) from error
        how_long = consent.PLACES[wish.source].how_long
        return Response({"page": started.page, "ticket": started.ticket, "how_long": how_long})


class FinishView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]
    throttle_classes = [TokenThrottle, TrialThrottle]

    @extend_schema(request=ConsentAnswer, responses=TrialFields, operation_id="consent_finish")
    def post(self, request: Request) -> Response:
        """What the browser came back with becomes an offer, as a trial's: what Remit can do there
        and prove. Nothing is stored; the consent is sealed into `offer`."""
        given = ConsentAnswer.read(request.data)
        caller = caller_for(request, given["user_id"])
        by = name_of(caller, given["user_id"])
        try:
            finished = consent.finish(given["ticket"], given["answer"], by=by)
        except InvalidRow as error:
            raise exceptions.ValidationError(error.message_dict) from error
        except BadKey as error:
            raise CannotSeal from error
        except ProviderError as error:
            raise refusal_of(error) from error
        return offered(finished.found, finished.offer, by=by)
