"""A skill's versions and what differs between two of them, as its admin page shows them.

Everybody's text is plain text here, with its hidden characters shown.
"""

from collections.abc import Iterator
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from audit.ledger import people
from guardrails.admin.policies.comparison import Line, compared
from guardrails.facts.text import visible
from guardrails.learn import skills
from guardrails.models import Skill

MAX_LINES = 50


def context(skill: Skill, chosen: QueryDict) -> dict[str, Any]:
    """The page's values. Two versions are compared: those that `chosen` names, else this one
    with the published one before it, as far as there is one. One query."""
    rows = list(skills.versions(skill).order_by("-version"))
    by_number = {str(row.version): row for row in rows}
    before = next(
        (row for row in rows if row.version < skill.version and row.state == Skill.State.PUBLISHED),
        None,
    )
    old = by_number.get(chosen.get("from", ""), before)
    new = by_number.get(chosen.get("to", ""), skill)
    current = next((row for row in rows if row.state == Skill.State.PUBLISHED), None)
    return {
        "skill": skill,
        "headline": visible(str(skill)),
        "waits": skill.state == Skill.State.PROPOSED,
        "is_stale": current is not None and current.version > skill.version,
        "current": current,
        "owner": f"Only for {skill.account}" if skill.account else "Shared by the organisation",
        "from_mail": skill.proposed_by == Skill.ProposedBy.MAIL,
        "origin": skill.get_proposed_by_display(),
        "decided_by": visible(people.name_one(skill.organisation_id, skill.decided_by)),
        "said": visible(skill.reason),
        "versions": rows[:MAX_LINES],
        "old": old,
        "new": new,
        "sides": (
            ("from", "From version", old.version if old else 0),
            ("to", "To version", new.version),
        ),
        "lines": list(compare(old, new)),
        "zone": timezone.get_current_timezone_name(),
    }


def compare(old: Skill | None, new: Skill) -> Iterator[Line]:
    """Line by line, description first; without `old` every line is new. Pure."""
    return compared(_lines(old), _lines(new))


def _lines(skill: Skill | None) -> list[str]:
    if skill is None:
        return []
    # Only real line breaks: others are hidden characters, and are shown.
    content = skill.content.replace("\r\n", "\n").split("\n")
    return [visible(text) for text in (f"Description: {skill.description}", "", *content)]
