"""What the sources say of an item, as a model is shown it: facts by name, empty ones left out.

Times are the user's. Pure.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agents.context import clock
from agents.contracts import Person
from knowledge.contracts import FoundItem

# As providers and the parser name them; the others have a line of their own below.
PLAIN: Mapping[str, tuple[str, ...]] = {
    "email": ("to", "cc", "labels"),
    "document": ("mime_type", "folder_path", "shared_with"),
    "event": ("status", "location", "recurrence", "meet_link"),
    "issue": (
        *("key", "status", "priority", "assignee", "labels", "components"),
        *("due_date", "comments"),
    ),
    "message": ("channel",),
}


# What flags of their own say.
SAID_LABELS = frozenset({"UNREAD", "STARRED", "SENT"})


def describe(item: FoundItem, *, person: Person, names: Mapping[str, str]) -> dict[str, Any]:
    """An item without its text: what it is, whose it is, when, and what its source says of it.
    Labels are called by their `names`, as tools and actions take them; receivers are named where
    there are others than the user."""
    facts, zone = item.metadata, person.time_zone
    found: dict[str, Any] = {
        "id": str(item.id),
        "type": item.content_type,
        "title": item.title,
        "from": _named(item.sender_name, item.sender_address),
        "date": clock.show(item.occurred_at, zone),
    }
    found |= {name: facts.get(name) for name in PLAIN.get(item.content_type, ())}
    if item.content_type == "email":
        own = {one.address.lower() for one in person.accounts}
        if {str(one).lower() for one in facts.get("to") or ()} <= own:
            found["to"] = None
        labels = [one for one in facts.get("labels") or () if one not in SAID_LABELS]
        found["labels"] = [names.get(one, one) for one in labels]
        found["unread"] = True if facts.get("is_read") is False else None
        found["starred"] = True if facts.get("is_starred") else None
        found["files"] = [str(one.get("name", "")) for one in facts.get("attachments") or ()]
    elif item.content_type == "issue":
        found["issue_type"] = facts.get("type")
    elif item.content_type == "event":
        found |= _event(item, zone)
    return drop_empty(found)


def drop_empty(found: Mapping[str, Any]) -> dict[str, Any]:
    """What there is nothing of costs no tokens."""
    return {name: value for name, value in found.items() if value not in (None, "", [], {}, 0)}


def attendee(name: str, address: str, answer: str) -> str:
    """Who is asked to an event, and what they answered."""
    who = _named(name, address)
    return f"{who}: {answer}" if answer else who


def _event(item: FoundItem, zone: str) -> dict[str, Any]:
    """An event ends as long after its beginning as its source says of the first of its series."""
    facts = item.metadata
    try:
        length = datetime.fromisoformat(facts["end"]) - datetime.fromisoformat(facts["start"])
    except (KeyError, TypeError, ValueError):
        ends = ""
    else:
        ends = clock.show(item.occurred_at + length, zone)
    return {
        "ends": ends,
        "all_day": facts.get("all_day") or None,
        "attendees": [
            attendee(*(str(one.get(key) or "") for key in ("name", "email", "status")))
            for one in facts.get("attendees") or ()
        ],
    }


def _named(name: str, address: str) -> str:
    return f"{name} ({address})" if name and address else name or address
