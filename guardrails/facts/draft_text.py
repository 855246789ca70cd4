"""What a draft says, to tell whether anybody changed it, and how near a sent mail came to it.
Pure."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable

MOST_WORDS = 5_000


def digest(
    *,
    to: Iterable[str],
    cc: Iterable[str] = (),
    bcc: Iterable[str] = (),
    subject: str,
    body: str,
) -> str:
    """The same for a draft as it was written and as its provider gives it back: which blanks end a
    line, how lines end and how a long subject is folded says nothing about what somebody wrote."""
    people = [sorted(one.strip().casefold() for one in group) for group in (to, cc, bcc)]
    lines = [line.rstrip() for line in body.splitlines()]
    said = [*people, " ".join(subject.split()), "\n".join(lines).strip("\n")]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def nearness(draft: str, sent: str) -> float:
    """How much of two texts is the same, by words: 0 nothing, 1 all. Order does not count."""
    mine, theirs = (Counter(text.casefold().split()[:MOST_WORDS]) for text in (draft, sent))
    total = mine.total() + theirs.total()
    return 2 * (mine & theirs).total() / total if total else 0.0
