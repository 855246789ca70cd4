"""Figures of the last day, their plot, and the sidebar."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.office import dashboard, roles, sidebar
from audit.ledger.ids import uuid7
from guardrails.models import ChangeRequest
from integrations.models import Delivery, Membership
from tests.agents.pages import delivery, mailbox, turn
from tests.audit.entries import append_action
from tests.clients import log_in

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
NOON = datetime(2026, 3, 10, 12, 20, tzinfo=UTC)


def shown(client: Client, **query: str) -> Any:
    answer = client.get(reverse("admin:agents_dashboard"), query)
    assert answer.status_code == 200
    return answer


def numbers(answer: Any) -> dict[str, int]:
    return {row["label"]: row["number"] for row in answer.context["deliveries"]}


def test_deliveries_of_the_last_day_are_counted_by_state(operator: Client) -> None:
    account, other = mailbox(), mailbox(slug="elsewhere")
    states = ["processed", "processed", "skipped", "dead", "queued"]
    for number, state in enumerate(states):
        delivery(account, number, state=state)
    delivery(other, 90, state="processed")
    old = delivery(account, 91, state="processed")
    Delivery.objects.filter(id=old.id).update(received_at=timezone.now() - timedelta(hours=25))

    here, there = shown(operator), shown(operator, organisation="elsewhere")

    assert numbers(here) == {
        "Queued": 1,
        "Running": 0,
        "Processed": 2,
        "Skipped": 1,
        "Dead letter": 1,
    }
    assert here.context["received"] == 5
    assert there.context["received"] == 1


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_actions_are_counted_by_how_they_stand_now(operator: Client) -> None:
    organisation = mailbox().organisation
    for status in ("succeeded", "succeeded", "failed"):
        append_action(tenant_id=organisation.id, status=status)

    rows = shown(operator).context["actions"]

    assert {row["status"]: row["number"] for row in rows} == {"succeeded": 2, "failed": 1}


def test_what_is_open_leads_to_where_it_is(operator: Client) -> None:
    account = mailbox()
    turn(account, state="failed", ending="error")
    turn(account, state="queued", lease_expires_at=timezone.now())
    turn(account, state="running", lease_expires_at=timezone.now() + timedelta(minutes=1))
    for one in (account, mailbox(slug="elsewhere")):
        ChangeRequest.objects.create(
            organisation=one.organisation,
            account=one,
            external_user_id="maya",
            action_id=uuid7(),
            action_type="archive",
            first_refused_at=timezone.now(),
        )

    tiles = {tile["label"]: tile for tile in shown(operator).context["open_things"]}

    assert {label: tile["number"] for label, tile in tiles.items()} == {
        "Questions that wait": "0",
        "Open change requests": "1",
        "Handed to a person": "0",
        "Failed turns": "1",
        "Turns that wait for a process": "1",
        "Syncs in progress": "0",
        "Tasks in the queue": "0",
    }
    for tile in tiles.values():
        assert operator.get(tile["link"]).status_code == 200


def test_the_plot_stacks_the_hours() -> None:
    hour = NOON.replace(minute=0)
    hourly = Counter(
        {
            (hour, "processed"): 6,
            (hour, "dead"): 2,
            (hour - timedelta(hours=24), "queued"): 4,
        }
    )

    drawn = dashboard.plot(hourly, now=NOON)

    assert drawn["summary"] == "12 deliveries, at most 8 in the hour from 12:00 UTC."
    assert (drawn["first"], drawn["last"]) == ("Mon 12:00 UTC", "Tue 12:00 UTC")
    assert drawn["bars"] == [
        {"x": 0, "y": "50.00", "height": "50.00", "state": "queued"},
        {"x": 576, "y": "25.00", "height": "75.00", "state": "processed"},
        {"x": 576, "y": "0.00", "height": "25.00", "state": "dead"},
    ]


def test_an_empty_plot_says_so() -> None:
    drawn = dashboard.plot(Counter(), now=NOON)

    assert (drawn["bars"], drawn["summary"]) == ([], "No deliveries.")


def test_an_empty_installation_says_what_to_do(operator: Client) -> None:
    assert "There is no organisation yet." in shown(operator).content.decode()


def test_it_asks_as_often_with_much_as_with_little(operator: Client) -> None:
    def queries(numbers: range) -> int:
        for number in numbers:
            account = mailbox(f"user-{number}")
            turn(account, delivery=delivery(account, number, state="dead"), state="failed")
        with (
            CaptureQueriesContext(connection) as captured,
            CaptureQueriesContext(connections["ledger"]) as proof,
        ):
            shown(operator)
        return len(captured) + len(proof)

    queries(range(1))  # what is asked once a process
    assert queries(range(1, 5)) == queries(range(5, 150)) == 13


def test_it_says_how_far_the_ledger_is_sealed(operator: Client) -> None:
    mailbox()

    assert "Nothing is sealed yet." in shown(operator).content.decode()


def test_staff_see_the_figures_of_their_own_organisation_and_no_other() -> None:
    ours, theirs = mailbox(), mailbox(slug="elsewhere")
    viewer = log_in("val", *(name.partition(".")[2] for name in roles.VIEWER))
    Membership.objects.exclude(organisation_id=ours.organisation_id).delete()
    delivery(ours)
    for number in (1, 2):
        delivery(theirs, number)
    unasked = shown(viewer)
    other, unknown = (
        viewer.get(reverse("admin:index"), {"organisation": slug})
        for slug in ("elsewhere", "nowhere")
    )

    assert unasked.context["organisation"].slug == "default"
    assert unasked.context["received"] == 1
    assert [one.slug for one in unasked.context["organisations"]] == ["default"]
    labels = {tile["label"] for tile in unasked.context["open_things"]}
    assert "Questions that wait" in labels
    assert "Tasks in the queue" not in labels  # of the whole installation
    assert (other.status_code, unknown.status_code) == (404, 404)
    assert other.content.replace(b"elsewhere", b"") == unknown.content.replace(b"nowhere", b"")


def test_figures_and_sidebar_are_of_what_one_may_see() -> None:
    delivery(mailbox())
    client = log_in("clerk", "view_turn")

    answer = shown(client)

    assert [key for key in ("received", "actions", "waiting") if key in answer.context] == []
    assert [tile["label"] for tile in answer.context["open_things"]] == [
        "Failed turns",
        "Turns that wait for a process",
    ]
    titles = [
        item["title"] for group in answer.context["sidebar_navigation"] for item in group["items"]
    ]
    assert titles == ["Dashboard", "A user's day", "Turns"]


def test_a_dozen_entries_lead_to_what_people_come_for_and_the_rest_is_advanced(
    operator: Client,
) -> None:
    main, *rest = operator.get(reverse("admin:index")).context["sidebar_navigation"]
    page = operator.get(reverse("admin:index")).content.decode()

    assert (main["title"], len(main["items"]) <= 12) == ("", True)
    assert [item["title"] for item in main["items"]][:3] == [
        "Activity",
        "Chat console",
        "Approvals",
    ]
    assert all(group["title"] for group in rest)
    assert '<details class="nav-advanced">' in page
    inside = operator.get(reverse("admin:knowledge_item_changelist")).content.decode()
    assert '<details class="nav-advanced" open>' in inside


def test_staff_of_no_organisation_read_so() -> None:
    client = log_in("nobody", "view_delivery")
    delivery(mailbox())

    assert "You belong to no organisation yet." in shown(client).content.decode()


@pytest.mark.parametrize(
    ("view", "title"),
    [
        ("admin:index", "Activity"),
        ("admin:agents_dashboard", "Dashboard"),
        ("admin:guardrails_allowedaction_changelist", "Allowed actions"),
        ("admin:guardrails_policy_explain", "What may it do?"),
        ("admin:guardrails_ledger_reconciliation", "Reconciliation"),
        ("admin:guardrails_ledger_health", "Health report"),
        ("admin:guardrails_ledger_erasure", "Keeping and erasing"),
        ("admin:guardrails_ledger_legal_holds", "Keeping and erasing"),
        ("admin:guardrails_ledger_end", "Keeping and erasing"),
        ("admin:knowledge_accounting", "Accounting"),
        ("admin:audit_ledgerpolicy_changelist", None),
    ],
)
def test_a_page_shows_the_one_entry_that_it_belongs_to_and_the_products_name(
    operator: Client, view: str, title: str | None
) -> None:
    answer = operator.get(reverse(view))
    items = [item for group in answer.context["sidebar_navigation"] for item in group["items"]]
    assert [item["title"] for item in items if item["active"]] == [title] * bool(title)
    assert "unfold/helpers/site_branding.html" in {part.name for part in answer.templates}


def test_every_registered_model_but_four_has_its_place_in_the_sidebar(operator: Client) -> None:
    placed = {(page.app, page.model) for _, pages in sidebar.SIDEBAR for page in pages}
    registered = {
        (model._meta.app_label, model._meta.model_name or "") for model in admin.site._registry
    }

    assert placed - registered == set()
    # Reached from what they belong to; the queue keeps no successes.
    assert registered - placed == {
        ("agents", "message"),
        ("django_q", "success"),
        ("audit", "ledgerpolicy"),
        ("knowledge", "syncsource"),
    }
