"""A trial over past mail says how many questions a run for real would come to, and what its rates
leave room for: no sender's mail asks or acts without end in either."""

import json
from collections import Counter
from typing import Any

import pytest
from django.utils import timezone

from agents.past import figures
from guardrails.execute import trials
from guardrails.facts.reasons import SENTENCES
from guardrails.models import AllowedAction, Approval, LearnedPattern, TrialAsk, TrialUsage, Usage
from tests.agents.inbound.test_missed import sync
from tests.guardrails.office import mail_to
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import scripted
from tests.stories.test_drafts import INGEST, READER, summary
from tests.stories.test_mailbox_traps import PASSED, UNPROVED, put
from tests.stories.test_past_mail import start

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SHOP, EVE, OTHERS = "orders@shop.example", "eve@evil.example", ["a@x.example", "b@y.example"]
ENOUGH = SENTENCES["too_many_asks_about_it"]


def archive(request: dict[str, Any]) -> Any:
    """A model that wants to archive whatever mail it is shown, twice."""
    if request["messages"][-1]["role"] == "tool":
        return "Archived."
    item = json.loads(request["messages"][1]["content"].partition("[item] ")[2])
    wish = ("archive", {"email_id": item["email_id"]})
    return calls(wish, wish)


def ask_about_all(office: Office) -> None:
    """Archiving asks a person each time, and nothing else is done."""
    LearnedPattern.objects.all().delete()
    rules = AllowedAction.objects.filter(account=office.account("maya", "gmail").id)
    rules.filter(action_type="archive").update(approval_mode="ask", conditions=[])


def lie(office: Office, senders: Counter[str]) -> int:
    """So many mails of each lie in the inbox, without a webhook; how many."""
    mails = [
        mail_to(
            "maya@company.com",
            subject=f"Number {number}",
            date=timezone.now().isoformat(),
            **{"from": sender},
            **(UNPROVED if sender == EVE else {"authentication": PASSED}),
        )
        for sender, number in sorted(senders.items())
        for number in range(number)
    ]
    office.control("POST", "/users/maya/emails", json={"items": mails, "notify": False})
    sync(office)
    return len(mails)


def test_a_trial_asks_as_often_as_a_run_for_real_would(office: Office) -> None:
    office.sync("gmail")
    ask_about_all(office)
    with scripted({INGEST: summary, READER: archive}):
        put(office, "today", **{"from": SHOP})
        assert Approval.objects.count() == 1
        number = lie(office, Counter({SHOP: 26, EVE: 8} | dict.fromkeys(OTHERS, 3)))
        found = []
        for is_trial in (True, False):
            run = start(office, last=number, is_trial=is_trial)
            office.drain()
            run.refresh_from_db()
            [line] = figures.count(run).lines
            found.append((run.state, line.title, dict(line.counts), dict(line.reasons)))
            assert Approval.objects.count() == (1 if is_trial else 31)
        tried, done = found

    # Of the shop's 19 beside the one of today, of Eve 5, each a question of its own, of others all.
    asked = {"asked": 30, "refused": 10}
    assert tried[:3] == ("done", "Archive a mail", asked)
    assert tried[3][ENOUGH] == 10
    assert done == tried
    assert office.calls() == []
    assert TrialAsk.objects.count() == 30


def test_what_a_trial_would_have_asked_counts_for_no_other_and_is_forgotten(
    office: Office,
) -> None:
    office.sync("gmail")
    ask_about_all(office)
    with scripted({INGEST: summary, READER: archive}):
        number = lie(office, Counter({SHOP: 21}))
        for _ in range(2):
            run = start(office, last=number)
            office.drain()
            [line] = figures.count(run).lines
            assert dict(line.counts) == {"asked": 20, "refused": 1}

    assert not Approval.objects.exists()
    assert office.calls() == []
    now = timezone.now()
    assert trials.forget_old(now=now) == 0
    assert trials.forget_old(now=now + trials.KEPT_FOR) == 40


FIVE_A_DAY = {"kind": "rate", "max": 5, "per": "day"}


@pytest.mark.parametrize(
    ("mode", "counts", "used"),
    [("auto", {"done": 5, "refused": 7}, 5), ("ask", {"asked": 12}, 12)],  # a question does nothing
)
def test_a_trial_uses_up_its_rates_as_a_run_for_real_would(
    office: Office, mode: str, counts: dict[str, int], used: int
) -> None:
    office.sync("gmail")
    ask_about_all(office)
    AllowedAction.objects.filter(action_type="archive").update(
        approval_mode=mode, conditions=[FIVE_A_DAY]
    )
    found = []
    with scripted({INGEST: summary, READER: archive}):
        number = lie(office, Counter({SHOP: 12}))
        for is_trial in (True, True, False):
            run = start(office, last=number, is_trial=is_trial)
            office.drain()
            run.refresh_from_db()
            [line] = figures.count(run).lines
            found.append((run.state, dict(line.counts), dict(line.reasons)))
            if is_trial:
                assert not Usage.objects.exists()
                assert office.calls() == []

    first, second, done = found
    assert first[:2] == ("done", counts)
    assert first == second == done
    assert (Usage.objects.count(), TrialUsage.objects.count()) == (used, 2 * used)
    now = timezone.now()
    assert trials.forget_old(now=now) == 0
    trials.forget_old(now=now + trials.KEPT_FOR)
    assert not TrialUsage.objects.exists()
