"""The API of accounts of users' own: tried, connected, looked after and disconnected through their
frontend."""

from typing import Any
from uuid import UUID

from django.core.cache import cache as shared
from django.core.exceptions import ValidationError as InvalidRow
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from integrations.accounts import connecting, consent, health, trials
from integrations.accounts.connecting import Offer, Wish
from integrations.accounts.trials import Found
from integrations.credentials.sealing import BadKey
from integrations.exceptions import ProviderError, RateLimited
from integrations.models import Account
from integrations.providers.imap.servers import MailServers, read_server
from integrations.web.authentication import Caller, HasScope, TokenThrottle, caller_for
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer

SECURITY = ("tls", "starttls")
NAMED = {"jira_issues": "Name the Jira.", "webdav": "Name the folder."}


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


class NamedServer(StrictSerializer):
    host = StrictCharField(max_length=253)
    port = serializers.IntegerField(min_value=1, max_value=65535, required=False)
    security = serializers.ChoiceField(
        choices=SECURITY, required=False, help_text="Left out: as is usual at that port."
    )


class AccountTrial(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field of the body
        choices=sorted(set(connecting.ONE) - set(consent.PLACES)),
        required=False,
        help_text="imap: a mailbox, as where it is left out. jmap: one whose server speaks JMAP. "
        "caldav: calendars. webdav: a folder of files. github_issues, jira_issues: issues there.",
    )
    address = StrictCharField(max_length=320)
    password = StrictCharField(
        max_length=1000,
        trim_whitespace=False,
        help_text="Most providers want an app password, made in the account's settings there; an "
        "issue tracker wants a token.",
    )
    user_name = StrictCharField(
        max_length=320, required=False, help_text="Where it is not the address."
    )
    imap = NamedServer(required=False, help_text="Left out: found by the address.")
    smtp = NamedServer(required=False, help_text="To send with; only beside `imap`.")
    url = StrictCharField(
        max_length=500,
        required=False,
        help_text="The server of caldav or jmap, a folder of webdav, a GitHub Enterprise Server, "
        "or the Jira. Left out: found likewise, or github.com; a folder and a Jira are named.",
    )
    projects = serializers.ListField(
        child=StrictCharField(max_length=255),
        max_length=200,
        required=False,
        help_text="Of an issue tracker: only these. Left out: all that the token shows.",
    )
    readers = serializers.ListField(
        child=StrictCharField(max_length=320),
        max_length=200,
        required=False,
        help_text="Of a folder: who else reads it, by mail address; an empty list: nobody. Left "
        "out: not known, and nothing is written there unless the server itself tells.",
    )
    display_name = StrictCharField(
        max_length=200,
        required=False,
        help_text="As it stands beside the address in mail and invitations.",
    )
    time_zone = StrictCharField(max_length=64, required=False)

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        source = given.get("source", connecting.SOURCE)
        others = ["url"] if source == "imap" else ["imap", "smtp"]
        if source in NAMED and "url" not in given:
            raise exceptions.ValidationError({"url": [NAMED[source]]})
        if source != "webdav":
            others.append("readers")
        if connecting.ONE[source] != "tracker":
            others.append("projects")
        wrong = {name: ["There is none of what you connect."] for name in others if name in given}
        if "smtp" in given and "imap" not in given:
            wrong.setdefault("imap", ["Name the mail server, too."])
        if wrong:
            raise exceptions.ValidationError(wrong)
        return given


class AbilityFields(serializers.Serializer[Any]):
    what = serializers.CharField()
    grade = serializers.CharField(
        help_text="How surely Remit can prove it, A to D; empty: it cannot be done there."
    )
    why = serializers.CharField()


class TrialFields(serializers.Serializer[Any]):
    server = serializers.CharField()
    mails = serializers.IntegerField(allow_null=True, help_text="In the inbox of a mailbox.")
    calendars = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Their names."
    )
    folders = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Those directly in a folder."
    )
    projects = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Of a tracker: those with issues."
    )
    abilities = AbilityFields(many=True)
    offer = serializers.CharField(
        help_text="Send it back within ten minutes to connect the account."
    )


class Acceptance(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    offer = StrictCharField(max_length=20_000)


class AccountFields(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    user_id = serializers.CharField(source="external_user_id")
    source = serializers.CharField()  # type: ignore[assignment]  # a field of the answer
    address = serializers.CharField()
    display_name = serializers.CharField()
    health = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField(help_text="good, sign_in or not_connected")

    def get_state(self, account: Account) -> str:
        return health.state_of(account)

    def get_health(self, account: Account) -> str:
        return health.in_words(account, now=timezone.now())


class UserOf(StrictSerializer):
    user_id = StrictCharField(max_length=200)


class TrialView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]
    throttle_classes = [TokenThrottle, TrialThrottle]

    @extend_schema(request=AccountTrial, responses=TrialFields, operation_id="account_try")
    def post(self, request: Request) -> Response:
        """Sign in at a mailbox, calendars, files or a tracker and say what Remit can do and prove
        there. Nothing is stored or changed. The password is sealed into `offer`, which this
        installation's own servers on the web cannot open."""
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
            found = _tried(wish, given)
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
        user_id = request.query_params.get("user_id", "")
        if not user_id:
            raise exceptions.ValidationError({"user_id": ["Say for which user."]})
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


class DisconnectView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("accounts")]

    @extend_schema(request=UserOf, responses=AccountFields, operation_id="account_disconnect")
    def post(self, request: Request, account_id: UUID) -> Response:
        """Forget the password: nothing is read or changed there any more. What was read in, what
        the agent may do, and the ledger stay."""
        user_id = UserOf.read(request.data)["user_id"]
        account = _own(caller_for(request, user_id), user_id).filter(id=account_id).first()
        if account is None:
            raise exceptions.NotFound("There is no such account.")
        connecting.disconnect(account.ref())
        return Response(_described(account))


def offered(found: Found, offer: Offer, *, by: str) -> Response:
    """What can be done there, and the offer for who asked."""
    return Response(
        {
            "server": found.host,
            "mails": found.mails,
            "calendars": found.calendars,
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
            source__in=connecting.ONE,
        )
        .order_by("created_at", "id")
    )


def name_of(caller: Caller, user_id: str) -> str:
    """Who may accept an offer."""
    return f"{caller.organisation_id} {caller.principal} {user_id}"


def _tried(wish: Wish, given: dict[str, Any]) -> Found:
    about = {"user_name": wish.user_name, "secret": given["password"]}
    if wish.source == "caldav":
        return trials.try_calendars(wish.address, given.get("url", ""), **about)
    if wish.source == "webdav":
        return trials.try_files(given["url"], readers=given.get("readers"), **about)
    only, secret = given.get("projects", ()), given["password"]
    if wish.source == "github_issues":
        return trials.try_github(given.get("url", ""), only=only, secret=secret)
    if wish.source == "jira_issues":
        return trials.try_jira(given["url"], only=only, **about)
    if wish.source == "jmap":
        return trials.try_jmap(wish.address, given.get("url", ""), **about)
    return trials.try_mailbox(wish.address, _named(given), **about)


def _named(given: dict[str, Any]) -> MailServers | None:
    if "imap" not in given:
        return None
    smtp = _server(given, "smtp", 465) if "smtp" in given else None
    return MailServers(imap=_server(given, "imap", 993), smtp=smtp)


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
