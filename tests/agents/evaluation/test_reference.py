import json
from typing import Any

from agents.evaluation.reference import Reference

RESULT = json.dumps({"success": True, "data": {"items": [{"id": "uuid-1", "n": 3}]}})
REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "tool", "content": RESULT}, {"role": "tool", "content": "cut"}],
}


def message(reference: Reference) -> dict[str, Any]:
    found: dict[str, Any] = reference.answer(REQUEST)["choices"][0]["message"]
    return found


def test_steps_are_said_one_after_another_and_then_nothing_more() -> None:
    reference = Reference(["One.", "Two."], lambda _: "")

    said = [message(reference)["content"] for _ in range(3)]

    assert said == ["One.", "Two.", "All right."]


def test_tools_are_called_by_their_names() -> None:
    step: dict[str, Any] = {"archive": {"email_id": "m1"}, "open_item": {"item_id": "m1"}}

    calls = message(Reference([step], lambda _: ""))["tool_calls"]

    assert [
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls
    ] == [
        ("archive", {"email_id": "m1"}),
        ("open_item", {"item_id": "m1"}),
    ]
    assert len({call["id"] for call in calls}) == 2


def test_a_citation_has_the_number_under_which_the_item_was_shown() -> None:
    ids = {"m1": "uuid-1", "m2": "uuid-2"}
    reference = Reference(["See [@m1], not [@m2]."], lambda id: ids[id])

    assert message(reference)["content"] == "See [3], not [0]."
