"""The API of accounts of users' own: tried, connected, looked after and disconnected through their
frontend."""

from typing import Any
from uuid import UUID

from django.core.cache import cache as shared
from django.core.exceptions import ValidationError as InvalidRow
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from integrations.accounts import connectables, connecting, trials
from integrations.accounts.connecting import Offer, Wish
from integrations.api.account_bodies import (
    AbilityFields,
    Acceptance,
    AccountChange,
    AccountFields,
    AccountTrial,
    TrialFields,
    UserOf,
)
from integrations.contracts.servers import read_server
from integrations.credentials.sealing import BadKey
from integrations.exceptions import ProviderError, RateLimited
from integrations.models import Account
from integrations.providers.connectable import Found, Given
from integrations.web.authentication import Caller, HasScope, TokenThrottle, caller_for
from integrations.web.idempotency import ApiView


class CannotConnect(exceptions.APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "cannot_connect"


class Later(exceptions.APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "busy"
    wait = 60


class CannotSeal(exceptions.APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "This installation has no key to keep passwords with."
    default_code = "no_key"


class TrialThrottle(TokenThrottle):
    """A trial is a sign-in at somebody's server: nobody may guess passwords through Remit."""

    rate = "30/hour"
    cache = shared  # of all web processes

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        key = super().get_cache_key(request, view)
        return key and f"{key}:trial"


class TrialView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]
    throttle_classes = [TokenThrottle, TrialThrottle]

    @extend_schema(request=AccountTrial, responses=TrialFields, operation_id="account_try")
    def post(self, request: Request) -> Response:
        """Sign in at a mailbox, calendars, contacts, files or a tracker and say what Remit can do
        and prove there. Nothing is stored or changed. The password is sealed into `offer`, which
        this installation's own servers on the web cannot open."""
        given = AccountTrial.read(request.data)
        caller = caller_for(request, given["user_id"])
        wish = Wish(
            organisation_id=caller.organisation_id,
            user_id=given["user_id"],
            address=given["address"],
            user_name=given.get("user_name", given["address"]),
            display_name=given.get("display_name", ""),
            time_zone=given.get("time_zone", "UTC"),
            source=given.get("source", connecting.SOURCE),
        )
        try:
            connecting.check(wish)
            found = trials.try_it(wish.source, _given(wish, given))
            offer = connecting.make_offer(wish, found.servers, secret=given["password"])
        except InvalidRow as error:
            raise exceptions.ValidationError(error.message_dict) from error
        except BadKey as error:
            raise CannotSeal from error
        except ProviderError as error:
            raise refusal_of(error) from error
        return offered(found, offer, by=name_of(caller, wish.user_id))


class AccountsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]
    USER = [OpenApiParameter("user_id", str, required=True)]

    @extend_schema(parameters=USER, responses=AccountFields(many=True), operation_id="accounts")
    def get(self, request: Request) -> Response:
        """The user's own accounts, each with how it is doing."""
        user_id = _user_of(request)
        return Response([_described(one) for one in _own(caller_for(request, user_id), user_id)])

    @extend_schema(request=Acceptance, responses=AccountFields, operation_id="account_connect")
    def post(self, request: Request) -> Response:
        """Connect an account that was tried. Nothing is allowed there at first: it is read alone.
        For one that is connected, its new password counts from now on."""
        given = Acceptance.read(request.data)
        caller = caller_for(request, given["user_id"])
        try:
            offer = connecting.from_text(given["offer"], by=name_of(caller, given["user_id"]))
            account = connecting.accept(offer)
        except InvalidRow as error:
            raise exceptions.ValidationError(error.message_dict) from error
        except ProviderError as error:
            raise refusal_of(error) from error
        return Response(_described(account), status=status.HTTP_201_CREATED)


class AccountView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]

    @extend_schema(
        parameters=AccountsView.USER,
        request=AccountChange,
        responses=AccountFields,
        operation_id="account_change",
    )
    def patch(self, request: Request, account_id: UUID) -> Response:
        """Change how an account is used. What is left out stays as it is."""
        changes = AccountChange.read(request.data)
        account = _one(request, _user_of(request), account_id)
        try:
            if changes:
                connecting.change(account, **changes)
        except InvalidRow as error:
            raise exceptions.ValidationError(error.message_dict) from error
        return Response(_described(account))


class DisconnectView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]

    @extend_schema(request=UserOf, responses=AccountFields, operation_id="account_disconnect")
    def post(self, request: Request, account_id: UUID) -> Response:
        """Forget the password: nothing is read or changed there any more. What was read in, what
        the agent may do, and the ledger stay."""
        user_id = UserOf.read(request.data)["user_id"]
        account = _one(request, user_id, account_id)
        connecting.disconnect(account.ref())
        return Response(_described(account))


def offered(found: Found, offer: Offer, *, by: str) -> Response:
    """What can be done there, and the offer for who asked."""
    return Response(
        {
            "server": found.host,
            "mails": found.mails,
            "calendars": found.calendars,
            "books": found.books,
            "folders": found.folders,
            "projects": found.projects,
            "abilities": AbilityFields(found.abilities, many=True).data,
            "offer": connecting.to_text(offer, by=by),
        }
    )


def _own(caller: Caller, user_id: str) -> Any:
    return (
        Account.objects.select_related("organisation")
        .filter(
            organisation_id=caller.organisation_id,
            external_user_id=user_id,
            source__in=connectables.ALL,
        )
        .order_by("created_at", "id")
    )


def _user_of(request: Request) -> str:
    user_id = request.query_params.get("user_id", "")
    if not user_id:
        raise exceptions.ValidationError({"user_id": ["Say for which user."]})
    return user_id


def _one(request: Request, user_id: str, account_id: UUID) -> Account:
    found: Account | None = (
        _own(caller_for(request, user_id), user_id).filter(id=account_id).first()
    )
    if found is None:
        raise exceptions.NotFound("There is no such account.")
    return found


def name_of(caller: Caller, user_id: str) -> str:
    """Who may accept an offer."""
    return f"{caller.organisation_id} {caller.principal} {user_id}"


def _given(wish: Wish, given: dict[str, Any]) -> Given:
    return Given(
        address=wish.address,
        user_name=wish.user_name,
        secret=given["password"],
        url=given.get("url", ""),
        imap=_server(given, "imap", 993) if "imap" in given else None,
        smtp=_server(given, "smtp", 465) if "smtp" in given else None,
        projects=tuple(given.get("projects", ())),
        readers=tuple(given["readers"]) if "readers" in given else None,
    )


def _server(given: dict[str, Any], kind: str, usual_port: int) -> Any:
    named = given[kind]
    try:
        return read_server(
            named["host"] if "port" not in named else f"{named['host']}:{named['port']}",
            usual_port=usual_port,
            security=named.get("security"),
        )
    except ValueError as error:
        raise exceptions.ValidationError({kind: [str(error)]}) from error


def refusal_of(error: ProviderError) -> exceptions.APIException:
    return Later(str(error)) if isinstance(error, RateLimited) else CannotConnect(str(error))


def _described(account: Account) -> dict[str, Any]:
    return dict(AccountFields(account).data)
