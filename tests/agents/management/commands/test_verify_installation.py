"""All guarantees at the installation of the tests, and what a fault in Remit does to them."""

import json
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.evaluation import database as evaluation_database
from agents.installation import running
from agents.installation.guarantees import attempt
from agents.installation.office import built_site, found
from agents.models import InstallationCheck
from guardrails.approve import approvals
from guardrails.learn import evidence
from integrations.models import Organisation
from integrations.web import webhooks
from tests import database
from tests.audit.databases import connected, fresh_database

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture(autouse=True)
def own_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Trials lead connections to a database of their own. Here it begins as a migrated one: the
    evaluation's tests make theirs from nothing."""
    monkeypatch.setattr(evaluation_database, "BLANK", database.migrated_already())
    with database.unpooled():
        yield


def verify(*arguments: str) -> list[dict[str, Any]]:
    out = StringIO()
    with suppress(CommandError):  # what fails stands in the lines
        call_command("verify_installation", "--json", *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_every_guarantee_holds_and_nothing_stays(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    settings.SECRET_KEY, settings.LEDGER_KEY = "a" * 32, "b" * 32
    with fresh_database() as here, connected(here):  # other tests leave records without a seal
        results = verify()
        organisations = Organisation.objects.count()
        kept = InstallationCheck.objects.get().results

    assert [one["name"] for one in results] == list(running.NAMES)
    assert [(one["name"], one["found"]) for one in results if one["verdict"] == "FAIL"] == []
    assert sum(one["verdict"] == "PASS" for one in results) >= 50
    assert (organisations, kept) == (0, results)


def test_one_is_tried_alone_and_an_unknown_one_is_refused() -> None:
    assert [one["name"] for one in verify("--only", "ledger_is_guarded")] == ["ledger_is_guarded"]
    with pytest.raises(CommandError, match="There is no guarantee nonsense"):
        call_command("verify_installation", "--only", "nonsense")
    assert not InstallationCheck.objects.exists()


def test_a_guarantee_that_does_not_hold_gives_exit_code_1(settings: Any) -> None:
    settings.DEBUG = True
    with pytest.raises(CommandError, match="0 hold, 1 do not, 0 do not apply here"):
        call_command("verify_installation", "--only", "no_page_of_a_fault", stdout=StringIO())


def test_a_fault_in_remit_turns_a_guarantee_red(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = {trial.__name__: trial for trial in running.IN_AN_OFFICE}
    with built_site() as site:
        monkeypatch.setattr(webhooks, "verify", lambda *, headers, **_: headers["webhook-id"])
        monkeypatch.setattr(approvals, "check", lambda *_, **__: None)
        monkeypatch.setattr(evidence, "find_lack", lambda *_, **__: None)
        broken = {
            name: attempt(trials[name], found(site)).found
            for name in (
                "unsigned_webhook",
                "word_about_something_else",
                "no_is_final",
                "pattern_without_evidence",
                "pattern_spoken_against",
            )
        }

    assert broken == {
        "unsigned_webhook": "Unsigned: 202 instead of 401.",
        "word_about_something_else": "The word counted.",
        "no_is_final": "",
        "pattern_without_evidence": "It became: new instead of unproven.",
        "pattern_spoken_against": "Approved with one that is contradicting: True instead of False.",
    }
