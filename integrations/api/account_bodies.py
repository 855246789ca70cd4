"""What is said about accounts of users' own over the API, and what is asked."""

from typing import Any, get_args

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import exceptions, serializers

from integrations.accounts import connectables, connecting, health
from integrations.models import Account
from integrations.ports.provider import News
from integrations.ports.registry import BY_SOURCE
from integrations.providers.connectable import Name
from integrations.web.serializers import StrictCharField, StrictSerializer

SECURITY = ("tls", "starttls")
ONES = {source: one for source, one in connectables.ALL.items() if one.consent is None}
NAMED = [source for source, one in ONES.items() if "url" in one.asked and one.asked["url"].missing]
# What some providers ask for and others do not.
SOMETIMES: tuple[Name, ...] = ("imap", "smtp", "url", "projects", "readers")


class NamedServer(StrictSerializer):
    host = StrictCharField(max_length=253)
    port = serializers.IntegerField(min_value=1, max_value=65535, required=False)
    security = serializers.ChoiceField(
        choices=SECURITY, required=False, help_text="Left out: as is usual at that port."
    )


class AccountTrial(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field of the body
        choices=sorted(ONES),
        required=False,
        help_text=" ".join(f"{source}: {one.in_short}." for source, one in ONES.items()),
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
        help_text="The server, or the folder. Left out: found likewise, or github.com. Needed for "
        f"{', '.join(NAMED)}.",
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
        asked = ONES[given.get("source", connecting.SOURCE)].asked
        for name, one in asked.items():
            if one.missing and name not in given:
                raise exceptions.ValidationError({name: [one.missing]})
        wrong: dict[str, list[str]] = {
            name: ["There is none of what you connect."]
            for name in SOMETIMES
            if name in given and name not in asked
        }
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
    books = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Names of address books."
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


class AccountChange(StrictSerializer):
    bcc_self = serializers.BooleanField(
        required=False,
        help_text="Whether the user gets a blind copy of each mail that Remit sends, which proves "
        "that it went out. For mail over IMAP and SMTP.",
    )


class AccountFields(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    user_id = serializers.CharField(source="external_user_id")
    source = serializers.CharField()  # type: ignore[assignment]  # a field of the answer
    address = serializers.CharField()
    display_name = serializers.CharField()
    bcc_self = serializers.BooleanField(
        help_text="Whether the user gets a blind copy of each mail that Remit sends."
    )
    health = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField(help_text="good, sign_in or not_connected")
    news = serializers.SerializerMethodField(
        help_text="How Remit hears of a change there. pushed: the other side calls Remit, once "
        "that is set up there, by somebody or by Remit itself. listened: it says so at once, on a "
        "connection that Remit keeps open. looked: it says nothing, and Remit looks from time to "
        "time. Beside the first two Remit looks, too."
    )

    def get_state(self, account: Account) -> str:
        return health.state_of(account)

    @extend_schema_field(serializers.ChoiceField(choices=get_args(News)))
    def get_news(self, account: Account) -> News:
        declared = BY_SOURCE[account.source].news
        if declared == "pushed" and not health.is_pushed(account, now=timezone.now()):
            return "looked"
        return declared

    def get_health(self, account: Account) -> str:
        return health.in_words(account, now=timezone.now())


class UserOf(StrictSerializer):
    user_id = StrictCharField(max_length=200)
