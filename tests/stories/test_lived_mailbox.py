"""A small mailbox of real mail lived through, as `make bench NAME=mailbox` does with a large one:
what others fell into must not happen here: states that are half changed, drafts that a person
touched and lost, patterns that look-alikes set off."""

from contextlib import closing

import pytest

from benchmarks import mailbox, person as owner
from guardrails.models import AssistantDraft, LearnedPattern
from tests.corpus import needs_corpus
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@needs_corpus
def test_threads_drafts_and_patterns_are_right_at_the_end(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "LEARN", 10)
    mails, person = owner.load(60)
    mailbox.settle(person)
    with closing(mailbox.World(office.sandbox)) as world:
        lived = mailbox.live(world, mails, person)

        threads, right, wrong = mailbox.judge_threads(world, mails, person, lived)
        assert (right, wrong) == (threads, [])
        assert any(lived.said.values())
        assert mailbox.judge_drafts(world, mails, lived) == (0, 0)
        assert AssistantDraft.objects.exists()
        _, hits, precise = mailbox.judge_patterns(mails, person, lived)
        assert hits == precise > 0
        tried, fired = mailbox.deceive(world, mails)
        assert (tried > 0, fired) == (True, 0)
    assert not LearnedPattern.objects.filter(state="suspended").exists()
