"""The page about oneself: what it stores, of whom, and what it tells."""

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, time
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.activity import digest_mail
from audit.contracts import LEDGER_TENANT, Filters, LedgerError
from audit.ledger import events
from audit.ledger.selectors import actions
from guardrails.models import ApprovalRecipient
from integrations.contracts.preferences import DAYS
from integrations.models import (
    Membership,
    Organisation,
    PersonalSettings,
    Session,
    SignInIdentity,
    UserPreferences,
)
from integrations.web import sessions
from tests.agents.pages import mailbox
from tests.clients import client_of, log_in

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SAID = {
    "language": "de",
    "time_zone": "Europe/Berlin",
    "quiet_from": "22:00",
    "quiet_until": "07:00",
    "quiet_days": ["monday", "friday"],
    "daily_digest": "no",
}


@pytest.fixture
def maya() -> Client:
    mailbox("maya")
    client = log_in("maya.lindqvist", "use_own_console")
    Membership.objects.update(external_user_id="maya")
    return client


def read(client: Client, **headers: Any) -> str:
    answer = client.get(reverse("console-you"), headers=headers)
    assert answer.status_code == 200
    return html.unescape(" ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split()))


def store(client: Client, **said: Any) -> Any:
    return client.post(reverse("console-you"), SAID | said)


def rows(user: str) -> list[Any]:
    found = PersonalSettings.objects.filter(user__username=user)
    return list(
        found.values_list("language", "time_zone", "quiet_from", "quiet_until", "quiet_days")
    )


def rows_of(action_type: str) -> list[Any]:
    """The newest last."""
    filters = Filters(tenant_id=LEDGER_TENANT, action_type=action_type)
    return [(row.actor_id, row.payload) for row in actions(filters=filters, limit=500).rows][::-1]


@pytest.fixture
def recorded() -> Callable[[], list[Any]]:
    """Rows of this test about quiet hours: by whom, and which."""
    before = len(rows_of("person.quiet_hours"))
    return lambda: [(by, about["quiet"]) for by, about in rows_of("person.quiet_hours")[before:]]


def test_a_user_of_the_agent_says_language_and_zone_of_that_user_and_hours_of_their_own(
    maya: Client, recorded: Callable[[], list[Any]]
) -> None:
    answer = store(maya)

    assert answer.headers["Location"] == "/console/you?organisation=default&saved=1"
    said = UserPreferences.objects.get(external_user_id="maya")
    assert (said.language, said.time_zone, said.daily_digest) == ("de", "Europe/Berlin", False)
    assert rows("maya.lindqvist") == [("", "", time(22), time(7), ["monday", "friday"])]
    assert recorded() == [("operator:maya.lindqvist", "22:00-07:00 monday friday")]
    page = maya.get(answer.headers["Location"]).content.decode()
    assert '<html lang="de">' in page
    assert "Gespeichert." in page
    for field in (
        'value="Europe/Berlin"',
        'value="22:00"',
        'value="07:00"',
        'value="friday" checked',
        'value="no" selected',
    ):
        assert field in page
    assert page.count(" checked") == 2


def test_the_same_hours_again_are_no_row_and_none_are_one(
    maya: Client, recorded: Callable[[], list[Any]]
) -> None:
    store(maya)
    store(maya, language="fr")
    assert len(recorded()) == 1
    store(maya, quiet_from="", quiet_until="")

    assert rows("maya.lindqvist") == [("", "", None, None, [])]
    assert recorded()[1:] == [("operator:maya.lindqvist", "")]


def test_an_approver_without_the_console_has_the_page_and_reads_in_their_language() -> None:
    mailbox("maya")
    ann = log_in("ann", "change_approval")
    assert ann.get(reverse("console")).status_code == 403
    assert "Patterns" not in read(ann)
    store(ann, language="it", time_zone="Europe/Rome")

    assert rows("ann") == [("it", "Europe/Rome", time(22), time(7), ["monday", "friday"])]
    assert not UserPreferences.objects.exists()
    assert "Ore di silenzio" in read(ann, accept_language="fr")
    assert "Quiet hours" in read(client_of(User.objects.create(username="bob", is_staff=True)))


def test_an_operators_own_language_wins_over_the_browsers_and_the_users_on_every_page() -> None:
    mailbox("maya")
    olga = log_in("olga", "use_console")
    drafts = reverse("console-drafts")
    assert "Brouillons" in olga.get(drafts, headers={"accept-language": "fr"}).content.decode()
    store(olga, language="es")

    assert "Borradores" in olga.get(drafts, headers={"accept-language": "fr"}).content.decode()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"quiet_until": ""}, "Say both when it begins and when it ends."),
        ({"quiet_until": "22:00"}, "A whole day cannot be quiet: say when it ends."),
        ({"quiet_days": []}, "Choose the days on which they begin."),
        ({"quiet_from": "25:00"}, "Enter a valid time."),
        ({"time_zone": "Europe/Atlantis"}, "There is no such time zone."),
        ({"language": "tlh"}, "Choose a language of the list."),
        ({"quiet_days": ["someday"]}, "Select a valid choice."),
    ],
)
def test_what_cannot_be_is_said_at_its_field_and_nothing_is_stored(
    maya: Client, said: dict[str, Any], sentence: str, recorded: Callable[[], list[Any]]
) -> None:
    answer = store(maya, **said)

    page = answer.content.decode()
    assert answer.status_code == 200
    assert sentence in page
    assert "Nothing was saved" in page
    assert (rows("maya.lindqvist"), recorded()) == ([], [])
    assert not UserPreferences.objects.exists()


def test_another_language_that_a_user_chose_over_the_api_stays(maya: Client) -> None:
    of = {"organisation": Organisation.objects.get(), "external_user_id": "maya"}
    UserPreferences.objects.create(**of, language="pt-BR", signature="Maya")
    assert "pt-BR" in read(maya)
    store(maya, language="pt-BR")

    row = UserPreferences.objects.get()
    assert (row.language, row.signature, row.time_zone) == ("pt-BR", "Maya", "Europe/Berlin")


def test_where_the_ledger_takes_no_row_nothing_is_changed(
    maya: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **named: Any) -> None:
        raise LedgerError

    monkeypatch.setattr(events, "record", fail)
    page = store(maya).content.decode()

    assert "nothing was changed" in page
    assert rows("maya.lindqvist") == []
    assert not UserPreferences.objects.exists()


def test_it_lists_by_what_one_hears_and_nothing_of_other_people(settings: Any) -> None:
    settings.EMAIL_URL = "smtp://mail.company.com"
    mailbox("maya")
    here, there = Organisation.objects.get(), Organisation.objects.create(slug="elsewhere")
    ann = User.objects.create(username="ann", email="ann@company.com", is_staff=True)
    Membership.objects.create(user=ann, organisation=here)
    ann.user_permissions.set(Permission.objects.filter(codename="change_approval"))
    bob = User.objects.create(username="bob", email="bob@company.com", is_staff=True)
    Membership.objects.create(user=bob, organisation=here)
    every: dict[str, Any] = {"organisation": here, "added_by": "operator:olga"}
    ApprovalRecipient.objects.create(
        **every,
        name="Ann",
        address="ANN@company.com",
        after_minutes=30,
        quiet_from=time(20),
        quiet_until=time(7),
        time_zone="Europe/Berlin",
    )
    ApprovalRecipient.objects.create(**every, name="Bob", address="bob@company.com")
    ApprovalRecipient.objects.create(**every, name="Desk", kind="slack", address="hooks.slack.com")
    ApprovalRecipient.objects.create(
        **every | {"organisation": there}, name="Theirs", kind="teams", address="x.example"
    )
    page = read(client_of(ann))

    assert "Mail to ANN@company.com What nobody has decided after 30 minutes" in page
    assert "Never from 20:00 to 07:00 (Europe/Berlin)" in page
    assert "Slack, channel “Desk” At once Your quiet hours do not hold it" in page
    assert "bob@company.com" not in page
    assert "Theirs" not in page
    assert "Nothing is sent to you about what waits." in read(client_of(bob))


def test_it_lists_ones_own_accounts_and_ways_to_log_in(maya: Client) -> None:
    mailbox("omar")
    user = User.objects.get(username="maya.lindqvist")
    SignInIdentity.objects.create(user=user, issuer="https://id.company.com", subject="7")
    page = read(maya)

    assert "maya@company.com" in page
    assert "omar@company.com" not in page
    assert "You log in at https://id.company.com" in page
    assert "Change your password" in page
    user.set_unusable_password()
    user.save()
    assert "Change your password" not in read(client_of(user))


def test_nobody_but_staff_has_one() -> None:
    assert Client().get(reverse("console-you")).status_code == 302
    assert Client().post(reverse("console-you"), SAID).status_code == 302
    guest = client_of(User.objects.create(username="guest"))
    assert guest.post(reverse("console-you"), SAID).status_code == 403
    assert not PersonalSettings.objects.exists()


def test_a_new_password_is_of_the_person_and_a_row_of_the_ledger() -> None:
    before = len(rows_of("login.password_changed"))
    user = User.objects.create(username="ann", is_staff=True)
    user.set_password("a long and honest one")
    user.save()
    here, elsewhere = client_of(user), client_of(user)
    assert here.get("/admin/password_change/").headers["Location"] == "/accounts/password/change/"
    form = {"oldpassword": "wrong", "password1": "another honest one", "password2": ""}
    form["password2"] = form["password1"]
    here.post("/accounts/password/change/", form)
    assert len(rows_of("login.password_changed")) == before
    answer = here.post(
        "/accounts/password/change/", form | {"oldpassword": "a long and honest one"}
    )

    assert answer.headers["Location"] == reverse("console-you")
    assert [about for _, about in rows_of("login.password_changed")[before:]] == [
        {"description": "ann chose a new password", "operator": "ann"}
    ]
    assert here.get(reverse("console-you")).status_code == 200
    assert elsewhere.get(reverse("console-you")).status_code == 302


LINUX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)


def log_in_with(user: User, browser: str) -> Client:
    client = Client(headers={"User-Agent": browser})
    given = {"login": user.username, "password": "a long and honest one"}
    assert client.post("/accounts/login/", given).status_code == 302
    return client


def log_ins(client: Client) -> list[tuple[str, bool]]:
    found = client.get(reverse("console-you")).context["log_ins"]
    return [(one.browser, one.is_this) for one, _, _ in found]


@pytest.fixture
def ann() -> User:
    user = User.objects.create(username=f"ann-{uuid4().hex[:8]}", is_staff=True)
    user.set_password("a long and honest one")
    user.save()
    return user


def test_one_sees_where_one_is_logged_in_and_ends_it(ann: User) -> None:
    before = len(rows_of("login.ended"))
    here, phone, other = log_in_with(ann, LINUX), log_in_with(ann, PHONE), log_in_with(ann, "")
    bob = User.objects.create(username="bob", is_staff=True)
    bobs = client_of(bob)

    assert [log_ins(here)[0], *sorted(log_ins(here)[1:])] == [
        ("Firefox (Linux)", True),
        ("", False),
        ("Safari (iPhone)", False),
    ]
    assert "A browser that is not known" in read(here)
    listed = here.get(reverse("console-you")).context["log_ins"]
    ids = {one.browser: one.id for one, _, _ in listed}
    assert here.session.session_key not in ids.values()
    address = reverse("console-you-log-out")
    assert bobs.post(address, {"session": ids["Safari (iPhone)"]}).status_code == 302
    assert phone.get(reverse("console-you")).status_code == 200

    answer = here.post(address, {"session": ids["Safari (iPhone)"]}, follow=True)

    assert "You are logged out there." in html.unescape(answer.content.decode())
    assert phone.get(reverse("console-you")).status_code == 302
    assert log_ins(here) == [("Firefox (Linux)", True), ("", False)]
    here.post(address)
    assert log_ins(here) == [("Firefox (Linux)", True)]
    assert other.get(reverse("console-you")).status_code == 302
    assert bobs.get(reverse("console-you")).status_code == 200
    said = f"{ann.username} logged out in other browsers"
    assert [about for _, about in rows_of("login.ended")[before:]] == [
        {"description": said, "operator": ann.username, "browsers": ["Safari (iPhone)"]},
        {"description": said, "operator": ann.username, "browsers": [""]},
    ]
    here.post(address)
    assert len(rows_of("login.ended")) == before + 2
    assert Client().post(address).status_code == 302


def test_a_new_password_leaves_no_other_log_in(ann: User) -> None:
    here, phone = log_in_with(ann, LINUX), log_in_with(ann, PHONE)
    form = {"oldpassword": "a long and honest one", "password1": "another honest one"}
    here.post("/accounts/password/change/", form | {"password2": form["password1"]})

    assert log_ins(here) == [("Firefox (Linux)", True)]
    assert phone.get(reverse("console-you")).status_code == 302
    assert Session.objects.filter(user=ann).count() == 1

    # An administrator sets one.
    again = client_of(User.objects.get(pk=ann.pk))
    ann.refresh_from_db()
    ann.set_password("a third honest one")
    ann.save()
    assert log_ins(client_of(ann)) == [("", True)]
    assert again.get(reverse("console-you")).status_code == 302


def test_a_log_in_says_the_hour_of_its_use_and_ends_by_itself(ann: User) -> None:
    here = log_in_with(ann, LINUX)
    row = Session.objects.get(user=ann)
    assert row.began_at is not None
    assert row.used_at is not None
    assert (row.used_at.minute, row.used_at.second) == (0, 0)
    session = here.session
    session[sessions.USED] = "2026-01-05T10:00:00+00:00"
    session.save()

    assert "last used in the hour from 2026-01-05 10:00 UTC" in read(here)
    row.refresh_from_db()
    assert row.used_at.year == timezone.now().year
    Session.objects.update(expire_date=timezone.now())
    log_in_with(ann, PHONE)
    assert [one.browser for one in Session.objects.filter(user=ann)] == ["Safari (iPhone)"]


def test_ones_quiet_hours_hold_the_mail_about_the_day_until_they_end(
    maya: Client, settings: Any
) -> None:
    settings.EMAIL_URL = "smtp://mail.company.com"
    Organisation.objects.update(daily_digest=True)
    UserPreferences.objects.create(
        organisation=Organisation.objects.get(),
        external_user_id="maya",
        time_zone="Europe/Berlin",
    )
    user = User.objects.get(username="maya.lindqvist")
    PersonalSettings.objects.create(
        user=user, quiet_from=time(22), quiet_until=time(9, 30), quiet_days=list(DAYS)
    )
    assert digest_mail.claim_due(now=datetime(2026, 11, 26, 6, 0, tzinfo=UTC)) == []
    assert digest_mail.claim_due(now=datetime(2026, 11, 26, 8, 29, tzinfo=UTC)) == []
    assert len(digest_mail.claim_due(now=datetime(2026, 11, 26, 8, 30, tzinfo=UTC))) == 1


def test_it_is_behind_ones_name_in_the_admin() -> None:
    mailbox("maya")
    ann = log_in("ann", "change_approval", "view_approval")
    page = ann.get(reverse("admin:guardrails_approval_changelist")).content.decode()

    assert 'href="/console/you"' in page
