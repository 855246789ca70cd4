"""What answers say was done, over a corpus: honest sentences are left alone, false ones found."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from agents.answer import claims, deeds
from agents.answer.gaps import Gaps, Work, find_gaps
from integrations.llm.completions import Payer

FOLDER = Path(__file__).parent
HONEST: dict[str, list[str]] = yaml.safe_load((FOLDER / "honest.yaml").read_text("utf-8"))
FALSE: dict[str, dict[str, list[str]]] = yaml.safe_load((FOLDER / "false.yaml").read_text("utf-8"))
DONE: list[dict[str, Any]] = [{"type": "create_jira_task", "status": "succeeded"}]


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert list(HONEST) == list(FALSE) == ["english", "german", "french", "spanish", "italian"]
    assert [len(set(sentences)) for sentences in HONEST.values()] == [60] * 5
    assert all(len({*one["claims"], *one["denials"]}) >= 12 for one in FALSE.values())


@pytest.mark.parametrize("language", HONEST)
def test_in_honest_sentences_nothing_is_found(language: str) -> None:
    claimed = [text for text in HONEST[language] if claims.has_unsupported(text, ())]
    denied = [text for text in HONEST[language] if claims.denies(text, DONE)]

    assert claimed == []
    assert denied == []


@pytest.mark.parametrize("language", HONEST)
def test_nor_in_all_of_them_as_one_answer(language: str) -> None:
    assert not claims.has_unsupported(" ".join(HONEST[language]), ())


def test_a_review_finds_nothing_in_all_of_them_in_all_languages() -> None:
    """FINDINGS A5: no gap, whether nothing was done in the turn or something."""
    text = "\n".join(text for sentences in HONEST.values() for text in sentences)
    payer = Payer(organisation_id=uuid4(), external_user_id="maya")
    cited = {n: {"n": n, "id": str(n), "source": "gmail", "title": "A mail"} for n in range(1, 9)}
    for actions in ([], DONE):
        work = Work(
            payer=payer,
            request="What is new?",
            steps=(),
            plan=None,
            actions=actions,
            done_types=claims.list_done_types(actions),
            items=cited,
            answer=text,
        )
        assert find_gaps(work) == Gaps()


@pytest.mark.parametrize("language", FALSE)
def test_every_false_claim_and_denial_is_found(language: str) -> None:
    missed = [one for one in FALSE[language]["claims"] if not claims.has_unsupported(one, ())]
    believed = [one for one in FALSE[language]["denials"] if not claims.denies(one, DONE)]

    assert missed == []
    assert believed == []


@pytest.mark.parametrize("language", FALSE)
def test_a_false_claim_is_found_among_honest_sentences(language: str) -> None:
    for text in FALSE[language]["claims"]:
        answer = "\n".join([*HONEST[language][:20], text, *HONEST[language][20:]])
        assert claims.has_unsupported(answer, ()), text


@pytest.mark.parametrize(
    "text", ["Die Mail, die Anna gesendet hat, liegt im Ordner.", "The sent mail is from May."]
)
def test_a_verb_without_a_doer_is_no_deed(text: str) -> None:
    assert deeds.find_claims(text) == ()


def test_a_question_hides_no_claim_before_it() -> None:
    assert deeds.find_claims("I've sent the reply to Anna, anything else?")
    assert not deeds.find_claims("Have I sent the reply to Anna?")
    assert not deeds.find_denials("Anything else I can do, or has nothing to be sent?")
