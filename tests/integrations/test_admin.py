"""Admin of tenants, accounts and tokens; and every page in the theme."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task
from django_q.signing import SignedPackage
from unfold.admin import ModelAdmin

from integrations.admin import tenants
from integrations.models import (
    Account,
    Delivery,
    Organisation,
    ProviderResource,
    ServiceToken,
)
from integrations.models.tokens import PREFIX, digest

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="default", name="Demo office")


def account(organisation: Organisation, user: str = "maya", source: str = "gmail") -> Account:
    return Account.objects.create(
        organisation=organisation,
        external_user_id=user,
        source=source,
        address=f"{user}@company.com",
        display_name=SCRIPT,
    )


def token_form(organisation: Organisation, **fields: object) -> dict[str, object]:
    return {
        "organisation": str(organisation.id),
        "name": "web frontend",
        "scopes": ["chat", "audit:read"],
        "user_ids": "maya,omar",
        "expires_at_0": "",
        "expires_at_1": "",
        **fields,
    }


def test_every_registered_model_is_in_the_theme() -> None:
    outside = [
        model.__name__
        for model, shown in admin.site._registry.items()
        if not isinstance(shown, ModelAdmin)
    ]

    assert outside == []


def test_a_new_token_is_shown_once_and_stored_as_a_digest_only(
    admin_client: Client, organisation: Organisation
) -> None:
    shown = admin_client.post(
        reverse("admin:integrations_servicetoken_add"), token_form(organisation)
    )

    assert shown.status_code == 200
    assert "no-store" in shown["Cache-Control"]
    plain = str(shown.context["plain"])
    assert plain.startswith(PREFIX)
    assert plain in shown.content.decode()
    stored = ServiceToken.objects.get()
    assert stored.digest == digest(plain)
    assert (stored.scopes, stored.user_ids) == (["chat", "audit:read"], ["maya", "omar"])
    for page in (
        reverse("admin:integrations_servicetoken_changelist"),
        reverse("admin:integrations_servicetoken_change", args=[stored.id]),
    ):
        later = admin_client.get(page).content.decode()
        assert plain not in later
        assert stored.digest not in later


def test_a_token_without_a_scope_is_not_made(
    admin_client: Client, organisation: Organisation
) -> None:
    answer = admin_client.post(
        reverse("admin:integrations_servicetoken_add"), token_form(organisation, scopes=[])
    )

    assert "This field is required." in answer.content.decode()
    assert not ServiceToken.objects.exists()


def test_changing_a_token_keeps_its_digest(
    admin_client: Client, organisation: Organisation
) -> None:
    token, _ = ServiceToken.issue(organisation=organisation, name="old", scopes=["chat"])

    admin_client.post(
        reverse("admin:integrations_servicetoken_change", args=[token.id]),
        token_form(organisation, name="new", scopes=["sync"]),
    )

    changed = ServiceToken.objects.get()
    assert (changed.name, changed.scopes, changed.digest) == ("new", ["sync"], token.digest)


def test_revoking_stops_the_chosen_tokens_only(
    admin_client: Client, organisation: Organisation
) -> None:
    chosen, _ = ServiceToken.issue(organisation=organisation, name="a", scopes=["chat"])
    other, _ = ServiceToken.issue(organisation=organisation, name="b", scopes=["chat"])

    admin_client.post(
        reverse("admin:integrations_servicetoken_changelist"),
        {"action": "revoke", "_selected_action": [str(chosen.id)]},
    )

    chosen.refresh_from_db()
    other.refresh_from_db()
    assert chosen.revoked_at is not None
    assert other.revoked_at is None


def test_an_accounts_page_leads_to_its_limits(
    admin_client: Client, organisation: Organisation
) -> None:
    mailbox = account(organisation)

    page = admin_client.get(reverse("admin:integrations_account_change", args=[mailbox.id]))

    for limits in ("allowedaction", "allowedactionoption", "targetgroup", "learnedpattern"):
        address = reverse(f"admin:guardrails_{limits}_changelist")
        assert f"{address}?account__id__exact={mailbox.id}" in page.content.decode()
    assert "0 handled, 0 only read, 0 left alone" in page.content.decode()
    assert SCRIPT not in page.content.decode()


def test_the_page_of_an_account_counts_no_more_than_the_newest_that_arrived(
    admin_client: Client, organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenants, "MOST_COUNTED", 3)
    account = Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail"
    )
    address = reverse("admin:integrations_account_change", args=[account.pk])
    says = {}
    for number, state in enumerate(("dead", "skipped", "processed", "skipped")):
        Delivery.objects.create(
            organisation=organisation,
            account=account,
            webhook_id=str(number),
            kind="created",
            source="gmail",
            source_id=str(number),
            body={},
            state=state,
        )
        [says[number]] = re.findall(
            r"[^<>]*handled, [^<>]*in work", admin_client.get(address).content.decode()
        )[:1]

    assert says[1].strip() == (
        "In the last 30 days: 0 handled, 0 only read, 1 left alone, 1 dead letters, 0 in work"
    )
    assert says[3].strip() == (
        "Of the newest 3: 0 handled, 1 only read, 2 left alone, 0 dead letters, 0 in work"
    )


def test_whose_account_it_is_never_changes(
    admin_client: Client, organisation: Organisation
) -> None:
    mailbox = account(organisation)

    admin_client.post(
        reverse("admin:integrations_account_change", args=[mailbox.id]),
        {
            "external_user_id": "omar",
            "source": "jira",
            "address": "new@company.com",
            "display_name": "Maya",
            "time_zone": "Europe/Stockholm",
            "paused": "on",
        },
    )

    mailbox.refresh_from_db()
    assert (mailbox.external_user_id, mailbox.source) == ("maya", "gmail")
    # Only a switch pauses, so that who and why are known.
    assert (mailbox.address, mailbox.paused) == ("new@company.com", False)


def test_an_unknown_time_zone_is_refused_in_a_sentence(
    admin_client: Client, organisation: Organisation
) -> None:
    answer = admin_client.post(
        reverse("admin:integrations_account_add"),
        {
            "organisation": str(organisation.id),
            "external_user_id": "maya",
            "source": "gmail",
            "time_zone": "Mars/Base",
        },
    )

    assert "“Mars/Base” is not a time zone" in answer.content.decode()
    assert not Account.objects.exists()


def test_only_mail_over_smtp_is_copied_to_its_user(
    admin_client: Client, organisation: Organisation
) -> None:
    fields = {"time_zone": "UTC", "display_name": "Maya", "bcc_self": "on"}
    gmail = account(organisation)
    page = reverse("admin:integrations_account_change", args=[gmail.id])

    answer = admin_client.post(page, fields)

    assert "Only mail that is sent over SMTP needs a copy." in answer.content.decode()
    gmail.refresh_from_db()
    assert not gmail.bcc_self

    mailbox = account(organisation, source="imap")
    page = reverse("admin:integrations_account_change", args=[mailbox.id])
    admin_client.post(page, fields)

    mailbox.refresh_from_db()
    assert mailbox.ref().bcc_self


def test_an_account_or_an_organisation_is_paused_but_not_deleted(
    admin_client: Client, organisation: Organisation
) -> None:
    mailbox = account(organisation)

    for page in (
        reverse("admin:integrations_account_delete", args=[mailbox.id]),
        reverse("admin:integrations_organisation_delete", args=[organisation.id]),
    ):
        assert admin_client.post(page, {"post": "yes"}).status_code == 403

    assert Account.objects.get() == mailbox


def test_an_organisations_slug_is_fixed_once_it_is_used(
    admin_client: Client, organisation: Organisation
) -> None:
    admin_client.post(
        reverse("admin:integrations_organisation_change", args=[organisation.id]),
        {"name": "Another name", "slug": "other"},
    )

    organisation.refresh_from_db()
    assert (organisation.name, organisation.slug) == ("Another name", "default")


def test_times_show_their_zone(admin_client: Client, organisation: Organisation) -> None:
    page = admin_client.get(reverse("admin:integrations_organisation_changelist"))

    assert f"{organisation.created_at:%-d %b %Y, %H:%M:%S} UTC" in page.content.decode()


def test_the_queues_pages_only_show(admin_client: Client) -> None:
    schedule = Schedule.objects.create(name="sweep", func="agents.tasks.sweep")
    address = reverse("admin:django_q_schedule_change", args=[schedule.pk])

    assert admin_client.get(address).status_code == 200
    assert admin_client.post(address, {"func": "os.system"}).status_code == 403
    assert admin_client.get(reverse("admin:django_q_schedule_add")).status_code == 403
    schedule.refresh_from_db()
    assert schedule.func == "agents.tasks.sweep"


def rows(organisation: Organisation, numbers: range) -> None:
    for number in numbers:
        owner = account(organisation, user=f"user-{number}")
        ProviderResource.objects.create(
            account=owner, resource_type="thread", external_id=f"t-{number}"
        )
        ServiceToken.issue(organisation=organisation, name=f"token {number}", scopes=["chat"])
        Organisation.objects.create(slug=f"o-{number}", name=f"Office {number}")
        User.objects.create(username=f"user-{number}")
        Group.objects.create(name=f"group {number}")
        Schedule.objects.create(name=f"s-{number}", func="agents.tasks.sweep")
        package = {"id": str(number), "name": str(number), "func": "x.y", "args": (str(number),)}
        OrmQ.objects.create(key="remit", payload=SignedPackage.dumps(package))
        Task.objects.create(
            id=f"{number:032}",
            name=str(number),
            func="x.y",
            started=timezone.now(),
            stopped=timezone.now(),
            success=number % 2 == 0,
            result=SCRIPT,
        )


LISTS = (
    "integrations_account",
    "integrations_organisation",
    "integrations_providerresource",
    "integrations_servicetoken",
    "auth_user",
    "auth_group",
    "django_q_ormq",
    "django_q_failure",
    "django_q_schedule",
    "django_q_success",
)


def test_a_list_asks_as_often_for_two_hundred_rows_as_for_five(
    admin_client: Client, organisation: Organisation
) -> None:
    def asked() -> dict[str, int]:
        found = {}
        for name in LISTS:
            with CaptureQueriesContext(connection) as queries:
                page = admin_client.get(reverse(f"admin:{name}_changelist"))
            assert page.status_code == 200
            assert SCRIPT not in page.content.decode()
            found[name] = len(queries)
        return found

    asked()  # what is asked once a process
    rows(organisation, range(5))
    few = asked()
    rows(organisation, range(5, 200))

    assert asked() == few


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("gmail", "says for certain whether the write was done"),
        ("gmail", "refuses to change what was changed meanwhile"),
        ("gmail", "history is compared with the ledger"),
        ("mcp", "a person is asked"),
        ("mcp", "can be overwritten"),
        ("mcp", "no history"),
        ("outlook", "Remit only reads here"),
    ],
)
def test_an_account_says_what_can_be_proved_there(
    admin_client: Client, organisation: Organisation, source: str, said: str
) -> None:
    row = account(organisation, source=source)

    page = admin_client.get(reverse("admin:integrations_account_change", args=[row.pk]))

    assert said in page.content.decode()
