"""What a question asks for: how many, how much, who, when, where, which fact, of what. Pure."""

import re
from dataclasses import dataclass
from functools import cached_property

from sandbox.offline_model import german
from sandbox.offline_model.language import word_set
from sandbox.offline_model.rules.concepts import Concept, concepts_of

KEY = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b")
TYPES = {
    "issue": word_set(
        """issue issues ticket tickets task tasks bug bugs story stories jira problem problems crash
        aufgabe aufgaben fehler vorgang vorgänge"""
    ),
    "email": word_set(
        """mail mails email emails e-mail e-mails message messages inbox nachricht nachrichten"""
    ),
    "document": word_set(
        """document documents doc docs file files spreadsheet dokument dokumente datei dateien"""
    ),
    "event": word_set(
        """event events meeting meetings appointment appointments calendar agenda termin termine
        besprechung besprechungen kalender meetup"""
    ),
}
# Words that name a kind of item and nothing else: they need not stand in its text.
KIND_WORDS = frozenset[str]().union(*TYPES.values()) - word_set("crash meetup")
_JOINED = re.compile(r"\A\s*(?:and|or|und|oder|,|&|/)\s*\Z", re.IGNORECASE)
_FACTS: tuple[tuple[str, str], ...] = (
    ("due_date", r"\b(?:due|deadline|overdue|fällig|frist)\b"),
    ("is_open", r"\A(?:is|are|ist|sind)\b.*\b(?:open|closed|done|resolved|finished|offen|erledigt|"
     r"geschlossen)\b"),
    ("status", r"\b(?:status|state|zustand)\b"),
    ("priority", r"\b(?:priority|urgency|priorität)\b"),
    ("assignee", r"\b(?:assigne[de]|assignees|working on|works on|responsible|in charge|zugewiesen|"
     r"zuständig|bearbeitet|kümmert)\b"),
    ("reporter", r"\b(?:reported|reporter|raised|filed|opened|gemeldet|melder|eröffnet|angelegt|"
     r"signalé|reportó)\b"),
    ("organiser", r"\b(?:organi[sz]es?|organi[sz]er|organi[sz]ed|organisiert|lädt ein|hosts?)\b"),
    ("attendees", r"\b(?:attends?|attending|attendees|attended|invited|takes part|participants|"
     r"nimmt\b.*\bteil|eingeladen|teilnehmer)\b"),
)  # fmt: skip
_UPDATED = re.compile(
    r"\b(?:last\s+(?:updated|changed|modified|edited)|updated|modified|aktualisiert|geändert)\b",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"\b(?:wrote|write|writes|written|sent|send|sends|said|say|announced?|ask(?:s|ed)?|replied|reply|"
    r"answered|mentioned|suggested|proposed?|forwarded|from|geschrieben|schrieb|geschickt|"
    r"schickte|gesendet|von)\b",
    re.IGNORECASE,
)
_KINDS: tuple[tuple[str, str], ...] = (
    ("how_many", r"\A(?:how many|wie viele|wieviele|count)\b|\b(?:number of|anzahl (?:der|von))\b"),
    ("how_long", r"\b(?:how long|wie lange)\b"),
    ("how_much", r"\A(?:how much|wie viel|wieviel|wie hoch|wie teuer|how expensive)\b|"
     r"\Awhat\b.*\b(?:costs?|price|fee|rate|budget|amount|salary|stipend|allowance)\b|\bkostet\b"),
    ("who", r"\b(?:who|whom|whose|wer|wem|wen|wessen|qui|quién|vem)\b|"
     r"\b(?:anybody|anyone|somebody|someone|jemand)\b"),
    ("when", r"\A(?:when|since when|by when|until when|wann|seit wann|bis wann|quand|cuándo|när)\b|"
     r"\b(?:what|which) (?:day|date|time)\b"),
    ("where", r"\A(?:where|wo)\b|\b(?:what|which) (?:place|room)\b"),
)  # fmt: skip
# Words of the question itself, beside those that name a kind of item.
_ASKING = word_set(
    """there many much long anybody anyone somebody someone date day time still last latest
    exist exists given gives give get gets got have has had does do did number count total
    kostet cost costs price wieviel wieviele jemand gibt qui quel quelle est sur le la les
    vilken vem har quién cuál es status state priority assigned assignee due deadline reported
    reporter overdue updated changed modified priorität zugewiesen zuständig gemeldet fällig
    geändert open closed offen erledigt take takes place taking start starts begin begins findet
    statt attend attends attendees invited organises organizes organised organized wrote write
    writes written sent send sends said say asked ask geschrieben geschickt signalé eröffnet
    say says about through another other others else next coming nächste nächsten nächster mention
    mentions mentioned"""
)
_UNIT = re.compile(
    r"(?:how many|wie viele)\s+(?P<unit>[^\W\d_][\w-]*)(?:\s+(?P<next>[^\W\d_][\w-]*))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Asked:
    text: str

    @cached_property
    def german(self) -> bool:
        return german.is_german(self.text)

    @cached_property
    def kind(self) -> str:
        """how_many, how_long, how_much, who, when, where, or `` for what is only to be found."""
        return next((kind for kind, how in _KINDS if re.search(how, self.text, re.IGNORECASE)), "")

    @cached_property
    def fact(self) -> str:
        """The fact of an item that it asks for; empty for what stands in a text."""
        if self.kind == "when" and _UPDATED.search(self.text):
            return "updated"
        for fact, how in _FACTS:
            if re.search(how, self.text, re.IGNORECASE):
                return fact
        return ""

    @property
    def asks_writer(self) -> bool:
        return self.kind == "who" and bool(_WROTE.search(self.text))

    @property
    def asks_when_written(self) -> bool:
        return self.kind == "when" and bool(_WROTE.search(self.text))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(KEY.findall(self.text)))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The kinds of items that it is about: the first that it names, and what is joined to that
        (“mails and issues”). Others belong to its topic (“the document about tickets”)."""
        named: dict[str, int] = {}
        for match in re.finditer(r"[\w-]+", self.text):
            kind = next((k for k, ws in TYPES.items() if match[0].casefold() in ws), "")
            between = self.text[max(named.values(), default=0) : match.start()]
            if kind and (not named or kind in named or _JOINED.search(between)):
                named[kind] = match.end()
        return tuple(named)

    @property
    def unit(self) -> str:
        """Of what it asks how many."""
        found = _UNIT.search(self.text)
        return found["unit"].casefold() if found else ""

    @cached_property
    def concepts(self) -> tuple[Concept, ...]:
        """What it is about, without the words that ask."""
        kinds = frozenset[str]()
        if self.fact or self.kind not in ("how_many", "how_much", "how_long"):
            kinds = kinds.union(*(TYPES[kind] & KIND_WORDS for kind in self.types))
        return concepts_of(self.text, without={*_ASKING, *kinds, self.unit})

    @property
    def query(self) -> str:
        """What to search for: its own words, and the English of German ones."""
        found = [concept.word for concept in self.concepts]
        added = [german.in_english(word) for word in found]
        return " ".join(dict.fromkeys([*found, *filter(None, added)]))[:300]
