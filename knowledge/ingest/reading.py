"""Items in the terms of `knowledge`, read in a child process: whatever a stranger made of one, it
costs seconds at most, and no worker. Large ones have a child of their own, so that none else waits
those seconds."""

from pydantic import ValidationError

from integrations.child import Child, Unreadable
from integrations.contracts import AnyItem
from knowledge.text.child import PARSED
from knowledge.text.parsing import Parsed

SENTENCES = {
    "too_slow": "Reading it took so long that it was set aside. Nothing waits for it.",
    "too_much_memory": "Reading it took so much memory that it was set aside. Nothing waits for "
    "it.",
    "broken": "It could not be read, and was set aside. Nothing waits for it.",
}
"""Why an item is a dead letter that a child could not read, in words."""

# Characters. What has more takes seconds to read. Senders of newsletters keep below 102 kB, where
# the most used mail client cuts them off.
LARGE = 200_000
CHILD, CHILD_FOR_LARGE = Child("knowledge.text.child"), Child("knowledge.text.child")


def read_item(item: AnyItem, *, source_id: str) -> Parsed:
    """What `knowledge.text.parsing.parse` makes of it. Raises integrations.child.Unreadable, and
    Ended where the child was ended from outside: then the same may go well later."""
    size = sum(len(value) for _, value in item if isinstance(value, str))
    child = CHILD_FOR_LARGE if size > LARGE else CHILD
    try:
        return PARSED.validate_json(child.ask((item, source_id)))
    except ValidationError as error:
        raise Unreadable("broken") from error
