"""A run over many accounts goes on where it broke off, by what its rows say."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.ledger.selectors import about_ledger
from guardrails.comply.reconciliation import run as reconciliation
from guardrails.comply.reconciliation.rows import STEP, SUMMARY
from tests.guardrails.comply.reconciliation.test_run import ISSUE, forge, found, run
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The accounts whose history is read from now on."""
    names: list[str] = []
    read = reconciliation.history_of

    def noted(account: Any, **keywords: Any) -> Any:
        names.append(account.source)
        return read(account, **keywords)

    monkeypatch.setattr(reconciliation, "history_of", noted)
    return names


def test_a_run_that_broke_off_goes_on_behind_the_accounts_that_it_compared(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciliation, "ACCOUNTS", 2)
    forged = forge(office, "/jira/issues", ISSUE)
    whole = run(office, days=3).totals
    names, now = asked(monkeypatch), timezone.now()
    organisation = office.organisation

    begun = reconciliation.start(organisation.id, now=now)
    reconciliation.step(organisation, begun, now=now)
    assert len(names) == 2
    assert reconciliation.is_due(organisation.id, now=now + timedelta(days=7))
    result = run(office)

    assert len(names) == 5
    assert sorted(names) == sorted(set(names))
    assert result.action_id == begun.action_id
    assert (result.since, result.totals) == (begun.since, whole)
    assert found(office) == [("unexplained_effect", forged["key"])]
    rows = about_ledger(organisation.id, SUMMARY, STEP)
    told = [(row.action_type, row.payload["totals"]["accounts"]) for row in rows[:3]]
    assert told == [(SUMMARY, 5), (STEP, 4), (STEP, 2)]
    assert rows[0].payload["sentence"] == result.sentence
    problems = [one["problem"] for one in rows[0].payload["accounts"] if one["problem"]]
    assert problems == [reconciliation.NO_HISTORY]
    run(office)
    assert len(names) == 10  # what is finished is not gone on with


def test_a_run_that_broke_off_long_ago_is_not_gone_on_with(
    office: Office, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(reconciliation, "ACCOUNTS", 2)
    settings.RECONCILE_DAYS = 7
    now = timezone.now()
    begun = reconciliation.start(office.organisation.id, now=now)
    reconciliation.step(office.organisation, begun, now=now)

    def goes_on(days: int) -> bool:
        later = now + timedelta(days=days)
        return reconciliation.start(office.organisation.id, now=later).action_id == begun.action_id

    assert [goes_on(days) for days in (0, 6, 7)] == [True, True, False]


def test_a_run_over_days_by_hand_goes_through_all_accounts(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciliation, "ACCOUNTS", 2)
    now = timezone.now()
    begun = reconciliation.start(office.organisation.id, now=now)
    reconciliation.step(office.organisation, begun, now=now)
    result = run(office, days=3)
    assert result.action_id != begun.action_id
    assert (len(result.results), result.totals["accounts"]) == (5, 5)
