"""Microsoft is asked to call Remit, and calls it: over HTTP, at the door. What is asked goes
through the executor."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from agents import tasks
from audit.ledger.ids import uuid7
from audit.models import ExecutedAgentAction
from guardrails.contracts import ActionRequest, Origin
from guardrails.execute import subscribing
from guardrails.execute.executor import execute
from guardrails.models import CeilingLimit, KillSwitch
from integrations.accounts import arrivals, connecting, health, subscriptions
from integrations.contracts import AccountRef
from integrations.models import Account, Credential, Delivery, Subscription
from tests.integrations.providers.microsoft.conftest import Graph
from tests.microsoft_pushes_world import LONGEST
from tests.microsoft_world import ADDRESS, TOKEN
from tests.own_accounts import connected, tokens
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
DENIED = Refuse(403, {"error": {"code": "ErrorAccessDenied"}})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Accounts that are to be asked for their changes."""
    found: list[UUID] = []
    monkeypatch.setattr(
        "agents.tasks.async_task", lambda task, account_id: found.append(UUID(account_id))
    )
    return found


def look_after(graph: Graph, *, later: timedelta = timedelta(0)) -> Subscription:
    """As the sweep does, at this time; the account's row then."""
    now = timezone.now() + later
    for account_id in subscriptions.claim_due(now=now):
        subscribing.look_after(account_id, now=now)
    return row_of(graph)


def row_of(graph: Graph) -> Subscription:
    return Subscription.objects.get(account_id=graph.account.id)


def rows(graph: Graph) -> list[tuple[str, str, str]]:
    """The account's in the ledger."""
    found = ExecutedAgentAction.objects.filter(account_id=graph.account.id).order_by("id")
    return [(one.action_type, one.phase, one.status) for one in found]


def at_rest(graph: Graph) -> None:
    """What was done last was done a while ago."""
    earlier = timezone.now() - timedelta(minutes=6)
    Subscription.objects.filter(account_id=graph.account.id).update(written_at=earlier)


@pytest.mark.parametrize("graph", ["mail", "calendar", "files"], indirect=True)
def test_an_account_is_subscribed_once_and_a_call_asks_it_for_its_changes(
    graph: Graph, asked: list[UUID]
) -> None:
    row = look_after(graph)

    assert graph.subscriptions.asked == ["POST"]
    assert [one.status_code for one in graph.subscriptions.answers] == [200, 200]
    (held,) = graph.subscriptions.held.values()
    assert row.external_id == held["id"]
    assert row.expires_at == datetime.fromisoformat(held["expirationDateTime"])
    assert graph.subscriptions.notify() == [202]
    assert asked == [graph.account.id]
    look_after(graph)
    assert graph.subscriptions.asked == ["POST"]


def another_mailbox() -> AccountRef:
    servers = Credential.objects.get().servers
    row = connected("microsoft_mail", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    return row.ref()


def test_it_lasts_no_longer_than_any_edition_of_the_reference_allows() -> None:
    from integrations.providers.microsoft.subscribing import LASTS

    assert timedelta(minutes=min(LONGEST.values())) > LASTS > subscriptions.RENEWED_BEFORE


def test_each_request_is_an_action_in_the_ledger_and_the_secret_is_nowhere(graph: Graph) -> None:
    look_after(graph)
    look_after(graph, later=timedelta(hours=25))
    Account.objects.filter(id=graph.account.id).update(paused=True)
    look_after(graph)

    assert graph.subscriptions.asked == ["POST", "PATCH", "DELETE"]
    assert graph.subscriptions.held == {}
    steps = ("open_subscription", "renew_subscription", "close_subscription")
    assert rows(graph) == [
        row
        for step in steps
        for row in ((step, "attempt", "pending"), (step, "outcome", "succeeded"))
    ]
    secret = graph.subscriptions.writes[0].body["clientState"]
    assert len(secret) >= 40
    found = ExecutedAgentAction.objects.filter(account_id=graph.account.id)
    assert {(one.actor_type, one.trigger) for one in found} == {("system", "schedule")}
    kept = [str(vars(one)) for one in (*found, *Subscription.objects.all())]
    assert not any(secret in one for one in kept)


def test_each_subscription_has_a_secret_and_an_address_of_its_own(graph: Graph) -> None:
    look_after(graph)
    other = Graph(
        world=graph.world,
        account=another_mailbox(),
    )
    look_after(other)

    one, two = (call.body for call in graph.subscriptions.writes)
    assert one["clientState"] != two["clientState"]
    assert one["notificationUrl"] != two["notificationUrl"]
    assert one["notificationUrl"] == one["lifecycleNotificationUrl"]


def test_an_answer_that_is_lost_is_found_and_nothing_is_asked_twice(graph: Graph) -> None:
    graph.subscriptions.lose = 1
    row = look_after(graph)

    assert graph.subscriptions.asked == ["POST"]
    assert [row.external_id] == list(graph.subscriptions.held)
    assert rows(graph)[-1] == ("open_subscription", "outcome", "succeeded")


def test_an_answer_about_a_renewal_is_found_behind_other_subscriptions(graph: Graph) -> None:
    row = look_after(graph)
    held = dict(graph.subscriptions.held)
    graph.subscriptions.held.clear()
    for _ in range(2):
        id = str(uuid4())
        graph.subscriptions.held[id] = {**held[row.external_id], "id": id}
    graph.subscriptions.held |= held
    Subscription.objects.update(
        expires_at=timezone.now() + timedelta(hours=1), due_at=timezone.now()
    )
    graph.subscriptions.lose, graph.subscriptions.page = 1, 1
    now = look_after(graph)

    assert graph.subscriptions.asked == ["POST", "PATCH"]
    assert (now.step, now.external_id) == ("", row.external_id)
    assert now.expires_at is not None
    assert now.expires_at > timezone.now() + timedelta(hours=47)


def test_what_was_not_done_is_asked_again_as_the_same_action(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("integrations.providers.microsoft.subscribing.LATE", timedelta(0))
    graph.subscriptions.fail = 1
    row = look_after(graph)

    assert graph.subscriptions.asked == ["POST"]
    assert row.external_id in graph.subscriptions.held
    found = ExecutedAgentAction.objects.filter(account_id=graph.account.id)
    assert len({one.action_id for one in found}) == 1


def test_what_nobody_can_tell_yet_is_left_as_it_is(graph: Graph) -> None:
    graph.subscriptions.fail = 1
    row = look_after(graph)

    assert (row.step, row.external_id) == ("open", "")
    assert graph.subscriptions.asked == []
    begun = row.action_id
    assert look_after(graph, later=timedelta(minutes=11)).action_id == begun


def test_it_is_renewed_a_day_before_it_ends_and_not_earlier(graph: Graph) -> None:
    look_after(graph)
    look_after(graph, later=timedelta(hours=23))
    assert graph.subscriptions.asked == ["POST"]
    look_after(graph, later=timedelta(hours=25))
    assert graph.subscriptions.asked == ["POST", "PATCH"]


def test_one_that_ended_is_opened_anew(graph: Graph) -> None:
    first = look_after(graph).external_id
    row = look_after(graph, later=timedelta(hours=49))
    assert graph.subscriptions.asked == ["POST", "POST"]
    assert row.external_id not in ("", first)


def test_one_that_microsoft_does_not_know_any_more_is_opened_anew(graph: Graph) -> None:
    first = look_after(graph).external_id
    graph.subscriptions.held.clear()
    assert look_after(graph, later=timedelta(hours=25)).external_id == ""
    assert graph.subscriptions.asked == ["POST"]
    row = look_after(graph, later=timedelta(hours=26))
    assert graph.subscriptions.asked == ["POST", "POST"]
    assert row.external_id not in ("", first)


def test_microsoft_says_that_it_wants_to_hear_of_it_and_is_heeded_once(
    graph: Graph, asked: list[UUID]
) -> None:
    look_after(graph)
    assert graph.subscriptions.notify_lifecycle("reauthorizationRequired") == [202]
    look_after(graph)
    assert graph.subscriptions.asked == ["POST"]  # it was opened a moment ago

    at_rest(graph)
    assert graph.subscriptions.notify_lifecycle("reauthorizationRequired") == [202]
    look_after(graph)
    assert graph.subscriptions.asked == ["POST", "PATCH"]
    graph.subscriptions.notify_lifecycle("reauthorizationRequired")
    look_after(graph)
    assert graph.subscriptions.asked == ["POST", "PATCH"]


def test_one_that_was_removed_is_opened_anew_and_the_old_secret_is_no_secret_any_more(
    graph: Graph, asked: list[UUID]
) -> None:
    row = look_after(graph)
    at_rest(graph)
    (old,) = [dict(one) for one in graph.subscriptions.held.values()]
    said = graph.subscriptions.notification(row.external_id)
    assert graph.subscriptions.notify_lifecycle("subscriptionRemoved") == [202]
    graph.subscriptions.held.clear()

    assert look_after(graph).external_id not in ("", old["id"])
    assert graph.subscriptions.asked == ["POST", "POST"]
    asked.clear()
    assert graph.subscriptions.call(old["notificationUrl"], [said]) == 401
    at_rest(graph)
    again = {"subscriptionId": old["id"]}
    assert graph.subscriptions.notify_lifecycle("subscriptionRemoved", **again) == [202]
    look_after(graph)
    assert graph.subscriptions.asked == ["POST", "POST"]


def test_calls_that_were_missed_and_many_at_once_ask_the_account_once(
    graph: Graph, asked: list[UUID]
) -> None:
    look_after(graph)
    assert graph.subscriptions.notify_lifecycle("missed") == [202]
    assert graph.subscriptions.notify(times=1500) == [202]
    assert graph.subscriptions.notify() == [202]
    assert asked == [graph.account.id]


def test_a_paused_account_is_called_no_more_until_it_goes_on(graph: Graph) -> None:
    look_after(graph)
    Account.objects.filter(id=graph.account.id).update(paused=True)
    row = look_after(graph)
    assert (row.external_id, row.secret_digest) == ("", "")
    look_after(graph, later=timedelta(days=3))
    assert graph.subscriptions.asked == ["POST", "DELETE"]

    Account.objects.filter(id=graph.account.id).update(paused=False)
    look_after(graph, later=timedelta(hours=2))
    assert graph.subscriptions.asked == ["POST", "DELETE", "POST"]


def test_without_an_address_with_https_nobody_is_asked_to_call(graph: Graph, settings: Any) -> None:
    for address in ("", "http://remit.office.test"):
        settings.PUBLIC_URL = address
        assert subscriptions.claim_due(now=timezone.now()) == []
        assert "PUBLIC_URL" in words(graph)
    assert graph.subscriptions.asked == []
    assert rows(graph) == []


def test_who_is_disconnected_is_a_stranger_whose_calls_are_refused(
    graph: Graph, asked: list[UUID]
) -> None:
    look_after(graph)
    connecting.disconnect(graph.account)

    assert graph.subscriptions.notify() == [401]
    assert graph.subscriptions.notify_lifecycle("subscriptionRemoved") == [401]
    assert subscriptions.claim_due(now=timezone.now() + timedelta(days=9)) == []
    assert asked == []
    Account.objects.filter(id=graph.account.id).delete()
    assert graph.subscriptions.notify() == [401]


def test_where_microsoft_says_no_it_is_said_and_asked_again_the_next_day(graph: Graph) -> None:
    Credential.objects.update(seen_at=timezone.now())
    graph.subscriptions.refuse = [DENIED]
    look_after(graph)

    assert "it was asked to, and said no" in words(graph)
    look_after(graph, later=timedelta(hours=23))
    assert graph.subscriptions.asked == []
    row = look_after(graph, later=timedelta(hours=25))
    assert graph.subscriptions.asked == ["POST"]
    assert row.failure == ""
    assert "Microsoft says at once when something changes." in words(graph)


def words(graph: Graph) -> str:
    Credential.objects.filter(account_id=graph.account.id).update(seen_at=timezone.now())
    return health.in_words(Account.objects.get(id=graph.account.id), now=timezone.now())


def _switch(graph: Graph) -> None:
    KillSwitch.objects.create(
        organisation_id=graph.account.organisation_id,
        account_id=graph.account.id,
        why="Wait.",
        thrown_by="olga",
    )


def _ceiling(graph: Graph) -> None:
    organisation_id = graph.account.organisation_id
    CeilingLimit.objects.create(organisation_id=organisation_id, action_type="", at_most="never")


@pytest.mark.parametrize(
    ("stop", "reason"), [(_switch, "switched_off"), (_ceiling, "forbidden_by_ceiling")]
)
def test_switches_and_the_ceiling_stop_it_before_microsoft_is_asked(
    graph: Graph, stop: Callable[[Graph], None], reason: str
) -> None:
    stop(graph)
    row = look_after(graph)

    assert graph.subscriptions.asked == []
    assert graph.subscriptions.reads == 0
    assert (row.failure, row.secret_digest) == (reason, "")
    assert rows(graph) == [("open_subscription", "blocked", "blocked")]


@pytest.mark.parametrize("trigger", ["chat", "webhook", "pattern", "operator", "mcp"])
def test_nobody_but_remit_itself_can_have_it_done(graph: Graph, trigger: Any) -> None:
    for step, arguments in (
        ("open", {}),
        ("renew", {"subscription_id": "1"}),
        ("close", {"subscription_id": "1"}),
    ):
        request = ActionRequest(
            action_id=uuid7(),
            account=graph.account,
            action_type=f"{step}_subscription",
            arguments=arguments,
            origin=Origin(trigger=trigger, actor="mallory"),
        )
        result = execute(request)
        assert (result.status, result.reason) == ("refused", "not_permitted")
    assert graph.subscriptions.asked == []


# --- the door ---------------------------------------------------------------------------


def post(account_id: UUID, body: Any, *, query: str = "") -> Any:
    path = f"/webhooks/accounts/{account_id}{query}"
    return Client().post(path, body, content_type="application/json")


@pytest.mark.parametrize(
    "said",
    [
        {"clientState": "guessed"},
        {"clientState": None},
        {"clientState": ["x"]},
        {"clientState": "\ud800"},
        {"clientState": ""},
    ],
)
def test_a_call_without_the_secret_asks_nothing(
    graph: Graph, asked: list[UUID], said: dict[str, Any]
) -> None:
    row = look_after(graph)
    notification = graph.subscriptions.notification(row.external_id, **said)

    assert post(graph.account.id, {"value": [notification]}).status_code == 401
    assert asked == []
    assert graph.subscriptions.asked == ["POST"]


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"{", b'{"value": 1}', b'{"value": [1, null, []]}'),
        *(b'{"value": {"a": 1}}', b'{"value": ' + b"[" * 5000, b'{"value": [], "value": []}'),
    ],
)
def test_what_is_no_notification_asks_nothing(graph: Graph, asked: list[UUID], body: bytes) -> None:
    look_after(graph)
    assert post(graph.account.id, body).status_code == 401
    assert asked == []


def test_the_secret_of_one_account_is_none_for_another(graph: Graph, asked: list[UUID]) -> None:
    row = look_after(graph)
    other = another_mailbox()
    look_after(Graph(world=graph.world, account=other))
    said = graph.subscriptions.notification(row.external_id)

    assert post(other.id, {"value": [said]}).status_code == 401
    assert post(uuid4(), {"value": [said]}).status_code == 401
    assert asked == []
    # Beside a stranger's, the account's own counts; and nothing of the stranger's does.
    forged = said | {"clientState": "guessed", "lifecycleEvent": "subscriptionRemoved"}
    at_rest(graph)
    assert post(graph.account.id, {"value": [forged, said]}).status_code == 202
    assert row_of(graph).external_id == row.external_id


def test_a_body_that_is_too_large_is_not_read(
    graph: Graph, asked: list[UUID], settings: Any
) -> None:
    row = look_after(graph)
    said = graph.subscriptions.notification(row.external_id)
    settings.WEBHOOK_MAX_BYTES = 200

    assert post(graph.account.id, {"value": [said]}).status_code == 413
    assert asked == []


def test_who_has_to_sign_in_again_is_not_asked(graph: Graph, asked: list[UUID]) -> None:
    look_after(graph)
    Credential.objects.update(state=Credential.State.SIGN_IN)

    assert graph.subscriptions.notify() == [202]
    assert subscriptions.claim_due(now=timezone.now() + timedelta(hours=25)) == []
    assert asked == []


def test_a_trial_is_answered_only_while_one_is_awaited(graph: Graph) -> None:
    def tried(token: str, account_id: UUID = graph.account.id) -> Any:
        return post(account_id, b"", query=f"?validationToken={token}")

    assert tried("abc").status_code == 401
    row = look_after(graph)
    assert tried("abc").status_code == 401
    row.answered_until = timezone.now() + timedelta(minutes=1)
    row.save()
    answer = tried("a%3Cscript%3E%26 b")
    assert (answer.status_code, answer.content) == (200, b"a&lt;script&gt;&amp; b")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert tried("x" * 1025).status_code == 401
    assert tried("abc", uuid4()).status_code == 401
    row.answered_until = timezone.now() - timedelta(seconds=1)
    row.save()
    assert tried("abc").status_code == 401


# --- what calls are for -----------------------------------------------------------------


def test_a_call_brings_what_is_new_and_a_lost_one_is_found_by_the_poll(
    graph: Graph, asked: list[UUID], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world: Any = graph.world
    world.now = timezone.now()
    arrivals.look(graph.account.id, enqueue=lambda id: None)
    look_after(graph)
    Credential.objects.update(looked_at=timezone.now() - timedelta(seconds=5))
    monkeypatch.setattr("knowledge.tasks.start_first_sync", lambda account_id: None)

    world.receive("Called")
    assert graph.subscriptions.notify() == [202]
    assert asked == [graph.account.id]
    tasks.look_at_account(str(graph.account.id))
    assert subjects() == ["Called"]

    world.receive("Lost")
    later = timezone.now() + timedelta(seconds=settings.MAILBOX_CHECK_SECONDS + 1)
    assert arrivals.claim_due(now=later) == [graph.account.id]
    tasks.look_at_account(str(graph.account.id))
    assert subjects() == ["Called", "Lost"]


def subjects() -> list[str]:
    return [one.body["data"]["subject"] for one in Delivery.objects.order_by("received_at")]
