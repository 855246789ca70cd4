"""How good the first ten answers are: words alone, vectors alone, and their fusion.

    make bench NAME=retrieval_quality

The documents and issues of the folder of real data (REMIT_CORPUS; see `tests/corpus.py`) are
stored in one user's two accounts. Two sets of questions:

- judged: questions in everyday words, each with the documents and issues that answer it
  (`retrieval_judgments.json`; 2: answers it, 1: has something to do with it). Candidates for
  judgment were the first ten of all three ways, before and after words were ranked by how rare
  they are, and titles that were known to fit; whatever else is found counts as no answer
- known items: for every 20th document and issue the four rarest words of one passage of it that
  at least one other item holds too, in the order of the text; the answer is that item alone

Embeddings are those of the offline model, which hashes words and pieces of words: it knows no
meaning, so its vectors can win little over words. Summaries and entities are left out. All three
ways go through `knowledge.search.retrieval.search`: without vectors, with words that occur
nowhere, and as it is. The last line is JSON. A database of its own is made, and removed at the end.
"""

import gzip
import json
import math
import os
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("REMIT_CORPUS") or PROJECT.parent / "shared" / "corpus")
JUDGMENTS = Path(__file__).with_name("retrieval_judgments.json")
NOWHERE = "qqxzv"  # a word of no text
EVERY = 20
FIRST = 10
WAYS = ("words", "vectors", "fusion")
Answers = dict[str, int]
_WORD = re.compile(r"[^\W\d_]{4,}")


def lines(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as rows:
        yield from map(json.loads, rows)


def items() -> Iterator[Any]:
    from integrations.contracts import Document, Issue

    for one in lines("documents"):
        yield Document.model_validate(
            {
                "id": one["id"],
                "name": one["title"] or one["name"],
                "content_text": one["text"],
                "created_at": one["created"] or one["modified"],
                "modified_at": one["modified"],
            }
        )
    for one in lines("issues"):
        fields = one["fields"]
        comments = "\n\n".join(each.get("body", "") for each in fields["comment"]["comments"])
        yield Issue.model_validate(
            {
                "id": one["id"],
                "key": one["key"],
                "project_key": one["key"].partition("-")[0],
                "summary": fields["summary"],
                "description": f"{fields.get('description') or ''}\n\n{comments}",
                "created_at": fields["created"],
                "updated_at": fields["updated"],
            }
        )


def embed(texts: Any, **_: Any) -> list[list[float]]:
    from sandbox.offline_model import vectors

    return [vectors.embed(text) for text in texts]


def store() -> list[Any]:
    """The two accounts, filled."""
    from django.utils import timezone

    from integrations.contracts import Document
    from integrations.llm import llm
    from integrations.models import Account, Organisation
    from knowledge.ingest.ingest import ingest

    organisation = Organisation.objects.create(slug="company", name="Company")
    owners = {
        source: Account.objects.create(
            organisation=organisation, external_user_id="maya", source=source
        ).ref()
        for source in ("gdrive", "jira")
    }
    with (
        mock.patch.object(llm, "complete_json", return_value={"summary": "-", "entities": []}),
        mock.patch.object(llm, "embed", embed),
    ):
        for item in items():
            owner = owners["gdrive" if isinstance(item, Document) else "jira"]
            ingest(account=owner, source_id=item.id, item=item, now=timezone.now())
    return list(owners.values())


def known_items() -> list[tuple[str, Answers]]:
    from knowledge.models import Item

    rows = list(Item.objects.order_by("source_id").values_list("source_id", "text"))
    words = {id: set(map(str.lower, _WORD.findall(text))) for id, text in rows}
    holders = Counter(word for each in words.values() for word in each)
    asked = []
    for id, text in rows[::EVERY]:
        passage = [word.lower() for word in _WORD.findall(text)][20:80]
        shared = {word for word in passage if holders[word] > 1}
        rarest = sorted(shared, key=lambda word: (holders[word], word))[:4]
        if len(rarest) == 4:
            question = " ".join(sorted(rarest, key=passage.index))
            asked.append((question, {id: 2}))
    return asked


def judged() -> list[tuple[str, Answers]]:
    return [(one["question"], one["answers"]) for one in json.loads(JUDGMENTS.read_text())]


def found(accounts: list[Any], question: str, way: str) -> list[str]:
    """Ids of the first ten."""
    from django.utils import timezone

    from integrations.llm import llm
    from integrations.llm.completions import ModelError
    from knowledge.contracts import SearchRequest
    from knowledge.search.retrieval import search

    def answer(texts: Any, **_: Any) -> list[list[float]]:
        if way == "words":
            raise ModelError("unreachable", retryable=True)
        return embed([question])

    asked = NOWHERE if way == "vectors" else question
    with mock.patch.object(llm, "embed", answer):
        request = SearchRequest(
            account_ids=tuple(account.id for account in accounts), query=asked, limit=FIRST
        )
        return [item.source_id for item in search(request, now=timezone.now()).items]


def ndcg(ids: list[str], answers: Answers) -> float:
    def gain(grades: Iterable[int]) -> float:
        return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))

    return gain(answers.get(id, 0) for id in ids) / gain(sorted(answers.values())[::-1][:FIRST])


def reciprocal_rank(ids: list[str], answers: Answers) -> float:
    """Of the first that answers the question."""
    return next((1 / place for place, id in enumerate(ids, start=1) if answers.get(id) == 2), 0.0)


def quality(accounts: list[Any], asked: list[tuple[str, Answers]]) -> dict[str, Any]:
    measures: dict[str, Callable[[list[str], Answers], float]] = {
        "ndcg_at_10": ndcg,
        "mrr": reciprocal_rank,
    }
    of_way = {}
    for way in WAYS:
        answers = [(found(accounts, question, way), known) for question, known in asked]
        of_way[way] = {
            name: round(statistics.mean(measure(*one) for one in answers), 3)
            for name, measure in measures.items()
        }
    return {"questions": len(asked), **of_way}


def main() -> None:
    if not CORPUS.exists():
        raise SystemExit(f"There is no real data at {CORPUS}. Set REMIT_CORPUS.")
    os.environ["SEARCH_CACHE_SECONDS"] = "0"
    with own_database():
        accounts = store()
        result = {"judged": quality(accounts, judged()), "known": quality(accounts, known_items())}
        print(json.dumps(result))


if __name__ == "__main__":
    main()
