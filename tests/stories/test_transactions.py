"""How many transactions a mail takes, and that what is read in them is of its moment."""

from typing import Any

import pytest

from agents.models import Turn
from guardrails.actions.mail.classify import Classify
from guardrails.models import AllowedActionOption
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import scripted
from tests.stories.test_inbound import INGEST, READER, SUMMARY, label, ledger_of

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_a_change_of_the_policy_while_one_action_is_done_counts_for_the_next(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = office.deliver("thread_update")
    newsletter, invoices = label(office, "Newsletter"), label(office, "Invoices")
    acts = calls(
        ("classify", {"email_id": mail["id"], "label_id": newsletter}),
        ("classify", {"email_id": mail["id"], "label_id": invoices}),
    )
    perform = Classify.perform

    def change(*given: Any, **named: Any) -> Any:
        AllowedActionOption.objects.filter(external_id=invoices).delete()
        return perform(*given, **named)

    monkeypatch.setattr(Classify, "perform", change)
    with scripted({INGEST: [SUMMARY], READER: [acts, "Filed."]}):
        office.drain()

    assert ledger_of(Turn.objects.get()) == [
        ("classify", "attempt", "pending", "allowed"),
        ("classify", "outcome", "succeeded", "performed"),
        ("classify", "blocked", "blocked", "target_not_listed"),
    ]
    stored = office.mail(mail["id"])["labels"]
    assert (newsletter in stored, invoices in stored) == (True, False)
