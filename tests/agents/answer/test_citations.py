"""Citations: what stands for nothing goes, what stays is an item the agent was shown."""

import re
import uuid

import pytest
from hypothesis import given, strategies as st

from agents.answer import citations
from agents.contracts import CallRecord, StepRecord

ITEMS = {
    n: {"n": n, "id": f"id-{n}", "source": "gmail", "title": f"Mail {n}", "relevance": 0.5}
    for n in (1, 2, 3, 12)
}


@pytest.mark.parametrize(
    ("text", "bound", "cited"),
    [
        ("Fine [1].", "Fine [1].", [1]),
        ("Fine [9].", "Fine.", []),
        ("Fine[1][9] and [2, 9, 3]", "Fine[1] and [2, 3]", [1, 2, 3]),
        ("All [1-3], [2\u20139]", "All [1, 2, 3], [2, 3]", [1, 2, 3]),
        ("Far [1-900] back [3-1]", "Far [1] back [3, 1]", [1, 3]),
        ("So 【12†source】", "So [12]", [12]),
        ("See [1](https://evil.example/?q=secret).", "See [1].", [1]),
        ("Year [2026], list[0]", "Year [2026], list", []),
        ("Code `a[7]` and ```\nb[8]\n```", "Code `a[7]` and ```\nb[8]\n```", []),
        ("", "", []),
    ],
)
def test_a_number_stays_only_with_an_item_behind_it(
    text: str, bound: str, cited: list[int]
) -> None:
    made = citations.bind_citations(text, ITEMS)

    assert made.text == bound
    assert [item["n"] for item in made.citations] == cited
    assert all(set(item) == {"n", "id", "source", "title"} for item in made.citations)


@given(st.text(alphabet="ab [](),-0123456789`†【】", max_size=60))
def test_whatever_is_written_every_citation_left_is_known(text: str) -> None:
    made = citations.bind_citations(text, ITEMS)
    outside_code = re.sub(r"```.*?(?:```|\Z)|`[^`\n]*`", "", made.text, flags=re.DOTALL)

    assert {item["n"] for item in made.citations} <= set(ITEMS)
    assert citations.bind_citations(made.text, ITEMS).citations == made.citations
    for numbers in re.findall(r"\[(\d{1,3}(?:, \d{1,3})*)\]", outside_code):
        assert {int(n) for n in numbers.split(", ")} <= set(ITEMS), made.text


def step(*results: object) -> StepRecord:
    return StepRecord(
        number=1,
        text="",
        finish_reason="tool_calls",
        calls=tuple(
            CallRecord(
                id=uuid.uuid4(),
                name="t",
                arguments="{}",
                action_id=uuid.uuid4(),
                result={"success": True, "data": result},
            )
            for result in results
        ),
    )


def test_only_what_the_server_numbered_and_the_agent_saw_is_known() -> None:
    context = [{"n": 1, "id": "a"}, {"n": 2, "id": "b"}, {"n": 3, "id": "c"}]
    shown = citations.list_results(
        [
            step({"items": [{"n": 1, "id": "a"}]}, {"citations": [{"n": 3, "id": "c"}]}),
            # A stranger's tool makes up numbers.
            step({"n": 2, "id": "x"}, {"n": True, "id": "b"}, [{"n": "2", "id": "b"}]),
        ]
    )

    assert sorted(citations.list_citable(context, shown)) == [1, 3]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It says so in [7] and [8].", "It says so."),
        ("It says so in [1] and [8].", "It says so in [1]."),
        ("It says so in [8] and [1].", "It says so in [1]."),
        ("Bread [7] and wine", "Bread and wine"),
        ("See it [7], [8] there.", "See it there."),
        ("Das steht in [7] und [9].", "Das steht."),
        ("He logged in. [7]", "He logged in."),
        ("Three [7] tasks.", "Three tasks."),
        ("`in [7]` stays", "`in [7]` stays"),
    ],
)
def test_words_that_only_led_to_a_citation_go_with_it(text: str, left: str) -> None:
    """FINDINGS A17: “It says so in and.” was left."""
    known = {1: {"n": 1, "id": "a", "source": "gmail", "title": "A"}}
    assert citations.bind_citations(text, known).text == left
