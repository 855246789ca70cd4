"""How many transactions a mail takes, and that what is read in them is of its moment."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.inbound import inbound, reactions
from agents.models import Turn
from guardrails.actions.mail.classify import Classify
from guardrails.models import AllowedActionOption, LearnedPattern
from integrations.database import clock
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


@contextmanager
def counted_sessions() -> Iterator[None]:
    """This thread has the same sessions all the time, which do nothing by themselves: prepared
    statements are let go of in transactions of their own."""
    with ExitStack() as stack:
        for name in ("default", "ledger"):
            connections[name].ensure_connection()
            session = connections[name].connection
            stack.callback(setattr, session, "prepare_threshold", session.prepare_threshold)
            session.prepare_threshold = None
            stack.enter_context(mock.patch.object(connections[name], "close"))
        yield


def test_a_mail_that_an_agent_files_takes_few_transactions(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each of them is for is in docs/operating.md."""
    monkeypatch.setattr(clock, "KEPT_SECONDS", 3600)  # it is asked as time passes
    with counted_sessions():
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
    assert taken - slots == 17


def test_a_pattern_that_is_taken_back_while_the_mailbox_is_asked_does_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.deliver("newsletter")
    build = inbound.build_context

    def take_back(*given: Any, **named: Any) -> Any:
        LearnedPattern.objects.update(state="suspended", suspended_at=timezone.now())
        return build(*given, **named)

    monkeypatch.setattr(inbound, "build_context", take_back)
    with scripted({INGEST: [SUMMARY], READER: ["Nothing is to be done."]}):
        office.drain()

    assert (Turn.objects.get().ending, office.calls()) == ("reply", [])


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
