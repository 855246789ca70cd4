"""How many transactions a mail takes, and that what is read in them is of its moment."""

from typing import Any
from unittest import mock

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from agents.inbound import reactions
from agents.models import Turn
from guardrails.actions.mail.classify import Classify
from guardrails.models import AllowedActionOption
from integrations.models import Delivery
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import scripted
from tests.stories.test_inbound import INGEST, READER, SUMMARY, label, ledger_of

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def count_transactions() -> int:
    """How many this thread's sessions have begun, reads alone included: a server numbers them."""
    total = 0
    for name in ("default", "ledger"):
        with connections[name].cursor() as cursor:
            cursor.execute(
                "SELECT virtualtransaction FROM pg_locks "
                "WHERE locktype = 'virtualxid' AND pid = pg_backend_pid()"
            )
            [(number,)] = cursor.fetchall()
        total += int(number.partition("/")[2])
    return total


def test_a_mail_that_an_agent_files_takes_few_transactions(office: Office) -> None:
    """What each of them is for is in docs/operating.md."""
    with (
        # The same sessions all the time, so that their transactions can be counted.
        mock.patch.object(connections["default"], "close"),
        mock.patch.object(connections["ledger"], "close"),
    ):
        for name in ("fyi", "question"):
            office.deliver(name)
            office.drain()  # the first ones make the organisation's data key, and keep its policy
        mail = office.deliver("thread_update")
        acts = calls(
            ("classify", {"email_id": mail["id"], "label_id": label(office, "Newsletter")}),
            ("classify", {"email_id": mail["id"], "label_id": label(office, "Invoices")}),
        )
        delivery = Delivery.objects.filter(kind="created").latest("received_at")
        with (
            scripted({INGEST: [SUMMARY], READER: [acts, "Filed."]}),
            CaptureQueriesContext(connections["default"]) as queries,
        ):
            before = count_transactions()
            reactions.react(delivery.id)
            taken = count_transactions() - before - 2  # the looks themselves

    done = [action["status"] for action in Turn.objects.latest("created_at").actions]
    slots = sum("INTO integrations_upstream" in one["sql"] for one in queries)  # as time passes
    assert done == ["succeeded", "succeeded"]
    assert taken - slots == 20


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
