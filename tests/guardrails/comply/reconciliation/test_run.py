"""The provider's history against the ledger, with the truth known: what was forged is listed, and
nothing else."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone

from audit.contracts import Recorded
from audit.ledger import events
from audit.ledger.ids import uuid7
from audit.ledger.selectors import about_ledger, recorded
from guardrails.comply import incidents
from guardrails.comply.reconciliation import run as reconciliation
from guardrails.comply.reconciliation.rows import SUMMARY, AccountResult, Reconciliation
from guardrails.comply.reconciliation.run import reconcile
from guardrails.contracts import ActionRequest
from guardrails.execute.executor import execute
from guardrails.execute.settling import INCIDENT
from integrations.contracts import Change, Page
from integrations.exceptions import Unavailable
from integrations.ports.evidence import CannotTell, NotPerformed
from integrations.providers.data_service.reader import DataServiceReader
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.office import Office, interrupted, recover

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SETTLED = timedelta(minutes=30)
ISSUE = {"project_key": "PROJ", "type": "task", "summary": "Forged"}


@pytest.fixture(autouse=True)
def is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of this very second count as settled."""
    monkeypatch.setattr("guardrails.comply.reconciliation.compare.SETTLED_AFTER", timedelta(0))


def run(office: Office, **keywords: Any) -> Reconciliation:
    return reconcile(office.organisation, now=timezone.now(), **keywords)


def found(office: Office) -> list[tuple[str, str]]:
    """The incidents in the ledger, each with the provider's id or the action's."""
    rows = about_ledger(office.organisation.id, INCIDENT)
    return sorted(
        (row.decision_reason, row.resource_id or str(row.parent_action_id)) for row in rows
    )


def forge(office: Office, path: str, body: Any, *, key: str | None = None) -> dict[str, Any]:
    """A write under our client's credential, behind the ledger's back."""
    headers = office.sandbox.headers | ({"Idempotency-Key": key} if key else {})
    answer = httpx.post(
        f"{office.sandbox.url}/users/{office.user_id}{path}",
        json=body,
        headers=headers,
        verify=False,
    )
    assert answer.is_success, answer.text
    return dict(answer.json())


def archive(office: Office) -> ActionRequest:
    request = office.request("archive", {"email_id": office.receive()})
    assert execute(request).status == "succeeded"
    return request


@pytest.fixture
def busy(office: Office) -> Office:
    """Things done, refused, done already, failed and settled, in three rooms."""
    office.permit("archive")
    office.permit("create_jira_task")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    for _ in range(3):
        archive(office)
    execute(office.request("mark_read", {"email_id": office.receive()}))
    done = office.receive(labels=[])
    assert execute(office.request("archive", {"email_id": done})).status == "noop"
    office.change("emails", done, subject="By hand")
    task = {"project_key": "PROJ", "type": "task", "summary": "Ours"}
    result = execute(office.request("create_jira_task", task))
    assert result.status == "succeeded"
    return office


def test_a_busy_and_clean_week_has_nothing_unexplained(busy: Office) -> None:
    result = run(busy)

    assert (result.totals["effects"], result.totals["explained"], result.incidents) == (4, 4, 0)
    assert result.totals["by_others"] == 6  # five mails came, one was changed by hand
    assert found(busy) == []
    summary = about_ledger(busy.organisation.id, SUMMARY)
    assert [row.payload["sentence"] for row in summary] == [
        "4 of 5 accounts compared, 4 effects: provider and ledger agree."
    ]


@pytest.mark.parametrize(
    "key",
    [
        None,
        "another-clients-key",
        "remit-nonsense",
        pytest.param(f"remit-{uuid4()}", id="of no action"),
        pytest.param(f"remit-{uuid7()}", id="of an unknown action"),
    ],
)
def test_an_effect_behind_the_ledgers_back_is_listed_exactly(busy: Office, key: str | None) -> None:
    forged = forge(busy, "/jira/issues", ISSUE, key=key)

    result = run(busy)

    assert found(busy) == [("unexplained_effect", forged["key"])]
    assert result.totals["explained"] == 4
    row = about_ledger(busy.organisation.id, INCIDENT)[0]
    assert (row.status, row.account_id, row.provider) == ("failed", busy.tracker.id, "jira")
    assert row.payload["change"]["key"] == key


def test_many_forged_effects_among_many_of_ours_are_all_found(busy: Office) -> None:
    forged = [forge(busy, "/jira/issues", ISSUE)["key"] for _ in range(4)]
    forged += [forge(busy, f"/emails/{busy.receive()}/archive", {}) and "" for _ in range(2)]

    run(busy)

    told = found(busy)
    assert len(told) == 6
    assert {thing for thing in forged if thing} < {thing for _, thing in told}


def test_an_effect_without_a_key_on_a_thing_of_ours_is_still_one_too_many(busy: Office) -> None:
    email_id = str(archive(busy).arguments["email_id"])
    forge(busy, f"/emails/{email_id}/mark-read", {})

    run(busy)

    # Our own archive carries its key; this has none, and no action is left to explain it.
    assert ("unexplained_effect", email_id) in found(busy)


def test_a_provider_that_knows_no_keys_is_compared_by_its_ids(
    busy: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = DataServiceReader.history

    def keyless(self: DataServiceReader, **given: Any) -> Page[Change]:
        page = original(self, **given)
        return Page(
            items=tuple(one.model_copy(update={"key": None}) for one in page.items),
            next_cursor=page.next_cursor,
        )

    monkeypatch.setattr(DataServiceReader, "history", keyless)
    assert (run(busy).incidents, run(busy).totals["explained"]) == (0, 4)

    forged = forge(busy, "/jira/issues", ISSUE)
    run(busy)
    assert found(busy) == [("unexplained_effect", forged["key"])]


def test_a_success_without_an_effect_is_listed(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.permit("archive")
    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "archive", lambda self, email_id, *, key: {})
        request = archive(office)

    run(office)

    assert found(office) == [("missing_effect", str(request.action_id))]
    row = about_ledger(office.organisation.id, INCIDENT)[0]
    assert row.target_row == recorded(request.action_id)[-1].id


def test_what_is_under_way_is_no_success_without_an_effect(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.permit("archive")
    monkeypatch.setattr("guardrails.comply.reconciliation.compare.SETTLED_AFTER", SETTLED)
    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "archive", lambda self, email_id, *, key: {})
        archive(office)
    assert run(office).incidents == 0


def test_an_effect_that_the_ledger_denies_is_listed(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider said no, and did it all the same."""
    from integrations.exceptions import Rejected

    send = DataServiceWriter.archive

    def lies(self: DataServiceWriter, email_id: str, *, key: str) -> dict[str, Any]:
        send(self, email_id, key=key)
        raise Rejected("422")

    office.permit("archive")
    request = office.request("archive", {"email_id": office.receive()})
    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "archive", lies)
        patched.setattr(DataServiceReader, "evidence", denies)
        assert execute(request).status == "failed"

    run(office)

    assert found(office) == [("effect_denied", str(request.arguments["email_id"]))]


def denies(self: DataServiceReader, key: str) -> NotPerformed:
    return NotPerformed(proof="so it says")


def cannot_tell(self: DataServiceReader, key: str) -> CannotTell:
    return CannotTell(ask_again_at=timezone.now())


def unknown(office: Office, monkeypatch: pytest.MonkeyPatch, *, was_done: bool) -> ActionRequest:
    """An action that recovery gave up on."""
    request = interrupted(office, after_effect=was_done)
    with monkeypatch.context() as patched:
        patched.setattr(DataServiceReader, "evidence", cannot_tell)
        recover(request, later=timedelta(hours=25))
    assert recorded(request.action_id)[-1].status == "unknown"
    return request


@pytest.mark.parametrize(("was_done", "reason"), [(True, "found_done"), (False, "found_not_done")])
def test_what_became_of_an_unknown_action_is_recorded_once_and_never_repeated(
    office: Office, monkeypatch: pytest.MonkeyPatch, was_done: bool, reason: str
) -> None:
    request = unknown(office, monkeypatch, was_done=was_done)
    before, calls = recorded(request.action_id), len(office.calls())

    assert [run(office).totals["resolved"] for _ in range(2)] == [1, 0]

    rows = recorded(request.action_id)
    assert rows[:-1] == before
    last = rows[-1]
    assert (last.phase, last.status, last.decision_reason) == ("control", "recorded", reason)
    assert (last.target_row, last.actor_type) == (before[-1].id, "recovery")
    assert len(office.calls()) == calls == was_done
    assert execute(request).status == "unknown"
    assert len(office.calls()) == calls
    # What recovery asked a person, before this; nothing else.
    assert found(office) == [("unresolved", str(request.action_id))]


def test_an_open_attempt_is_left_to_recovery(office: Office) -> None:
    interrupted(office)
    result = run(office)
    assert (result.totals["open"], result.incidents, result.totals["resolved"]) == (1, 0, 0)


def test_an_effect_under_the_key_of_another_account_is_listed(
    busy: Office, provider: Any, settings: Any
) -> None:
    """The key exists in the ledger, but that action was not about this account."""
    request = archive(busy)
    forged = forge(busy, "/jira/issues", ISSUE | {"summary": "x"}, key=f"remit-{uuid7()}")
    original = DataServiceReader.history

    def borrowed(self: DataServiceReader, **given: Any) -> Page[Change]:
        page = original(self, **given)
        items = tuple(
            one.model_copy(update={"key": f"remit-{request.action_id}"})
            if one.object_id == forged["key"]
            else one
            for one in page.items
        )
        return Page(items=items, next_cursor=page.next_cursor)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DataServiceReader, "history", borrowed)
        run(busy)
    assert found(busy) == [("effect_of_another", forged["key"])]


def test_an_incident_is_recorded_once_however_often_it_is_found(office: Office) -> None:
    forge(office, "/jira/issues", ISSUE)
    assert [run(office).incidents for _ in range(3)] == [1, 1, 1]
    assert len(found(office)) == 1


def test_a_person_looks_into_it_and_it_is_open_no_longer(office: Office) -> None:
    forge(office, "/jira/issues", ISSUE)
    run(office)
    organisation_id, now = office.organisation.id, timezone.now()
    (one,) = incidents.incidents(organisation_id, now=now)
    assert incidents.open_count(organisation_id, now=now) == 1

    with pytest.raises(ValueError, match="Say what you found"):
        incidents.look_into(
            organisation_id=organisation_id, action_id=one.row.action_id, by="operator:o", note=" "
        )
    for tenant, action in ((uuid4(), one.row.action_id), (organisation_id, uuid7())):
        with pytest.raises(incidents.IncidentNotFound):
            incidents.look_into(
                organisation_id=tenant, action_id=action, by="operator:o", note="A test."
            )
    incidents.look_into(
        organisation_id=organisation_id,
        action_id=one.row.action_id,
        by="operator:olga",
        note="A test of ours.",
    )

    (told,) = incidents.incidents(organisation_id, now=now)
    assert (told.note, incidents.open_count(organisation_id, now=now)) == ("A test of ours.", 0)
    assert told.row == one.row


# --- histories that are not to be trusted ------------------------------------------------


def entry(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "kind": "issue",
        "change": "created",
        "object_id": f"i{number}",
        "by": "client",
        "key": None,
        "at": datetime.now(UTC).isoformat(),
    } | changes


def endless() -> Iterator[dict[str, Any]]:
    number = 0
    while True:
        number += 1
        yield {"items": [entry(number, by="other")], "next_cursor": f"c{number}"}


HOSTILE: dict[str, Callable[[], Any]] = {
    "no object": list,
    "no items": lambda: {"next_cursor": None},
    "no entry": lambda: {"items": ["text"], "next_cursor": None},
    "no id": lambda: {"items": [entry(1, id="")]},
    "a number for an id": lambda: {"items": [entry(1, id=7)]},
    "an endless id": lambda: {"items": [entry(1, object_id="x" * 501)]},
    "nobody": lambda: {"items": [entry(1, by="someone")]},
    "no time": lambda: {"items": [entry(1, at="soon")]},
    "no zone": lambda: {"items": [entry(1, at="2026-11-21T10:00:00")]},
    "long ago": lambda: {"items": [entry(1, at="1999-01-01T00:00:00Z")]},
    "the future": lambda: {"items": [entry(1, at="2999-01-01T00:00:00Z")]},
    "an entry twice": lambda: {"items": [entry(1), entry(1)]},
    "a cursor of another type": lambda: {"items": [entry(1)], "next_cursor": 7},
    "the same cursor again": lambda: {"items": [entry(uuid4().int)], "next_cursor": "again"},
    "an empty page that goes on": lambda: {"items": [], "next_cursor": uuid4().hex},
}


def answering(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], Any]) -> None:
    original = DataServiceReader._get

    def get(self: DataServiceReader, path: str, **params: Any) -> Any:
        if path == "/history" and params.get("source") == "jira":
            return answer()
        return original(self, path, **params)

    monkeypatch.setattr(DataServiceReader, "_get", get)


def jira(result: Reconciliation) -> AccountResult:
    return next(one for one in result.results if one.account.source == "jira")


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_history_that_breaks_the_contract_is_refused_and_said_so(
    busy: Office, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    answering(monkeypatch, HOSTILE[kind])

    result = run(busy)

    assert jira(result).comparison is None
    assert jira(result).problem == "The provider's history could not be read (malformed answer)."
    assert (result.totals["not_compared"], result.incidents) == (
        2,
        0,
    )  # tools have no history either
    assert result.sentence == "3 of 5 accounts compared, 3 effects: provider and ledger agree."
    assert found(busy) == []


def test_a_history_without_an_end_is_given_up(
    busy: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciliation, "MAX_CHANGES", 50)
    answering(monkeypatch, endless().__next__)
    assert jira(run(busy)).problem.endswith("(malformed answer).")


def test_text_that_hides_is_kept_and_shown_escaped(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "i1\u202e\x1b[31m\n<script>"
    answering(monkeypatch, lambda: {"items": [entry(1, object_id=hostile)], "next_cursor": None})
    run(office)
    assert found(office) == [("unexplained_effect", hostile)]


def test_a_provider_without_a_history_is_said_so(
    busy: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    from integrations.exceptions import NotFound

    def missing() -> Any:
        raise NotFound("404")

    answering(monkeypatch, missing)
    assert jira(run(busy)).problem == reconciliation.NO_HISTORY


def test_a_provider_that_is_away_keeps_no_other_account_from_it(
    busy: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> Any:
        raise Unavailable("500")

    forged = forge(busy, f"/emails/{busy.receive()}/archive", {})
    answering(monkeypatch, away)
    assert jira(run(busy)).problem == "The provider's history could not be read (unavailable)."
    assert found(busy) == [("unexplained_effect", forged["id"])]


def test_when_a_run_is_due(office: Office, settings: Any) -> None:
    organisation_id, now = office.organisation.id, timezone.now()
    settings.RECONCILE_DAYS = 7
    assert reconciliation.is_due(organisation_id, now=now)
    run(office)
    assert not reconciliation.is_due(organisation_id, now=now + timedelta(days=6))
    assert reconciliation.is_due(organisation_id, now=now + timedelta(days=7))
    settings.RECONCILE_DAYS = 0
    assert not reconciliation.is_due(organisation_id, now=now + timedelta(days=700))


def test_a_ledger_that_has_ended_is_not_due(office: Office) -> None:
    events.record("ledger.end", tenant_id=office.organisation.id, payload={}, status="succeeded")
    assert not reconciliation.is_due(office.organisation.id, now=timezone.now())


def test_nothing_of_another_organisation_is_compared(busy: Office) -> None:
    forge(busy, "/jira/issues", ISSUE)
    from integrations.models import Organisation

    other = Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="Other")
    result = reconcile(other, now=timezone.now())
    assert (result.results, result.sentence) == ((), "0 of 0 accounts compared.")
    rows: tuple[Recorded, ...] = about_ledger(other.id, INCIDENT, SUMMARY)
    assert [row.action_type for row in rows] == [SUMMARY]
