"""Runs over past mail: first only tried, then worked through, paused and stopped by a person."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.utils import timezone

from agents import tasks
from agents.models import PastMail, PastRun, Turn
from agents.past import figures, runs, work
from agents.past.runs import AlreadyOpen, Wanted
from audit.models import ExecutedAgentAction
from guardrails.facts.threads import SENT
from guardrails.models import (
    AllowedAction,
    AllowedActionOption,
    Approval,
    AssistantDraft,
    LearnedPattern,
)
from guardrails.policies import files as policy_files, shadow
from guardrails.policies.changes import Author
from integrations.accounts.reads import mail_reader
from integrations.models import Account, ProviderResource
from tests.clients import log_in_superuser
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
READER = "You are Remit's mail reader."
STATUS = {"label_to_reply", "label_awaiting_reply", "label_fyi", "label_actioned"}


def start(office: Office, **wanted: object) -> PastRun:
    account = office.account("maya", "gmail")
    given = Wanted(**{"last": 500, **wanted})  # type: ignore[arg-type]
    return PastRun.objects.get(id=tasks.start_past_run(account, given, by="operator:o"))


def is_done(action: dict[str, Any]) -> bool:
    return bool(action["status"] == "succeeded")


def take_back() -> list[UUID]:
    with transaction.atomic():
        return runs.take_back(now=timezone.now() + timedelta(hours=1))


def test_a_trial_says_what_would_be_done_and_changes_nothing(office: Office) -> None:
    office.sync("gmail")
    before = ExecutedAgentAction.objects.count()
    hits = LearnedPattern.objects.get(state="approved").hits

    run = start(office, writes_drafts=True)
    office.drain()

    run.refresh_from_db()
    progress, found = figures.count_progress(run), figures.count(run)
    assert (run.state, progress.percent) == ("done", 100)
    assert progress.done == found.looked_at > 20
    lines = {(line.title, line.place): line.counts[figures.DONE] for line in found.lines}
    assert lines["Label a mail", "Newsletter"] == lines["Archive a mail", ""] > 0
    assert found.alone < found.looked_at
    assert 0 < found.by_pattern < found.looked_at
    # Nothing outside, nothing in the ledger, nobody asked, nothing counted for or learned.
    assert office.calls() == []
    assert ExecutedAgentAction.objects.count() == before
    assert not Approval.objects.exists()
    assert not AssistantDraft.objects.exists()
    assert LearnedPattern.objects.get(state="approved").hits == hits
    assert set(Turn.objects.values_list("kind", flat=True)) == {"trial"}
    turn = next(one for one in Turn.objects.all() if any(map(is_done, one.actions)))
    page = log_in_superuser("ines").get(f"/admin/agents/turn/{turn.id}/change/").content.decode()
    assert "What it would have done" in page
    assert "would do" in page
    assert "Actions in the ledger" not in page
    assert 'aria-label="Undo: ' not in page


def test_a_trial_under_rules_that_wait_says_what_they_would_do_and_makes_nothing_live(
    office: Office,
) -> None:
    office.sync("gmail")
    account = Account.objects.get(id=office.account("maya", "gmail").id)
    wanted = policy_files.exported(account)
    AllowedAction.objects.filter(account=account).delete()
    author = Author(name="operator:o", door="admin")
    row = shadow.start(account, wanted, note="", author=author)
    before = ExecutedAgentAction.objects.count()

    at_present = start(office, last=60)
    office.drain()
    draft = start(office, last=60, policy=row.content)
    office.drain()

    would, does = (figures.count(one) for one in (draft, at_present))
    assert sum(line.counts[figures.DONE] for line in does.lines) == 0
    assert sum(line.counts[figures.DONE] for line in would.lines) > 10
    assert office.calls() == []
    assert ExecutedAgentAction.objects.count() == before
    assert not AllowedAction.objects.filter(account=account).exists()
    page = log_in_superuser("ines").get(f"/admin/agents/pastrun/{draft.id}/change/")
    assert "Tried under rules that were not live." in page.content.decode()
    assert "again" not in page.context["pressed"]
    with pytest.raises(ValueError, match="tried alone"):
        start(office, is_trial=False, policy=row.content)


def test_what_was_tried_is_then_done_and_once(office: Office) -> None:
    office.sync("gmail")
    tried = start(office)
    office.drain()

    real = start(office, is_trial=False)
    office.drain()

    wanted, done = (figures.count(one) for one in (tried, real))
    # Which of them is so already changes while others are worked through. What follows for threads
    # that the user has answered is not tried.
    found = {(one.title, one.place): one.counts.total() for one in done.lines}
    assert found.pop(("Label a mail", "Awaiting Reply")) == 3
    assert found == {(one.title, one.place): one.counts.total() for one in wanted.lines}
    assert len(office.calls()) > 0
    assert not AssistantDraft.objects.exists()  # filed and labelled, not answered
    again = start(office, is_trial=False)
    calls = len(office.calls())
    office.drain()
    assert figures.count_progress(again).skipped == {
        "duplicate_item": figures.count(real).looked_at
    }
    assert len(office.calls()) == calls


def test_a_run_is_paused_goes_on_and_is_stopped_for_good(office: Office) -> None:
    office.sync("gmail")
    client = log_in_superuser("ines")
    run = start(office, last=30)
    page = f"/admin/agents/pastrun/{run.id}/change/"

    def press(name: str) -> None:
        client.post(f"/admin/agents/pastrun/{run.id}/{name}/")
        run.refresh_from_db()

    def pausing(request: object) -> str:
        press("pause")
        return "Nothing to do."

    with scripted({READER: pausing}):
        assert work.advance(run.id) == "not_mine"
    begun = figures.count_progress(run).finished
    assert 0 < begun <= settings.DELIVERY_THREADS  # what was under way is finished
    assert work.advance(run.id) == "not_mine"
    # Nobody can know from the rows that all of it has ended.
    assert "What was under way then is finished first." in client.get(page).content.decode()
    with pytest.raises(AlreadyOpen):
        start(office)
    press("resume")
    claimed = runs.claim(run.id, now=timezone.now())
    assert claimed is not None
    assert work.advance(run.id) == "not_mine"  # somebody has it
    assert take_back() == [run.id]  # who died
    assert not runs.is_held(claimed)
    press("stop")
    assert (run.state, run.changed_by) == ("stopped", "operator:ines")
    press("resume")
    assert run.state == "stopped"
    assert figures.count_progress(run).finished == begun
    assert "It was stopped before the end." in client.get(page).content.decode()


def test_a_stopped_account_makes_the_run_wait_not_skip(office: Office) -> None:
    office.sync("gmail")
    run = start(office, last=10)
    Account.objects.filter(id=run.account_id).update(paused=True)

    assert work.advance(run.id) == "waiting"

    run.refresh_from_db()
    assert run.waits_for == "stopped"
    assert figures.count_progress(run).finished == 0
    Account.objects.filter(id=run.account_id).update(paused=False)
    assert take_back() == [run.id]
    assert work.advance(run.id) == "finished"


def test_mail_that_was_answered_since_gets_no_draft_and_its_thread_waits(office: Office) -> None:
    """Whatever the model wants."""
    office.sync("gmail")
    reader = mail_reader(office.account("maya", "gmail"))
    answered = next(
        mail
        for mail in PastMail.objects.filter(run=start(office, is_trial=False, writes_drafts=True))
        for thread in [reader.thread(mail.thread_id)]
        if any(SENT in one.labels and one.date > mail.occurred_at for one in thread)
    )
    PastMail.objects.exclude(id=answered.id).delete()
    draft = {
        "reply_to_id": answered.source_id,
        "to": [answered.sender],
        "subject": "Re: it",
        "body": "Hello",
    }
    wishes: list[tuple[str, dict[str, Any] | str]] = [
        ("draft", draft),
        ("execute_action", {"action_type": "draft", "params": draft}),
        ("classify", {"email_id": answered.source_id, "label_id": "label_to_reply"}),
    ]
    with scripted({READER: [*map(calls, wishes), "Done."]}):
        office.drain()

    assert not AssistantDraft.objects.exists()
    assert not any("drafts" in one["path"] for one in office.calls())
    mails = reader.thread(answered.thread_id)
    newest = max(mails, key=lambda one: one.date)
    states = [(one.id, label) for one in mails for label in one.labels if label in STATUS]
    assert states == [(newest.id, "label_awaiting_reply")]


def test_the_page_offers_labels_and_starts_a_trial_of_what_was_chosen(office: Office) -> None:
    office.sync("gmail")
    client = log_in_superuser("ines")
    account = Account.objects.get(external_user_id="maya", source="gmail")
    address = f"/admin/agents/pastrun/add/?account={account.pk}"
    # No policy lists this folder.
    assert not AllowedActionOption.objects.filter(external_id="folder_clients").exists()
    ProviderResource.objects.get_or_create(
        account=account, resource_type="folder", external_id="folder_clients", name="Clients"
    )

    form = client.get(address).content.decode()
    assert re.search(r">Inbox \(\d+\)</option>", form)
    assert re.search(r'"folder_clients"[^>]*>Clients \(\d+\)</option>', form)
    assert not re.search(r'"writes_drafts"[^>]*\schecked[\s>=]', form)
    bad = {"how": "trial", "last": 5, "since": "2026-02-02", "until": "2026-02-01"}
    assert "before the first one" in client.post(address, bad).content.decode()
    none = {"how": "trial", "last": 5, "until": "2001-01-02"}
    again = client.post(address, none).content.decode()
    assert "No mail that was read in fits." in again
    assert 'value="2001-01-02"' in again  # what was chosen stays
    good = {"how": "trial", "last": 5, "folder": "INBOX", "writes_drafts": "on"}
    answer = client.post(address, good)

    run = PastRun.objects.get()
    assert answer.headers["Location"] == f"/admin/agents/pastrun/{run.id}/change/"
    assert (run.is_trial, run.folder_name, run.started_by) == (True, "Inbox", "operator:ines")
    assert run.mails.count() == 5
    assert client.post(address, good).headers["Location"] == answer.headers["Location"]
    office.drain()
    shown = client.get(answer.headers["Location"]).content.decode()
    assert "It is done. 5 of 5 mails." in shown
    assert "Do it for real" in shown
    assert Client().get(answer.headers["Location"]).status_code == 302
