"""Fifty questions over an office of real data: found, cited, answered, and answered falsely?

    make bench NAME=questions            # ARGS=search: the search alone

`questions.json` holds the questions, each with the items that answer it (by id, or `where`, which
of the stored items do) and what an answer must hold (regular expressions, one of them; none where
the data has no answer). `written` says whether a question was written before or after its author
saw how the search did. A fifth are in another language than English.

- in_top_ten: the search alone, given the whole question, has one of the items in its first ten
- cited: the reply of the agent with the offline model cites one of them
- answered: the first line of the reply holds the answer and claims it
- false_answers: the first line claims an answer, and it is none of those expected. A reply that
  says that it found no answer claims none.

The agent's turns are real ones: `start_turn` and `run_turn` against rows, the offline model over
HTTP. The last line is JSON. A database of its own is made, and removed at the end.
"""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus  # after the path
from benchmarks.database import own_database

QUESTIONS = Path(__file__).with_name("questions.json")
FIRST = 10
Question = dict[str, Any]


def right_items(question: Question) -> set[str]:
    """Remit's ids of the items that answer it."""
    from knowledge.models import Item

    wanted = question.get("where") or {"source_id__in": question["items"]}
    found = {str(id) for id in Item.objects.filter(**wanted).values_list("id", flat=True)}
    if not found:
        raise SystemExit(f"No item answers “{question['question']}”.")
    return found


def search(question: Question, accounts: list[Any]) -> list[Any]:
    from django.utils import timezone

    from integrations.llm import llm
    from knowledge.contracts import SearchRequest
    from knowledge.search import retrieval

    request = SearchRequest(
        account_ids=tuple(account.id for account in accounts),
        query=question["question"],
        limit=FIRST,
    )
    with mock.patch.object(llm, "embed", corpus.embed):
        return list(retrieval.search(request, now=timezone.now()).items)


def ask(question: Question, organisation: Any) -> tuple[str, set[str]]:
    """The reply and the ids of the items it cites."""
    from agents.models import Message
    from agents.turns import opening, turns

    turn_id = opening.start_turn(
        organisation_id=organisation.pk,
        external_user_id=corpus.USER,
        conversation_id=None,
        message=question["question"],
        decisions=[],
        principal="benchmark",
    )
    turns.run_turn(turn_id)
    said = Message.objects.get(turn_id=turn_id, role="assistant")
    return said.content, {str(one["id"]) for one in said.metadata.get("citations", ())}


def judge(question: Question, reply: str) -> str:
    """answered, none (no answer is claimed) or false."""
    from sandbox.offline_model.rules.wording import claims_an_answer

    first = reply.strip().split("\n", 1)[0]
    if not claims_an_answer(first):
        return "none"
    held = any(re.search(one, first, re.IGNORECASE) for one in question["answers"])
    return "answered" if held else "false"


def main() -> None:
    corpus.require()
    os.environ |= {"SEARCH_CACHE_SECONDS": "0", "REVIEW_MIN_CALLS": "0"}
    only_search = "search" in sys.argv[1:]
    questions: list[Question] = json.loads(QUESTIONS.read_text())
    counts = dict.fromkeys(("in_top_ten", "cited", "answered", "false_answers"), 0)
    with own_database():
        from django.conf import settings

        from integrations.llm import llm
        from tests.offline_model_server import running_offline_model

        started = time.monotonic()
        organisation, accounts = corpus.store()
        print(f"# stored in {time.monotonic() - started:.0f} s", flush=True)
        with running_offline_model() as url:
            settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "offline", url
            llm._client.cache_clear()
            for question in questions:
                right = right_items(question)
                found = [str(item.id) for item in search(question, accounts)]
                rank = next((n for n, id in enumerate(found, start=1) if id in right), 0)
                counts["in_top_ten"] += bool(rank)
                said = f"{rank or '-':>2}"
                if not only_search:
                    reply, cited = ask(question, organisation)
                    verdict = judge(question, reply)
                    counts["cited"] += bool(cited & right)
                    counts["answered"] += verdict == "answered"
                    counts["false_answers"] += verdict == "false"
                    said += f" {'cited' if cited & right else '-':5} {verdict:8}"
                    said += f" {question['question']}\n      {reply}"
                else:
                    said += f" {question['question']}"
                print(said, flush=True)
    answerable = sum(bool(question["answers"]) for question in questions)
    print(json.dumps({"questions": len(questions), **counts, "answerable": answerable}))


if __name__ == "__main__":
    main()
