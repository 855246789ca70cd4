"""Guided setup, from a connected account to one safe action that is switched on."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import PastRun
from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption, ShadowPolicy
from integrations.models import Account, Membership, Organisation
from tests.clients import log_in, log_in_superuser, read_page
from tests.guardrails.office import Office, settle
from tests.sandbox_server import RunningSandbox, running_sandbox

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture(scope="module")
def provider() -> Iterator[RunningSandbox]:
    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def office(provider: RunningSandbox, settings: Any) -> Office:
    return settle(provider, settings)


def steps(client: Client, account: Account) -> dict[str, bool]:
    answer = client.get(reverse("setup"), {"account": str(account.pk)})
    assert answer.status_code == 200
    return {step.name: step.is_done for step in answer.context["steps"]}


def press(client: Client, account: Account, **given: Any) -> Any:
    return client.post(f"{reverse('setup')}?account={account.pk}", given, follow=True)


def test_each_step_follows_from_the_rows_and_the_next_one_is_named(office: Office) -> None:
    client, account = log_in_superuser("olga"), office.mailbox
    page = read_page(client, reverse("setup"), account=account.pk)
    assert steps(client, account) == {
        "connect": True,
        "pick": False,
        "preset": False,
        "try": False,
        "switch": False,
    }
    assert 'aria-current="step"' in page

    shown = client.get(reverse("setup"), {"account": str(account.pk)}).context["picks"][0]
    label = shown.choices[0].id
    press(client, account, step="pick", **{"classify-label": [label, "invented"]})
    listed = AllowedActionOption.objects.get(account=account)
    assert (listed.action_type, listed.kind, listed.external_id) == ("classify", "label", label)
    press(client, account, step="pick")
    assert not AllowedActionOption.objects.exists()
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    assert len(actions(filters=filters).rows) == 2  # listed, and no more

    chosen = reverse("admin:guardrails_policy_import") + f"?account={account.pk}"
    chosen += f"&preset=careful-mailbox&next={reverse('setup')}"
    shown = client.get(chosen).context
    applied = client.post(chosen, {"_save": "1", "text": shown["text"], "shown": shown["shown"]})
    assert (applied.status_code, applied["Location"]) == (302, reverse("setup"))
    assert steps(client, account)["preset"]

    press(client, account, step="switch", action="archive", on="1")
    row = AllowedAction.objects.get(account=account, action_type="archive")
    assert (row.enabled, row.approval_mode) == (True, "auto")
    assert set(modes(account).values()) == {"auto", "ask"}  # of the preset, applied by its page
    assert steps(client, account)["switch"]
    press(client, account, step="switch", action="archive", on="0")
    row.refresh_from_db()
    assert row.approval_mode == "ask"
    press(client, account, step="switch", action="send_email", on="1")
    assert AllowedAction.objects.filter(approval_mode="auto", action_type="send_email").count() == 0

    nothing_read = press(client, account, step="try").content.decode()
    assert "No mail of this account was read in yet." in nothing_read
    assert not PastRun.objects.exists()
    assert office.calls() == []


def choose(client: Client, account: Account, preset: str) -> ShadowPolicy:
    """Follow the link of a preset and press its one button."""
    page = client.get(reverse("setup"), {"account": str(account.pk)})
    query = next(link for one, link in page.context["presets"] if one.title == preset)
    address = f"{reverse('admin:guardrails_policy_import')}?{query}"
    shown = client.get(address)
    assert ">Apply<" not in shown.content.decode()
    given = {name: shown.context[name] for name in ("text", "shown")}
    answer = client.post(address, given | {"shadow": "1", "note": shown.context["later"]})
    assert answer["Location"] == f"{reverse('setup')}?account={account.pk}"
    return ShadowPolicy.objects.get(account=account)


def modes(account: Account) -> dict[str, str]:
    rows = AllowedAction.objects.filter(account=account)
    return dict(rows.values_list("action_type", "approval_mode"))


def test_rules_wait_until_one_action_is_switched_on_and_all_else_asks(office: Office) -> None:
    client, account = log_in_superuser("olga"), office.mailbox
    first = choose(client, account, "A careful mailbox")
    assert steps(client, account)["preset"]
    assert modes(account) == {}
    wish = office.request("archive", {"email_id": office.receive()})
    assert execute(wish).status == "refused"

    # Rules that were chosen anew meanwhile are not those that were looked at.
    waiting = choose(client, account, "A new mailbox")
    press(client, account, step="switch", action="archive", on="1", waiting=str(first.pk))
    assert modes(account) == {}

    press(client, account, step="switch", action="archive", on="1", waiting=str(waiting.pk))
    found = modes(account)
    assert found.pop("archive") == "auto"
    assert len(found) > 6
    assert set(found.values()) <= {"ask", "never"}
    assert not ShadowPolicy.objects.exists()
    assert steps(client, account)["switch"]
    assert office.calls() == []


@pytest.mark.parametrize(
    ("asks", "mode"), [("", "auto"), ("1", "ask")], ids=["as they are", "asking"]
)
def test_rules_of_a_calendar_wait_until_they_are_switched_on(
    office: Office, asks: str, mode: str
) -> None:
    client, account = log_in_superuser("olga"), office.diary
    first = choose(client, account, "A new calendar")
    waiting = choose(client, account, "A new calendar")
    assert steps(client, account) == {"connect": True, "preset": True, "switch": False}
    press(client, account, step="live", asks_first=asks, waiting=str(first.pk))
    assert modes(account) == {}

    press(client, account, step="live", asks_first=asks, waiting=str(waiting.pk))
    assert modes(account)["create_calendar_event"] == mode
    assert not ShadowPolicy.objects.exists()
    assert steps(client, account)["switch"]
    assert office.calls() == []


def test_where_nothing_can_be_done_there_is_nothing_to_set_up(office: Office) -> None:
    client = log_in_superuser("olga")
    account = Account.objects.create(
        organisation=office.organisation, external_user_id="omar", source="outlook"
    )

    page = read_page(client, reverse("setup"), account=account.pk)

    assert steps(client, account) == {"connect": True}
    assert "Remit only reads this account" in page
    assert "Choose its rules" not in page
    assert "It is set up." not in page


def test_what_is_picked_later_counts_for_rules_that_wait(office: Office) -> None:
    client, account = log_in_superuser("olga"), office.mailbox
    waiting = choose(client, account, "A careful mailbox")
    PastRun.objects.create(
        account=account, is_trial=True, last=100, policy=waiting.content, state="done"
    )
    assert steps(client, account)["try"]

    pick = client.get(reverse("setup"), {"account": str(account.pk)}).context["picks"][0]
    label = pick.choices[0].id
    press(client, account, step="pick", **{"classify-label": [label]})
    renewed = ShadowPolicy.objects.get(account=account)
    assert [one["id"] for one in renewed.content["targets"]] == [label]
    assert not steps(client, account)["try"]  # what was tried is not what would be live

    press(client, account, step="switch", action="classify", on="1", waiting=str(renewed.pk))
    listed = AllowedActionOption.objects.filter(account=account)
    assert listed.get().external_id == label

    # What the provider's list does not have is not taken away by who picks from that list.
    own = listed.get()
    own.pk, own.external_id, own.name = None, "label_of_before", "Of before"
    own.save(force_insert=True)
    press(client, account, step="pick", **{"classify-label": []})
    assert [one.external_id for one in listed] == ["label_of_before"]


def test_where_it_leads_after_a_preset_is_no_other_site(office: Office) -> None:
    client, account = log_in_superuser("olga"), office.mailbox
    chosen = reverse("admin:guardrails_policy_import")
    chosen += f"?account={account.pk}&preset=careful-mailbox&next=//evil.example/"
    shown = client.get(chosen).context
    applied = client.post(chosen, {"_save": "1", "text": shown["text"], "shown": shown["shown"]})
    assert applied["Location"].startswith(reverse("admin:guardrails_policy_explain"))


def test_who_may_only_look_changes_nothing_and_others_see_no_account(office: Office) -> None:
    looking = log_in("rita", "view_account", "view_allowedaction")
    for given in (
        {"step": "pick", "classify-label": ["x"]},
        {"step": "try"},
        {"step": "switch", "action": "archive", "on": "1"},
        {"step": "live"},
    ):
        assert press(looking, office.mailbox, **given).status_code == 403
    assert not AllowedAction.objects.exists()

    without = log_in("sam")
    assert without.get(reverse("setup")).status_code == 403
    Membership.objects.filter(user=User.objects.get(username="rita")).update(
        organisation=Organisation.objects.create(slug="other", name="Other")
    )
    page = looking.get(reverse("setup"), {"account": str(office.mailbox.pk)})
    assert page.context["account"] is None
    assert "No account is connected yet." in page.content.decode()
