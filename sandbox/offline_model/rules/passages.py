"""“How much is …?”, “How long …?”: the sentence of a document or mail that holds the answer.

The sentence that holds most of what the question is about and something of the kind that it asks
for: an amount, a number of what is counted, a span, a date. Where none holds enough of it, nothing
is claimed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.offline_model import german
from sandbox.offline_model.language import quoted, sentences
from sandbox.offline_model.rules.asked import Asked
from sandbox.offline_model.rules.concepts import Concept, Text, share, weights
from sandbox.offline_model.rules.item_facts import cite, title_of
from sandbox.offline_model.rules.wording import say
from sandbox.offline_model.transcript import Json, as_text
from sandbox.offline_model.vectors import stem

SURE = 0.72
ALIKE = 0.97  # so near to the best, and it may be the answer as well
MOST_SAID = 3
MOST_OPENED = 4
MOST_PARTS = 4
LONGEST = 300
_NUMBER = (
    r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|"
    r"forty|fifty|sixty|ninety|hundred|ein|eine|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf)"
)
_MONEY = re.compile(
    r"[$€£¥]\s?\d|\b\d[\d.,]*\s?(?:dollars?|euros?|eur|usd|gbp|sek|chf|kr|pounds?|kronor|franken)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(
    rf"\b{_NUMBER}[\s-]*(?:more\s+|full\s+|business\s+|working\s+|calendar\s+)?(?:seconds?|minutes?|mins?|"
    r"hours?|hrs?|days?|weeks?|months?|quarters?|years?|sekunden?|minuten?|stunden?|tagen?|tage|wochen?|"
    r"monaten?|monate|jahren?|jahre)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|"
    r"mar|apr|jun|jul|aug|sept?|oct|nov|dec|januar|februar|märz|mai|juni|juli|oktober|dezember)\b\.?"
    r"\s*\d|\b\d{1,2}\.?\s+(?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\b|\b\d{4}-\d\d-\d\d\b|"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}:\d\d\b|\b\d{1,2}\s?[ap]m\b|\b20\d\d\b",
    re.IGNORECASE,
)
_FROM_THEN = re.compile(
    rf"\b{_NUMBER}[\s-]+\w+\s+(?:after|before|later|prior|in advance|from|nach|vor|ago)\b|"
    rf"\b(?:within|after|innerhalb|nach)\s+{_NUMBER}\b",
    re.IGNORECASE,
)
_MONEY_VALUE = re.compile(r"[$€£¥]\s?\d[\d.,]*\d|[$€£¥]\s?\d|\b\d[\d.,]*\s?\w+")
_ANY_NUMBER = re.compile(rf"\b{_NUMBER}\b", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_HEADING = re.compile(r"\A#{1,6}\s+|\A\*\*[^*]+\*\*\Z")


@dataclass(frozen=True, kw_only=True)
class Found:
    rated: float
    said: str
    item: Json


def fits_kind(asked: Asked, sentence: str) -> bool:
    """Whether it has something of the kind that is asked for."""
    match asked.kind:
        case "how_much":
            return _MONEY.search(sentence) is not None
        case "how_many":
            return _counts(asked.unit, sentence)
        case "how_long":
            return _SPAN.search(sentence) is not None
        case "when":
            return bool(_DATE.search(sentence) or _FROM_THEN.search(sentence))
    return False


def _counts(unit: str, sentence: str) -> bool:
    units = {stem(unit), stem(german.in_english(unit))} - {""}
    found = re.finditer(
        rf"\b{_NUMBER}\b(?P<after>(?:[\s-]+[^\W\d_]+){{1,4}})", sentence, re.IGNORECASE
    )
    return any(
        units & {stem(word.casefold()) for word in re.findall(r"[^\W\d_]+", match["after"])}
        for match in found
    )


def best(asked: Asked, opened: Sequence[Json]) -> list[Found]:
    """The sentence that answers it; several where they say different things and none fits better;
    none where none holds enough."""
    said = [(item, *pair) for item in opened for pair in _with_heading(as_text(item.get("text")))]
    texts = [Text(sentence) for _, sentence, _ in said]
    about = weights(asked.concepts, texts, foreign=asked.german)
    names = [
        concept for concept in asked.concepts if concept.is_name or _is_capital(asked, concept)
    ]
    whole = {as_text(item.get("id")): f"{as_text(item.get('title'))}\n" for item in opened}
    for item in opened:
        whole[as_text(item.get("id"))] += as_text(item.get("text"))
    named = {id for id, text in whole.items() if all(name.is_in(Text(text)) for name in names)}
    known = " ".join(name.word for name in names)  # the whole text has them
    rated = [
        Found(
            rated=share(about, text, nearby=Text(f"{as_text(item.get('title'))} {nearby} {known}")),
            said=sentence,
            item=item,
        )
        for (item, sentence, nearby), text in zip(said, texts, strict=True)
        if as_text(item.get("id")) in named and fits_kind(asked, sentence)
    ]
    first = max(rated, key=lambda one: one.rated, default=None)
    if first is None or first.rated < SURE:
        return []
    other = [
        one
        for one in rated
        if one.rated >= ALIKE * first.rated
        and not _values(asked, one.said) & _values(asked, first.said)
    ]
    return [first, *other][:MOST_SAID]


def _values(asked: Asked, sentence: str) -> frozenset[str]:
    """The numbers in it of the kind that is asked for."""
    how = {"how_much": _MONEY_VALUE, "how_long": _SPAN}.get(asked.kind, _ANY_NUMBER)
    return frozenset(found[0].casefold() for found in how.finditer(sentence))


def _is_capital(asked: Asked, concept: Concept) -> bool:
    """A name, in a language that writes no other words so; at the beginning all words are."""
    return (
        not asked.german and concept.word[:1].isupper() and not asked.text.startswith(concept.word)
    )


def _with_heading(text: str) -> list[tuple[str, str]]:
    """Each sentence with the heading it stands under and the sentence before it."""
    found, heading, before = [], "", ""
    for sentence in sentences(_LINK.sub(r"\1", text)):
        if _HEADING.match(sentence):
            heading, before = sentence, ""
            continue
        found.append((sentence, f"{heading} {before}"))
        before = sentence
    return found


def render(asked: Asked, found: Sequence[Found]) -> str:
    """The sentence, with its source; several are said to be several."""
    lines = [_quoted(asked, one) for one in found]
    if len(lines) == 1:
        return lines[0]
    return "\n".join([say(asked.german, "several"), *(f"- {line}" for line in lines)])


def _quoted(asked: Asked, found: Found) -> str:
    said = quoted(found.said.strip("-*•> |"), limit=LONGEST)
    return say(asked.german, "says", title=title_of(found.item), said=said, cite=cite(found.item))
