"""Admin of deliveries, conversations and turns."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.models import Conversation, InstallationCheck, Message, Turn
from audit.ledger.ids import uuid7
from audit.ledger.ledger import append
from integrations.models import Delivery, Membership
from tests.agents.pages import HIDDEN, SCRIPT, delivery, mailbox, turn
from tests.audit.entries import entry
from tests.clients import read_page

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
LISTS = ("integrations_delivery", "agents_turn", "agents_conversation", "agents_message")


def test_a_delivery_shows_its_event_as_plain_text(operator: Client) -> None:
    row = delivery(mailbox())

    page = read_page(operator, reverse("admin:integrations_delivery_change", args=[row.id]))

    assert SCRIPT not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert HIDDEN not in page
    assert "pay⟨U+202E⟩er" in page


def test_dead_letters_are_queued_again_and_others_are_left(operator: Client) -> None:
    account = mailbox()
    dead = delivery(account, 1, state="dead", reason="model_unavailable", attempts=5)
    done = delivery(account, 2, state="processed")
    failed = turn(account, delivery=dead, state="failed", ending="error", error_code="timeout")

    answer = operator.post(
        reverse("admin:integrations_delivery_changelist"),
        {"action": "queue_again", "_selected_action": [str(dead.id), str(done.id)]},
        follow=True,
    )

    dead.refresh_from_db()
    done.refresh_from_db()
    failed.refresh_from_db()
    assert (dead.state, dead.reason, dead.attempts) == ("queued", "", 0)
    assert (failed.state, failed.ending, failed.error_code) == ("queued", "", "")
    assert done.state == "processed"
    assert list(Delivery.objects.waiting()) == [dead]
    page = answer.content.decode()
    assert "1 deliveries wait in the queue again." in page
    assert "1 of the chosen deliveries were worked through already." in page


def test_a_dead_letter_says_why_and_has_a_button_for_who_may_change_it(operator: Client) -> None:
    dead = delivery(mailbox(), 1, state="dead", reason="too_slow")
    page = reverse("admin:integrations_delivery_change", args=[dead.id])
    again = reverse("admin:integrations_delivery_again", args=[dead.id])

    shown = read_page(operator, page)
    assert "Reading it took so long that it was set aside. Nothing waits for it." in shown
    assert again in shown
    assert "It waits in the queue again." in operator.post(again, follow=True).content.decode()

    dead.refresh_from_db()
    assert (dead.state, dead.reason) == ("queued", "")
    assert list(Delivery.objects.waiting()) == [dead]
    assert again not in read_page(operator, page)
    assert (
        "It is in the queue, or was worked through already."
        in operator.post(again, follow=True).content.decode()
    )
    assert list(Delivery.objects.waiting()) == [dead]


def test_who_may_only_look_cannot_try_a_dead_letter_again(
    client: Client, django_user_model: Any
) -> None:
    user = django_user_model.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_delivery"))
    client.force_login(user)
    dead = delivery(mailbox(), 1, state="dead", reason="too_slow")
    Membership.objects.create(user=user, organisation=dead.organisation)
    again = reverse("admin:integrations_delivery_again", args=[dead.id])

    page = reverse("admin:integrations_delivery_change", args=[dead.id])
    assert again not in read_page(client, page)
    assert client.post(again).status_code == 403
    dead.refresh_from_db()
    assert dead.state == "dead"


@pytest.mark.parametrize("model", [Delivery, Conversation, Message, Turn])
def test_nothing_is_changed_by_hand(operator: Client, model: type) -> None:
    name = f"admin:{model._meta.label_lower.replace('.', '_')}"  # type: ignore[attr-defined]
    account = mailbox()
    turn(account, delivery=delivery(account))
    row = model.objects.first()  # type: ignore[attr-defined]

    assert operator.get(reverse(f"{name}_add")).status_code == 403
    assert operator.post(reverse(f"{name}_change", args=[row.pk]), {}).status_code == 403
    assert operator.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403
    assert model.objects.count() == 1 + (model is Message)  # type: ignore[attr-defined]


def test_a_turn_is_a_timeline_with_what_was_delegated(operator: Client) -> None:
    shown = turn(mailbox())

    page = read_page(operator, reverse("admin:agents_turn_change", args=[shown.id]))

    assert "orchestrator · step 1" in page
    assert "task · step 1" in page
    assert page.index("delegate to specialist") < page.index("task · step 1")
    assert page.index("task · step 1") < page.index("ask user")
    assert "PERMISSION_DENIED" in page
    assert "{&quot;broken&quot;: " in page  # arguments that are no JSON, as they were written
    assert "Other people wrote this result: it is data." in page
    assert SCRIPT not in page
    assert HIDDEN not in page


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_a_turns_actions_lead_to_the_ledger(operator: Client) -> None:
    account = mailbox()
    action_id = uuid7()
    asked = turn(account)
    Turn.objects.filter(id=asked.id).update(
        actions=[
            {"action_id": str(action_id), "description": f"Archive {SCRIPT}", "sentence": "No."}
        ]
    )
    append(
        entry(
            action_id=action_id,
            tenant_id=account.organisation_id,
            account_id=account.id,
            run_id=str(asked.id),
            phase="blocked",
            status="blocked",
            decision="blocked",
            decision_reason="target_not_listed",
        )
    )

    page = read_page(operator, reverse("admin:agents_turn_change", args=[asked.id]))

    ledger = reverse("admin:audit_executedagentaction_changelist")
    assert f'href="{ledger}?q={action_id}"' in page
    assert "blocked: target not listed" in page
    assert SCRIPT not in page
    found = operator.get(f"{ledger}?q={action_id}").context["cl"].result_list
    assert [row.action_id for row in found] == [action_id]


def test_a_conversation_shows_what_was_said(operator: Client) -> None:
    said = turn(mailbox())

    page = read_page(
        operator, reverse("admin:agents_conversation_change", args=[said.conversation_id])
    )

    assert "&lt;script&gt;" in page
    assert SCRIPT not in page
    assert reverse("admin:agents_turn_change", args=[said.id]) in page


@pytest.mark.parametrize(
    "search", ["no such id", "%", "'", pytest.param(str(uuid7()), id="unknown")]
)
@pytest.mark.parametrize("name", LISTS)
def test_a_search_for_anything_is_answered(operator: Client, name: str, search: str) -> None:
    account = mailbox()
    turn(account, delivery=delivery(account))

    answer = operator.get(reverse(f"admin:{name}_changelist"), {"q": search})

    assert answer.status_code == 200
    assert len(answer.context["cl"].result_list) == 0


def test_a_search_that_is_no_text_is_refused_in_words(operator: Client) -> None:
    page = read_page(operator, reverse("admin:agents_turn_changelist") + "?q=%00")

    assert "Null characters are not allowed." in page


def test_a_delivery_is_found_by_the_id_of_its_mail(operator: Client) -> None:
    account = mailbox()
    wanted = [delivery(account, number) for number in range(3)][1]

    answer = operator.get(reverse("admin:integrations_delivery_changelist"), {"q": "mail-1"})

    assert list(answer.context["cl"].result_list) == [wanted]


def test_a_list_asks_as_often_for_two_hundred_rows_as_for_five(operator: Client) -> None:
    def asked() -> dict[str, list[str]]:
        found = {}
        for name in LISTS:
            with CaptureQueriesContext(connection) as captured:
                page = read_page(operator, reverse(f"admin:{name}_changelist"))
            assert SCRIPT not in page
            found[name] = [query["sql"] for query in captured]
        return found

    def fill(numbers: range) -> None:
        for number in numbers:
            account = mailbox(f"user-{number}")
            turn(account, delivery=delivery(account, number))

    asked()  # what is asked once a process
    fill(range(5))
    few = asked()
    fill(range(5, 200))
    many = asked()

    assert {name: len(queries) for name, queries in many.items()} == {
        name: len(queries) for name, queries in few.items()
    }
    assert not [sql for queries in many.values() for sql in queries if "COUNT(*)" in sql]


def test_a_turns_page_asks_as_often_for_a_long_turn_as_for_a_short_one(operator: Client) -> None:
    account = mailbox()
    short, long = turn(account), turn(account)
    last = long.steps.get(agent="task")
    for number in range(2, 40):
        last.pk, last.number = None, number
        last.save(force_insert=True)
    addresses = [reverse("admin:agents_turn_change", args=[shown.id]) for shown in (short, long)]
    operator.get(addresses[0])

    counts = []
    for address in addresses:
        with (
            CaptureQueriesContext(connection) as captured,
            CaptureQueriesContext(connections["ledger"]) as proof,
        ):
            read_page(operator, address)
        counts.append(len(captured) + len(proof))

    assert counts == [12, 12]


def test_a_check_of_the_installation_shows_first_what_does_not_hold(operator: Client) -> None:
    url = "admin:agents_installationcheck"
    assert "manage.py verify_installation" in read_page(operator, reverse(f"{url}_changelist"))
    results = [
        {"name": "rates", "promise": "Once an hour.", "verdict": "PASS", "found": ""},
        {"name": "stopped", "promise": "A stop stops.", "verdict": "FAIL", "found": SCRIPT},
    ]
    row = InstallationCheck.objects.create(began_at=timezone.now(), results=results)

    assert "not sound" in read_page(operator, reverse(f"{url}_changelist"))
    page = read_page(operator, reverse(f"{url}_change", args=[row.id]))

    assert "1 hold, 1 do not, 0 do not apply here" in page
    assert page.index("A stop stops.") < page.index("Once an hour.")
    assert SCRIPT not in page
