"""Sentences of answers, in English and German. What is quoted stays as it was written."""

NO_ANSWER = (
    "There is no answer to that in your data.",
    "In Ihren Daten steht darauf keine Antwort.",
)
NEAREST = (" What comes nearest:", " Am nächsten kommt:")
SENTENCES = {
    "nothing": (
        "I found nothing about “{query}”{where}.",
        "Ich habe nichts über „{query}“ gefunden.",
    ),
    "found": ("I found {count}.", "Ich habe {count} gefunden."),
    "first_three": (" The first three:", " Die ersten drei:"),
    "items": ("{n} items", "{n} Einträge"),
    "item": ("{n} item", "{n} Eintrag"),
    "not_searched": (
        "I could not search{where}. {reason}",
        "Ich konnte{where} nicht suchen. {reason}",
    ),
    "says": ("“{title}” says: “{said}”{cite}", "In „{title}“ steht: „{said}“{cite}"),
    "several": (
        "I found no single answer to that. It may be one of these:",
        "Ich habe darauf nicht nur eine Antwort gefunden. Es kann eine von diesen sein:",
    ),
    "no_fact": (
        "Your data names no {fact} for “{title}”{cite}.",
        "Ihre Daten nennen für „{title}“ nichts: {fact}{cite}.",
    ),
    "status": (
        "The status of “{title}” is {value}{cite}.",
        "Der Status von „{title}“ ist {value}{cite}.",
    ),
    "priority": (
        "The priority of “{title}” is {value}{cite}.",
        "Die Priorität von „{title}“ ist {value}{cite}.",
    ),
    "assignee": (
        "{value} is assigned to “{title}”{cite}.",
        "„{title}“ ist {value} zugewiesen{cite}.",
    ),
    "nobody": (
        "Nobody is assigned to “{title}”{cite}.",
        "„{title}“ ist niemandem zugewiesen{cite}.",
    ),
    "due_date": ("“{title}” is due on {value}{cite}.", "„{title}“ ist am {value} fällig{cite}."),
    "reporter": ("{value} reported “{title}”{cite}.", "{value} hat „{title}“ gemeldet{cite}."),
    "sender": (
        "{value} wrote “{title}”, {when}{cite}.",
        "{value} hat „{title}“ geschrieben, {when}{cite}.",
    ),
    "sent": (
        "{who} wrote “{title}” on {value}{cite}.",
        "{who} hat „{title}“ am {value} geschrieben{cite}.",
    ),
    "updated": (
        "“{title}” was last changed on {value}{cite}.",
        "„{title}“ wurde zuletzt am {value} geändert{cite}.",
    ),
    "begins": (
        "“{title}” takes place on {value}{until}{cite}.",
        "„{title}“ findet am {value}{until} statt{cite}.",
    ),
    "lasts": ("“{title}” lasts {value}{cite}.", "„{title}“ dauert {value}{cite}."),
    "place": (
        "“{title}” takes place here: {value}{cite}.",
        "„{title}“ findet hier statt: {value}{cite}.",
    ),
    "attendees": ("Asked to “{title}”: {value}{cite}.", "Eingeladen zu „{title}“: {value}{cite}."),
    "organiser": ("{value} organises “{title}”{cite}.", "{value} organisiert „{title}“{cite}."),
    "is_open": (
        "Yes, “{title}” is still open: {value}{cite}.",
        "Ja, „{title}“ ist noch offen: {value}{cite}.",
    ),
    "is_not_open": (
        "No, “{title}” is not open any more: {value}{cite}.",
        "Nein, „{title}“ ist nicht mehr offen: {value}{cite}.",
    ),
    "count": ("There {are} {count}{what}.", "Es {are} {count}{what}."),
    "none": ("There are no{what}.", "Es gibt keine{what}."),
    "newest": (" The first:", " Die ersten:"),
    "agenda": ("{span}: {count}.", "{span}: {count}."),
    "free_none": (
        "You have no {minutes} free minutes {when}.",
        "Sie haben {when} keine {minutes} Minuten frei.",
    ),
    "free": (
        "You are free for {minutes} minutes, {span}:",
        "Sie haben {minutes} Minuten Zeit, {span}:",
    ),
    "calendar_empty": (
        "Nothing is in your calendar {when}.",
        "In Ihrem Kalender steht {when} nichts.",
    ),
    "conflict": ("{count} in your calendar, {span}:", "{count} in Ihrem Kalender, {span}:"),
    "no_conflict": (
        "Nothing collides in your calendar {when}.",
        "In Ihrem Kalender kollidiert {when} nichts.",
    ),
}
# German names of facts, where a sentence needs them.
FACTS = {
    "due_date": ("due date", "keine Frist"),
    "priority": ("priority", "keine Priorität"),
    "status": ("status", "kein Status"),
    "place": ("place", "kein Ort"),
    "attendees": ("attendees", "keine Teilnehmer"),
    "reporter": ("reporter", "niemand, der es gemeldet hat"),
    "organiser": ("organiser", "niemand, der einlädt"),
}


def say(german: bool, sentence: str, **values: object) -> str:
    return SENTENCES[sentence][german].format(**values)


def name_of(german: bool, fact: str) -> str:
    return FACTS[fact][german] if fact in FACTS else fact


def _beginnings(sentence: str) -> list[str]:
    return [pair.partition("{")[0] for pair in SENTENCES[sentence]]


_CLAIM_NOTHING = (
    *NO_ANSWER,
    *(
        start
        for one in ("several", "no_fact", "nothing", "found", "not_searched")
        for start in _beginnings(one)
    ),
    "I am the offline stand-in",
    "I cannot",
)


def claims_an_answer(line: str) -> bool:
    """Whether the first line of a reply answers what was asked, rather than pointing at items or
    saying that nothing answers it."""
    return not line.startswith(_CLAIM_NOTHING)
