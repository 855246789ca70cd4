"""A small mailbox of real mail lived through, as `make bench NAME=mailbox` does with a large one:
what others fell into must not happen here: states that are half changed, drafts that a person
touched and lost, patterns that look-alikes set off."""

import pytest

from benchmarks import lived_worlds, person as owner
from benchmarks.lived import live
from benchmarks.lived_judged import deceive, judge_drafts, judge_patterns, judge_threads
from guardrails.models import AssistantDraft, LearnedPattern
from tests.corpus import needs_corpus
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@needs_corpus
def test_threads_drafts_and_patterns_are_right_at_the_end(office: Office) -> None:
    mails, person = owner.load(60)
    with lived_worlds.in_sandbox(office.sandbox, person) as world:
        lived = live(world, mails, person, learn_in=10)

        threads, right, wrong = judge_threads(world, mails, person, lived)
        assert (right, wrong) == (threads, [])
        assert any(lived.said.values())
        assert judge_drafts(world, mails, lived) == (0, 0)
        assert AssistantDraft.objects.exists()
        _, hits, precise = judge_patterns(world, mails, person, lived)
        assert hits == precise > 0
        tried, fired = deceive(world, mails)
        assert (tried > 0, fired) == (True, 0)
    assert not LearnedPattern.objects.filter(state="suspended").exists()
