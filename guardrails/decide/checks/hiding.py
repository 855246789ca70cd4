"""Mail that goes out of its owner's sight: alerts one by one, all else by the dozen. Pure.

What the user named in this request is theirs to put away. What the agent chose itself is asked
about where it is an alert, and where one run puts away more than a share of the inbox.
"""

import re
from collections.abc import Iterator

from guardrails.decide.checks.case import Case
from guardrails.decide.provenance import SOURCES, Provenance
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import domain_of
from guardrails.words.typed import typed

# The object itself, by its id, its whole title or as the one that the user's words are about.
NAMED: frozenset[Provenance] = frozenset({"U", "O"})
NEWSLETTERS = re.compile(
    r"newsletter|mailing|rundbrief|infolettre|lettres? d.information|bolet[ií]n|notiziari"
    r"|nieuwsbrie|informativo|biuletyn|nyhetsbrev|nyhedsbrev|zpravodaj|uutiskirje|bülten|рассылк"
    r"|メルマガ|ニュースレター|メールマガジン|新闻简报|电子报|電子報|뉴스레터",
    re.IGNORECASE,
)


def reasons(case: Case) -> Iterator[str]:
    """Why a person must be asked before this mail is put out of sight."""
    for effect in case.effects:
        if effect.kind == "concealing" and not _is_named(case):
            yield effect.sentence
    counts = case.facts.counts if case.facts else None
    tally = counts.hidden if counts else None
    if tally is not None and not tally.within and not case.is_meant:
        done = f"{tally.count - 1:.0f}"
        yield phrase(
            "In this run the agent has put away %(number)s mails that nobody named; about more a "
            "person is asked.",
            number=done,
        )


def is_meant(case: Case) -> bool:
    """Whether the user's own words are about this mail: by itself, by its sender or list, or
    because they are about newsletters and it came through a list."""
    if _is_named(case):
        return True
    if "U" not in SOURCES[case.request.origin.trigger] or case.facts is None:
        return False
    return any(typed(one, case.heard.words) for one in _anchors(case.facts)) or (
        bool(case.facts.email and case.facts.email.list_id)
        and NEWSLETTERS.search(case.heard.spoken) is not None
    )


def _is_named(case: Case) -> bool:
    return case.provenance.get(case.action.object_field or "", "X") in NAMED


def _anchors(facts: Facts) -> tuple[str, ...]:
    """What names all mail like this one: its sender, provided that is proved, and its list."""
    sender = facts.sender if facts.sender_authenticated else None
    list_id = facts.email.list_id if facts.email else None
    found = (sender, domain_of(sender) if sender else None, (list_id or "").strip("<>"))
    return tuple(one for one in found if one)
