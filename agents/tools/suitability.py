"""How well a custom agent suits a query: by the words they share, or by meaning."""

import re
from collections.abc import Sequence

THRESHOLD = 0.3
_STEM = 5  # letters: “analysis” and “analyse” are one word, in most European languages
_EMPTY_WORDS = """a about an and any are as at be by can could do does for from give has have how i
in is it me my of on or our please show so some tell that the their them these they this those to us
was we were what when where which who why will with would you your"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


def suitability(
    *,
    query: str,
    required: Sequence[str],
    name: str,
    description: str,
    capabilities: Sequence[str],
    similarity: float | None,
) -> float:
    """From 0 to 1. The share of the query's words that the agent's have, or the similarity of
    meaning where that is higher (None: not known); less where a required capability lacks."""
    wanted = _words(query)
    offered = _words(" ".join((name, description, *capabilities)))
    shared = len(wanted & offered) / len(wanted) if wanted else 0.0
    score = max(shared, min(max(similarity or 0.0, 0.0), 1.0))
    if required:
        met = sum(bool(_words(one)) and _words(one) <= offered for one in required)
        score *= met / len(required)
    return round(score, 3)


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[^\W_]+", text.casefold())
    return frozenset(word[:_STEM] for word in found if word not in _EMPTY)
