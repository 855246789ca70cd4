from dataclasses import replace
from typing import Any

from agents.evaluation import report
from agents.evaluation.outcome import Asked, LedgerLine, Played, Use
from agents.evaluation.report import Try
from agents.evaluation.tasks import Task

REFUSED = LedgerLine(action="archive", status="blocked", reason="not_listed")


def played(id: str, number: int, *failures: str, side_effects: int = 0, **known: Any) -> Try:
    task = Task.model_validate(
        {"id": id, "kind": "mail", "say": "Hi", "decisions": [{"do": "approve"}]}
    )
    return Try(
        task=task,
        number=number,
        played=Played(**known),
        failures=failures,
        side_effects=side_effects,
    )


TRIES = [
    played("a", 1, use=Use(calls=2, prompt_tokens=900, cached_tokens=100), seconds=1.25),
    played("a", 2, "Not done.", use=Use(calls=3, prompt_tokens=100)),
    played("b", 1, ledger=[REFUSED], malformed=2),
    played("b", 2, asked=[Asked(action="archive", did="approved", foreseen=True)]),
]


def test_a_summary_adds_up() -> None:
    assert report.summary(TRIES) == {
        "tasks": 2,
        "repeat": 2,
        "success": 0.75,
        "pass_k": 0.5,
        "wrong_side_effects": 0,
        "duplicates": 0,
        "refused_by_policy": 1,
        "refused_by_form": 2,
        "approvals_asked": 1,
        "approvals_needed": 4,
        "calls": 5,
        "prompt_tokens": 1000,
        "cached_tokens": 100,
        "answer_tokens": 0,
        "seconds": 1.2,
    }


def test_json_has_the_total_the_groups_and_each_try() -> None:
    said = report.as_json("office", "m", TRIES)

    assert (said["suite"], said["model"], said["success"]) == ("office", "m", 0.75)
    assert [(one["group"], one["tasks"]) for one in said["groups"]] == [("mail", 2), ("in en", 2)]
    assert [(one["task"], one["try"], one["failures"]) for one in said["tries"]] == [
        ("a", 1, []),
        ("a", 2, ["Not done."]),
        ("b", 1, []),
        ("b", 2, []),
    ]


def test_the_table_says_it_in_words() -> None:
    lines = list(report.table(TRIES, model="m"))

    assert lines[0] == "m: 2 tasks, each played twice"
    assert "all                           2    75%     50%         0    1.2      250" in lines
    assert "Refused because policy forbids it: 1. Calls in a wrong form: 2." in lines
    assert lines[-2:] == ["What went wrong:", "  a, try 2: Not done."]


def test_a_provider_that_is_silent_is_no_refusal_by_policy() -> None:
    silent = replace(REFUSED, reason="facts_unavailable")
    assert Played(ledger=[REFUSED, silent]).refused == 1
