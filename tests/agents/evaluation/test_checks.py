from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.evaluation import checks
from agents.evaluation.outcome import Asked, LedgerLine, Played, Use
from agents.evaluation.tasks import Task

ZONE = ZoneInfo("Europe/Stockholm")
ARCHIVED = LedgerLine(action="archive", status="succeeded", reason="performed")


def failures(played: Played, **fields: Any) -> list[str]:
    task = Task.model_validate({"id": "a", "kind": "mail", "say": "Hi", **fields})
    return checks.find_failures(task, played, zone=ZONE)


def said(*texts: str, **known: Any) -> Played:
    return replace(Played(), responses=[{"response": text} for text in texts], **known)


@pytest.mark.parametrize(
    ("wanted", "text", "failure"),
    [
        ({"contains": ["four"]}, "It is FOUR.", None),
        ({"contains": ["four"]}, "It is five.", "It does not say “four”."),
        ({"excludes": ["sent"]}, "It is sent.", "It says “sent”."),
        ({"one_of": [["13:30", "1:30"]]}, "At 13:30.", None),
        ({"one_of": [["13:30", "1:30"]]}, "At 14:30.", "It says none of 13:30, 1:30."),
        ({"matches": ["PROJ-\\d+"]}, "No key.", "It says nothing like PROJ-\\d+."),
        ({"numbers": [4800]}, "4,800 euros", None),
        ({"numbers": [4800]}, "4 800 €", None),
        ({"numbers": [4800]}, "4.800 Euro", None),
        ({"numbers": [1284.6]}, "EUR 1,284.60", None),
        ({"numbers": [1284.6]}, "1.284,60 EUR", None),
        ({"numbers": [41]}, "It took 410 minutes.", "The number 41 is missing."),
        ({"numbers": [5]}, "Fünf Bugs haben den Status To Do.", None),
        ({"numbers": [8]}, "Eight are open.", None),
        ({"numbers": [1]}, "One moment.", "The number 1 is missing."),
    ],
)
def test_an_answer_says_what_it_must(wanted: Any, text: str, failure: str | None) -> None:
    assert failures(said(text), answer=wanted) == ([failure] if failure else [])


def test_the_ledger_has_exactly_what_is_expected() -> None:
    archived = [{"action": "archive", "status": "succeeded"}]

    assert failures(said(ledger=[ARCHIVED])) == []
    assert failures(said(ledger=[ARCHIVED]), ledger=archived) == []
    assert failures(said(ledger=[]), ledger=archived) == [
        "The ledger has 0 times “archive succeeded”, not 1."
    ]
    assert failures(said(ledger=[ARCHIVED, ARCHIVED]), ledger=archived) == [
        "The ledger has “archive succeeded performed”, which is not expected."
    ]
    assert failures(said(ledger=[ARCHIVED]), ledger=[archived[0] | {"reason": "other"}]) == [
        "The ledger has 0 times “archive succeeded other”, not 1.",
        "The ledger has “archive succeeded performed”, which is not expected.",
    ]


def test_what_must_be_cited_asked_and_kept_to_is_checked() -> None:
    used = Use(calls=3, prompt_tokens=5000)
    asked = [Asked(action="archive", did="approved", foreseen=True)]

    assert failures(said(cited=frozenset({"m1"})), cites=["m1"]) == []
    assert failures(said(), cites=["m1"]) == ["m1 is not cited."]
    assert failures(said(), question=True) == ["It did not ask what was meant."]
    assert failures(said(questions=1), question=False) == ["It asked where nothing was unclear."]
    assert failures(said(use=used), budget={"calls": 2, "prompt_tokens": 4000}) == [
        "It took 3 calls of models; 2 are permitted.",
        "It took 5,000 prompt tokens; 4,000 are permitted.",
    ]
    assert failures(said(asked=asked), budget={"approvals": 0}) == [
        "It took 1 approvals; 0 are permitted."
    ]


def test_a_write_without_a_row_or_done_twice_is_a_failure() -> None:
    write = {"user": "maya", "method": "POST", "path": "/a", "body": {"b": 1}}

    assert failures(said(writes=[write], unrecorded=1)) == ["1 writes have no row in the ledger."]
    assert failures(said(writes=[write, write])) == ["1 writes were done twice."]
    assert failures(said(writes=[write, write | {"body": {"b": 2}}])) == []


def test_what_broke_is_all_that_is_said() -> None:
    assert failures(said(broke="The chat API answered 500."), cites=["m1"]) == [
        "The chat API answered 500."
    ]
