"""What a scripted model answers in the tests of `knowledge`."""

from typing import Any

READER = "You summarise an item and list its entities."


def summarised(body: dict[str, Any]) -> dict[str, Any]:
    """What a scripted model answers to any item: a summary that names its title."""
    shown = body["messages"][1]["content"]
    title = shown.partition("\n")[0].removeprefix("Title: ")
    return {"summary": f"About {title}.", "entities": []}
