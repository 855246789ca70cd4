"""A chat turn that the process of its request may not work through."""

import threading
from collections.abc import Iterator

import pytest
from django.db import connections

from agents.journal import leases
from agents.models import Turn
from agents.turns import turns, waiting
from integrations.accounts import reads
from integrations.contracts import AccountRef
from tests.office import Office, until
from tests.stories.steps import Frontend, scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def runner() -> Iterator[list[str]]:
    """Another process, which takes the one turn that waits; who worked on it."""
    worked: list[str] = []

    def work() -> None:
        try:
            until(lambda: Turn.objects.filter(state=Turn.State.QUEUED).exists())
            for lease in leases.claim_waiting(1):
                worked.append(threading.current_thread().name)
                turns.work(lease, stream=False)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work, name="runner")
    thread.start()
    yield worked
    thread.join()


def test_a_turn_about_a_mailbox_that_web_cannot_open_is_worked_through_elsewhere(
    office: Office, monkeypatch: pytest.MonkeyPatch, runner: list[str]
) -> None:
    def can_be_asked_here(account: AccountRef) -> bool:
        return threading.current_thread().name == "runner" or account.source != "gmail"

    monkeypatch.setattr(reads, "can_be_asked_here", can_be_asked_here)
    with scripted({"You are Remit's orchestrator.": ["Good morning."]}):
        answer = Frontend(office).ask("POST", "/chat", {"user_id": "maya", "message": "Hello"})

    assert (answer["status"], answer["response"]) == ("finished", "Good morning.")
    assert runner == ["runner"]


def test_a_turn_that_nobody_takes_is_given_as_it_stands(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "can_be_asked_here", lambda _: False)
    monkeypatch.setattr(waiting, "LONGEST_SECONDS", 0.0)

    answer = Frontend(office).ask("POST", "/chat", {"user_id": "maya", "message": "Hello"})

    assert answer["status"] == "queued"
