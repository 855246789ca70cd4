"""Kill switches: at once, for what they name, and in the ledger."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any
from uuid import UUID

import pytest
from django.core.exceptions import ValidationError
from django.db import connections, transaction

from audit.contracts import Filters, Recorded
from audit.ledger.selectors import actions
from guardrails.execute import switches
from guardrails.execute.executor import execute
from guardrails.execute.switches import Scope
from guardrails.models import CeilingLimit, KillSwitch
from guardrails.policies.changes import Author
from integrations.models import Organisation
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.office import Office, in_threads, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
OLGA = Author(name="operator:olga", door="admin")


def history(organisation: Organisation) -> list[Recorded]:
    filters = Filters(tenant_id=organisation.id, action_type="policy.change")
    return list(actions(filters=filters).rows)


def scopes(office: Office) -> dict[str, Scope]:
    key = office.organisation.id
    return {
        "everything": Scope(),
        "organisation": Scope(organisation_id=key),
        "account": Scope(organisation_id=key, account_id=office.mailbox.id),
        "action": Scope(organisation_id=key, action_type="archive"),
        "connector": Scope(organisation_id=key, source="gmail"),
    }


def throw(scope: Scope, why: str = "A phishing wave") -> switches.Thrown:
    # “Everything” would wait for the attempts that other tests left open in the ledger.
    patience = switches.PATIENCE_SECONDS if scope.organisation_id else 0
    return switches.throw(scope, why=why, author=OLGA, patience_seconds=patience)


@pytest.mark.parametrize("name", ["everything", "organisation", "account", "action", "connector"])
def test_a_thrown_switch_refuses_until_it_is_lifted(office: Office, name: str) -> None:
    office.permit("archive")
    thrown = throw(scopes(office)[name])

    stopped = execute(office.request("archive", {"email_id": office.receive()}))
    switches.lift(switch_id=thrown.switch_id, why="It is over", author=OLGA)
    running = execute(office.request("archive", {"email_id": office.receive()}))

    assert (stopped.status, stopped.reason) == ("refused", "switched_off")
    assert phases(stopped) == [("blocked", "blocked", "switched_off")]
    assert running.status == "succeeded"
    assert name == "everything" or thrown.under_way == 0
    assert len(office.calls()) == 1


def test_nothing_that_reaches_others_goes_out_while_that_is_stopped(office: Office) -> None:
    key = office.organisation.id
    office.permit("archive")
    office.permit("create_jira_task")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    thrown = throw(Scope(organisation_id=key, effect="egress"))
    task = {"project_key": "PROJ", "summary": "Setup CI/CD", "type": "task"}

    stopped = execute(office.request("create_jira_task", task))
    private = execute(office.request("archive", {"email_id": office.receive()}))
    meanwhile = office.calls()
    switches.lift(switch_id=thrown.switch_id, why="Over", author=OLGA)
    running = execute(office.request("create_jira_task", task))

    assert (stopped.status, stopped.reason) == ("refused", "switched_off")
    assert "A phishing wave" in stopped.sentence
    assert (private.status, running.status) == ("succeeded", "succeeded")
    assert len(meanwhile) == 1


def test_a_switch_of_something_else_stops_nothing(office: Office) -> None:
    key = office.organisation.id
    office.permit("archive")
    throw(Scope(organisation_id=key, account_id=office.tracker.id))
    throw(Scope(organisation_id=key, action_type="draft"))
    throw(Scope(organisation_id=key, source="jira"))
    result = execute(office.request("archive", {"email_id": office.receive()}))
    assert result.status == "succeeded"


@pytest.mark.parametrize("stop", ["switch", "ceiling"])
def test_what_is_stopped_between_decision_and_call_is_not_called(
    office: Office, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    from guardrails.execute import executor

    office.permit("archive")
    request = office.request("archive", {"email_id": office.receive()})
    begin = executor._begin

    def begin_late(*given: Any, **named: Any) -> Any:
        attempt = begin(*given, **named)
        if stop == "switch":
            switches.throw(
                Scope(organisation_id=office.organisation.id),
                why="Now",
                author=OLGA,
                patience_seconds=0,
            )
        else:
            CeilingLimit.objects.create(organisation=office.organisation, at_most="never")
        return attempt

    monkeypatch.setattr(executor, "_begin", begin_late)
    result = execute(request)

    assert result.status == "refused"
    reason = "switched_off" if stop == "switch" else "paused"
    assert phases(result)[-1] == ("outcome", "failed", reason)
    assert office.calls() == []


def test_throw_and_lift_are_in_the_ledger_with_who_and_why(office: Office) -> None:
    thrown = throw(Scope(organisation_id=office.organisation.id, account_id=office.mailbox.id))
    office.mailbox.refresh_from_db()
    paused = office.mailbox.paused
    switches.lift(switch_id=thrown.switch_id, why="It is over", author=OLGA)
    office.mailbox.refresh_from_db()

    lifted, made = history(office.organisation)
    assert (paused, office.mailbox.paused) == (True, False)
    assert (made.actor_id, made.account_id) == ("operator:olga", office.mailbox.id)
    assert made.payload["before"] is None
    assert made.payload["after"]["why"] == "A phishing wave"
    assert (made.payload["kind"], made.payload["door"]) == ("killswitch", "admin")
    assert lifted.payload["before"]["lifted_why"] == ""
    assert lifted.payload["after"]["lifted_why"] == "It is over"


def test_everything_is_in_the_history_of_every_organisation(office: Office) -> None:
    other = Organisation.objects.create(slug="other", name="Other")
    thrown = throw(Scope())
    assert [len(history(one)) for one in (office.organisation, other)] == [1, 1]
    switches.lift(switch_id=thrown.switch_id, why="Over", author=OLGA)


def test_a_switch_is_thrown_once_by_however_many(office: Office) -> None:
    scope = Scope(organisation_id=office.organisation.id)
    found: list[switches.Thrown] = in_threads(8, lambda: throw(scope))
    assert len({one.switch_id for one in found}) == 1
    assert KillSwitch.objects.count() == 1
    assert len(history(office.organisation)) == 1


def test_only_what_is_thrown_is_lifted(office: Office) -> None:
    thrown = throw(Scope(organisation_id=office.organisation.id))
    assert switches.lift(switch_id=thrown.switch_id, why="Over", author=OLGA)
    assert not switches.lift(switch_id=thrown.switch_id, why="Over", author=OLGA)


@pytest.mark.parametrize("fields", [{"action_type": "archive"}, {"action_type": "invented"}])
def test_a_switch_that_means_nothing_is_refused(office: Office, fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        throw(Scope(**fields))  # type: ignore[arg-type]  # texts only


def test_another_organisations_account_is_refused(office: Office) -> None:
    other = Organisation.objects.create(slug="other", name="Other")
    with pytest.raises(ValidationError):
        throw(Scope(organisation_id=other.id, account_id=office.mailbox.id))


def test_a_switch_inside_a_transaction_is_refused(office: Office) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError):
        throw(Scope(organisation_id=office.organisation.id))


def test_throwing_waits_for_the_call_that_had_begun(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, called, seen, thrown = DataServiceWriter.archive, Event(), Event(), Event()

    def slow(self: DataServiceWriter, email_id: str, *, key: str) -> Any:
        called.set()
        assert seen.wait(60)
        assert not thrown.wait(0.3)
        return archive(self, email_id, key=key)

    monkeypatch.setattr(DataServiceWriter, "archive", slow)
    office.permit("archive")
    request = office.request("archive", {"email_id": office.receive()})
    scope = Scope(organisation_id=office.organisation.id)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(_closing, lambda: execute(request))
        assert called.wait(60)
        at_once = switches.throw(scope, why="Now", author=OLGA, patience_seconds=0)
        seen.set()
        patient = throw(scope)
        thrown.set()
        result = running.result()

    assert (at_once.under_way, patient.under_way) == (1, 0)
    assert result.status == "succeeded"


def test_a_switch_bites_at_once_under_sixteen_threads(office: Office) -> None:
    office.permit("archive")
    requests = [office.request("archive", {"email_id": office.receive()}) for _ in range(48)]
    scope = Scope(organisation_id=office.organisation.id)
    ready = Barrier(17)

    def work(number: int) -> list[str]:
        ready.wait()
        return [execute(request).status for request in requests[number::16]]

    with ThreadPoolExecutor(16) as pool:
        running = [pool.submit(_closing, work, number) for number in range(16)]
        ready.wait()
        thrown = throw(scope)
        calls = len(office.calls())
        statuses = [status for one in running for status in one.result()]

    assert thrown.under_way == 0
    assert len(office.calls()) == calls
    assert statuses.count("succeeded") == calls
    # More than ten put away in one run are asked about, while there is no switch.
    assert {*statuses} <= {"succeeded", "refused", "pending"}


def _closing(work: Any, *given: Any) -> Any:
    try:
        return work(*given)
    finally:
        connections.close_all()


def test_an_unknown_switch_is_not_lifted(office: Office) -> None:
    assert not switches.lift(switch_id=UUID(int=1), why="Over", author=OLGA)
