"""What of a query its filters say already: words and dates that would match nothing inside. Pure.

“Meetings on 11 March” with filters for events and that day asks for everything in them.
"""

import re
from collections.abc import Mapping

from integrations.ports.registry import BY_SOURCE
from knowledge.contracts import SearchRequest
from knowledge.text.subjects import words

# With the little words around them: so short a question does not tell its language. “What is on
# today” asks for everything in it.
_TIMES = frozenset(
    words(
        "today yesterday tomorrow week month day days last past this next on happening happens "
        "monday tuesday wednesday thursday friday saturday sunday morning afternoon evening "
        "at between was welche steht an am im um heute gestern morgen woche "
        "montag dienstag mittwoch donnerstag freitag samstag sonntag "
        "quels quelles le la les de du hier demain semaine "
        "lundi mardi mercredi jeudi vendredi samedi dimanche "
        "qué hay el los las del hoy ayer mañana semana "
        "lunes martes miércoles jueves viernes sábado domingo "
        "cosa ho ci sono il lo gli del oggi ieri domani settimana mese mattina pomeriggio sera "
        "lunedì martedì mercoledì giovedì venerdì sabato domenica"
    )
)
_MONTHS = (
    "jan(?:uary|uar|vier)?|feb(?:ruary|ruar|rero|braio)?|f[ée]vrier|mar(?:ch|s|zo)?|m[äa]rz|apr(?:il|ile)?"
    "|avril|abril|may|mai|mayo|maggio|june?|juni|juin|junio|giugno|july?|juli|juillet|julio|luglio"
    "|aug(?:ust)?|ao[ûu]t|agosto|sept?(?:ember|embre|tiembre)?|settembre|o[ck]t(?:ober|obre|ubre)?"
    "|ottobre|nov(?:ember|embre|iembre)?|dec(?:ember)?|d[ée]cembre|diciembre|dicembre|dez(?:ember)?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.|º|°)?"
_DATES = re.compile(
    r"(?<![\w.])(?:"
    r"\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?"
    r"|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})?"
    r"|\d{1,2}:\d{2}|\d{1,2} ?(?:am|pm|a\.m\.|p\.m\.|uhr)"
    rf"|{_DAY} (?:of |de |di )?(?:{_MONTHS})\.?(?:,? (?:de )?\d{{4}})?"
    rf"|(?:{_MONTHS})\.? {_DAY}(?:,? \d{{4}})?|(?:in|im|en) (?:{_MONTHS})(?: \d{{4}})?"
    r")(?!\w)",
    re.IGNORECASE,
)
# What a filter for a kind of items says already.
_KIND_WORDS: Mapping[str, frozenset[str]] = {
    "email": frozenset(
        words("mail mails email emails message messages inbox nachrichten courriel correo correos")
    ),
    "document": frozenset(
        words("document documents file files dokument dokumente dateien documento documenti")
    ),
    "event": frozenset(
        words(
            "calendar agenda schedule event events meeting meetings appointment appointments call "
            "calls kalender termin termine besprechung besprechungen réunion réunions rendez vous "
            "calendario reunión reuniones cita citas riunione riunioni appuntamento appuntamenti "
            "evento eventi eventos"
        )
    ),
    "issue": frozenset(words("issue issues ticket tickets task tasks jira aufgaben tâches tareas")),
    "message": frozenset(words("message messages chat slack")),
}
_TYPE_OF: Mapping[str, str] = {
    "mail": "email",
    "files": "document",
    "calendar": "event",
    "issues": "issue",
    "messages": "message",
}


def take_off_dates(text: str) -> str:
    """The text without days, times and months: for who filters by time."""
    return _DATES.sub(" ", text)


def list_said(request: SearchRequest) -> frozenset[str]:
    """Words that the request's filters make superfluous: without them all that is inside the
    filters fits."""
    kinds = {BY_SOURCE[one].kind for one in request.sources if one in BY_SOURCE}
    types = set(request.content_types) or {_TYPE_OF[kind] for kind in kinds if kind in _TYPE_OF}
    only = types.pop() if len(types) == 1 else ""
    said = _KIND_WORDS.get(only, frozenset())
    return said | _TIMES if request.time_filter else said
