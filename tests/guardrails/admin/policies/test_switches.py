"""The page of switches, without a browser."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from guardrails.execute.executor import execute
from guardrails.models import KillSwitch
from integrations.models import Delivery, Membership
from tests.clients import log_in, read_page
from tests.commands import run_command
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = "<script>alert(1)</script>"


def page(client: Client, office: Office, **query: str) -> str:
    given = {"organisation": office.organisation.slug} | query
    return read_page(client, reverse("admin:guardrails_killswitch_changelist"), **given)


def flip(client: Client, office: Office, **fields: Any) -> Any:
    given = {"organisation": office.organisation.pk, "flip": "off", "why": "A wave"} | fields
    return client.post(reverse("admin:guardrails_killswitch_flip"), given, follow=True)


def test_one_button_stops_and_one_lets_run(office: Office, client: Client) -> None:
    office.permit("archive")
    stopped = flip(client, office, account=office.mailbox.pk).content.decode()
    refused = execute(office.request("archive", {"email_id": office.receive()}))
    running = flip(client, office, account=office.mailbox.pk, flip="on").content.decode()

    assert "Nothing is under way any more" in stopped
    assert "Stopped by operator olga at " in stopped
    assert refused.reason == "switched_off"
    assert "runs again" in running
    assert KillSwitch.objects.get().lifted_by == "operator:olga"


def test_every_switch_has_a_button_with_a_name(office: Office, client: Client) -> None:
    text = page(client, office)
    names = re.findall(r'<button[^>]+aria-label="Stop: ([^"]+)"', text)
    assert names[:2] == ["Everything", "All of Company"]
    assert {"Send a mail", "Maya Lindqvist · Gmail", "Jira"} <= set(names)
    assert text.count("csrfmiddlewaretoken") >= len(names)


def test_what_people_rarely_look_for_is_folded_away_until_something_of_it_is_stopped(
    office: Office, client: Client
) -> None:
    def opened(text: str) -> list[bool]:
        found = re.findall(r"<details( open)?><summary[^>]*><h2", text)
        return [bool(one) for one in found]

    assert opened(page(client, office)) == [False, False, False]
    assert opened(page(client, office, q="Lindq")) == [False, False, True]
    flip(client, office, action_type="archive")
    text = page(client, office)
    assert opened(text) == [True, False, False]
    assert "stopped with all" not in text
    flip(client, office)
    text = page(client, office)
    assert "stopped with all" in text
    assert ">running<" not in re.sub(r"\s+", "", text)


def test_who_stops_need_not_say_why_and_who_lets_run_must(office: Office, client: Client) -> None:
    flip(client, office, why="  ")
    assert KillSwitch.objects.get().why == "no reason was given"
    assert "Say why" in flip(client, office, why="  ", flip="on").content.decode()
    assert KillSwitch.objects.get().lifted_at is None


def test_reasons_are_plain_text(office: Office, client: Client) -> None:
    flip(client, office, why=HOSTILE)
    assert HOSTILE not in page(client, office)
    assert "&lt;script&gt;" in page(client, office)


@pytest.mark.parametrize(
    "fields",
    [{"organisation": "x"}, {"action_type": "invented"}, {"organisation": "", "source": "gmail"}],
)
def test_what_is_no_switch_is_said_in_words(
    office: Office, client: Client, fields: dict[str, str]
) -> None:
    assert "There is no such switch." in flip(client, office, **fields).content.decode()
    assert not KillSwitch.objects.exists()


def test_flipping_needs_the_right_a_post_and_a_csrf_token(office: Office, client: Client) -> None:
    looking = log_in("rita", "view_killswitch")
    careless = Client(enforce_csrf_checks=True)
    careless.force_login(User.objects.get(username="olga"))

    assert (
        "<button"
        not in page(looking, office).partition("Organisation</h2>")[2].partition("Accounts</h2>")[0]
    )
    assert client.get(reverse("admin:guardrails_killswitch_flip")).status_code == 405
    assert flip(careless, office).status_code == 403
    assert flip(looking, office).status_code == 403
    assert not KillSwitch.objects.exists()


def test_an_account_is_found_by_name_user_or_address(office: Office, client: Client) -> None:
    for query in ("Lindq", office.user_id, office.mailbox.address):
        assert "Stop: Maya Lindqvist · Gmail" in page(client, office, q=query)
    assert "Stop: Maya Lindqvist" not in page(client, office, q="nobody\0")


def test_the_page_of_an_account_leads_to_its_switches(office: Office, client: Client) -> None:
    response = client.get(
        reverse("admin:integrations_account_change", args=[office.mailbox.pk])
    ).content.decode()
    assert f"{reverse('admin:guardrails_killswitch_changelist')}?organisation=" in response


def test_a_switch_is_tried_on_the_past_and_not_thrown(office: Office, client: Client) -> None:
    office.permit("archive")
    execute(office.request("archive", {"email_id": office.receive()}))

    text = flip(client, office, action_type="archive", _try="1", why="").content.decode()

    assert "0 newly allowed, 0 newly asked about, 1 newly refused" in text
    assert not KillSwitch.objects.exists()
    rita = log_in("rita")
    assert flip(rita, office, _try="1").status_code == 403


def test_every_page_says_what_is_stopped_and_to_whom_it_belongs(
    office: Office, client: Client
) -> None:
    flip(client, office, effect="egress", why=HOSTILE)
    theirs = log_in("rita", "use_console", "view_item")
    Membership.objects.all().delete()
    strangers = log_in("sam", "use_console")
    Membership.objects.filter(user__username="sam").delete()
    Membership.objects.create(
        user=User.objects.get(username="rita"), organisation=office.organisation
    )

    for address in ("admin:knowledge_item_changelist", "console"):
        text = read_page(theirs, reverse(address))
        assert "has been stopped since" in text
        assert "Company · Reaches other people" in text
        assert HOSTILE not in text
        assert "Let it run again" not in text  # they may not look at switches
    assert "has been stopped" not in read_page(strangers, reverse("console"))
    assert "Let it run again" in read_page(client, reverse("admin:index"))
    flip(client, office, effect="egress", flip="on")
    assert "has been stopped" not in read_page(theirs, reverse("console"))


def test_the_notice_says_who_stopped_it_by_name(office: Office, client: Client) -> None:
    User.objects.filter(username="olga").update(first_name="Olga", last_name="Berg")
    flip(client, office, why="A phishing wave")
    by_page = read_page(client, reverse("console"))
    flip(client, office, flip="on", why="Over")
    slug = office.organisation.slug
    run_command("stop_actions", "--organisation", slug, "--name", "Omar", "--reason", "Me too")
    by_command = read_page(client, reverse("console"))
    german = client.get(reverse("console"), headers={"Accept-Language": "de"}).content.decode()

    assert "by operator Olga Berg: “A phishing wave”." in by_page
    assert "by command line, Omar: “Me too”." in by_command
    assert "Befehlszeile, Omar" in german


def test_what_arrived_meanwhile_is_offered_where_it_is_let_run(
    office: Office, client: Client
) -> None:
    flip(client, office)
    left = Delivery.objects.create(
        organisation=office.organisation,
        account=office.mailbox,
        webhook_id="w1",
        kind="created",
        source="gmail",
        source_id="m1",
        body={},
        state="skipped",
        reason=Delivery.STOPPED,
        finished_at=timezone.now(),
    )
    offered = page(client, office)
    answer = flip(client, office, flip="on", _handle="1").content.decode()
    left.refresh_from_db()

    assert "handle the 1 that arrived meanwhile" in offered
    assert "1 mail arrived meanwhile and was left alone." in offered
    assert "What arrived meanwhile is handled now." in answer
    assert (left.state, left.reason, left.finished_at) == ("queued", "", None)
