"""The words of time in English, German, French, Spanish and Italian. Pure.

No library in use knows them: dateutil's parser reads English alone, and fills in what nobody
said. What is short or means something else too (“sat”, “so”, “di”) is left out: it is not read.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

MeaningKind = Literal[
    "weekday",  # 0 is Monday
    "month",
    "day",  # so many days after the day it was said
    "number",  # in words
    "part",  # of a day: 0 before noon, 1 after it
    "clock",  # minutes after midnight
    "unit",  # of a length of time, in minutes
    "o'clock",  # stands behind an hour
    "half",  # so many minutes before or after the hour that follows
    "and",  # so many minutes after the hour before it
    "before",  # stands before an hour; 1: in words alone, 2: in digits alone
    "to",  # between two times
    "from",
    "in",  # a length of time from now
    "for",
    "this",
    "next",
    "last",
    "week",  # so many weeks after the one it was said in
    "of",
    "the",
    "stop",  # may follow an hour that is no more than a number
]


class Meaning(NamedTuple):
    kind: MeaningKind
    value: int
    tongue: str


def _in_order(kind: MeaningKind, first: int, names: Mapping[str, str]) -> list[tuple[str, Meaning]]:
    """Names that count up, `|` between those that mean the same."""
    return [
        (name, Meaning(kind, value, tongue))
        for tongue, text in names.items()
        for value, same in enumerate(text.split(), start=first)
        for name in same.split("|")
    ]


def _all(
    kind: MeaningKind, names: Mapping[str, Mapping[str, int] | str]
) -> list[tuple[str, Meaning]]:
    """Phrases, `,` between them, or with a value each."""
    return [
        (name.strip(), Meaning(kind, value, tongue))
        for tongue, given in names.items()
        for name, value in (
            given.items()
            if isinstance(given, Mapping)
            else dict.fromkeys(given.split(","), 0).items()
        )
    ]


WEEKDAYS = {
    "en": "monday|mondays tuesday|tue|tues wednesday|wed thursday|thu|thur|thurs friday|fri "
    "saturday sunday",
    "de": "montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles|miercoles jueves viernes sábado|sabado domingo",
    "it": "lunedì|lunedi martedì|martedi mercoledì|mercoledi giovedì|giovedi venerdì|venerdi "
    "sabato domenica",
}
MONTHS = {
    "en": "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug "
    "september|sep|sept october|oct november|nov december|dec",
    "de": "januar|jänner februar märz|mär april mai juni juli august september oktober|okt "
    "november dezember|dez",
    "fr": "janvier|janv février|fevrier|févr mars avril|avr mai juin juillet|juil août|aout "
    "septembre octobre novembre décembre|decembre|déc",
    "es": "enero|ene febrero marzo abril|abr mayo junio julio agosto|ago septiembre|setiembre "
    "octubre noviembre diciembre|dic",
    "it": "gennaio|gen febbraio marzo aprile maggio|mag giugno|giu luglio|lug agosto settembre "
    "ottobre|ott novembre dicembre",
}
NUMBERS = {
    "en": "one|a|an two three four five six seven eight nine ten eleven twelve",
    "de": "ein|eins|eine|einer|einem zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "un|une deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "un|una|uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "un|una|uno|un' due tre quattro cinque sei sette otto nove dieci undici dodici",
}
PHRASES = [
    *_in_order("weekday", 0, WEEKDAYS),
    *_in_order("month", 1, MONTHS),
    *_in_order("number", 1, NUMBERS),
    *_all(
        "number",
        {
            "en": {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "ninety": 90},
            "de": {"fünfzehn": 15, "zwanzig": 20, "dreißig": 30, "fünfundvierzig": 45},
            "fr": {"quinze": 15, "vingt": 20, "trente": 30},
            "es": {"quince": 15, "veinte": 20, "treinta": 30},
            "it": {"quindici": 15, "venti": 20, "trenta": 30},
        },
    ),
    *_all(
        "day",
        {
            "en": {
                "today": 0,
                "tonight": 0,
                "tomorrow": 1,
                "the day after tomorrow": 2,
                "day after tomorrow": 2,
                "yesterday": -1,
            },
            "de": {"heute": 0, "morgen": 1, "übermorgen": 2, "gestern": -1},
            "fr": {"aujourd'hui": 0, "demain": 1, "après-demain": 2, "hier": -1},
            "es": {"hoy": 0, "mañana": 1, "pasado mañana": 2, "ayer": -1},
            "it": {"oggi": 0, "domani": 1, "dopodomani": 2, "ieri": -1},
        },
    ),
    *_all(
        "part",
        {
            "en": {
                **dict.fromkeys(("am", "a.m.", "morning", "in the morning", "this morning"), 0),
                **dict.fromkeys(("pm", "p.m.", "afternoon", "in the afternoon"), 1),
                **dict.fromkeys(("evening", "in the evening", "at night", "tonight"), 1),
                **dict.fromkeys(("this afternoon", "this evening"), 1),
            },
            "de": {
                **dict.fromkeys(("morgen", "morgens", "am morgen", "früh", "vormittag"), 0),
                **dict.fromkeys(("am vormittag", "vormittags"), 0),
                **dict.fromkeys(("nachmittag", "nachmittags", "am nachmittag", "abend"), 1),
                **dict.fromkeys(("abends", "am abend"), 1),
            },
            "fr": {
                **dict.fromkeys(("matin", "du matin", "le matin"), 0),
                **dict.fromkeys(("après-midi", "de l'après-midi", "l'après-midi"), 1),
                **dict.fromkeys(("soir", "du soir", "le soir"), 1),
            },
            "es": {
                **dict.fromkeys(("de la mañana", "por la mañana"), 0),
                **dict.fromkeys(("de la tarde", "por la tarde", "de la noche"), 1),
                **dict.fromkeys(("por la noche",), 1),
            },
            "it": {
                **dict.fromkeys(("mattina", "di mattina", "del mattino"), 0),
                **dict.fromkeys(("pomeriggio", "del pomeriggio", "di sera", "sera"), 1),
            },
        },
    ),
    *_all(
        "clock",
        {
            "en": {"noon": 720, "midday": 720},
            "de": {"mittag": 720, "mittags": 720},
            "fr": {"midi": 720},
            "es": {"mediodía": 720},
            "it": {"mezzogiorno": 720},
        },
    ),
    *_all(
        "unit",
        {
            "en": {
                **dict.fromkeys(("minute", "minutes", "min", "mins"), 1),
                **dict.fromkeys(("hour", "hours", "hr", "hrs"), 60),
                **dict.fromkeys(("day", "days"), 1440),
                **dict.fromkeys(("week", "weeks"), 10080),
                "half an hour": -30,
                "half hour": -30,
                "quarter of an hour": -15,
                "an hour and a half": -90,
                "one and a half hours": -90,
            },
            "de": {
                **dict.fromkeys(("minute", "minuten", "min"), 1),
                **dict.fromkeys(("stunde", "stunden", "std"), 60),
                **dict.fromkeys(("tag", "tage", "tagen"), 1440),
                **dict.fromkeys(("woche", "wochen"), 10080),
                "halbe stunde": -30,
                "halben stunde": -30,
                "viertelstunde": -15,
                "dreiviertelstunde": -45,
                "anderthalb stunden": -90,
            },
            "fr": {
                **dict.fromkeys(("minute", "minutes", "min"), 1),
                **dict.fromkeys(("heure", "heures"), 60),
                **dict.fromkeys(("jour", "jours"), 1440),
                **dict.fromkeys(("semaine", "semaines"), 10080),
                "demi-heure": -30,
                "quart d'heure": -15,
            },
            "es": {
                **dict.fromkeys(("minuto", "minutos", "min"), 1),
                **dict.fromkeys(("hora", "horas"), 60),
                **dict.fromkeys(("día", "días", "dias"), 1440),
                **dict.fromkeys(("semana", "semanas"), 10080),
                "media hora": -30,
                "cuarto de hora": -15,
            },
            "it": {
                **dict.fromkeys(("minuto", "minuti", "min"), 1),
                **dict.fromkeys(("ora", "ore"), 60),
                **dict.fromkeys(("giorno", "giorni"), 1440),
                **dict.fromkeys(("settimana", "settimane"), 10080),
                "mezz'ora": -30,
                "mezzora": -30,
                "quarto d'ora": -15,
            },
        },
    ),
    *_all(
        "o'clock",
        {"en": "o'clock", "de": "uhr", "fr": "h,heure,heures", "es": "h,horas", "it": "h"},
    ),
    *_all(
        "half",
        {
            "en": {"half past": 30, "quarter past": 15, "a quarter past": 15, "quarter to": -15},
            "de": {"halb": -30, "viertel nach": 15, "viertel vor": -15, "dreiviertel": -15},
        },
    ),
    *_all(
        "and",
        {
            "fr": {"et demie": 30, "et quart": 15, "moins le quart": -15},
            "es": {"y media": 30, "y cuarto": 15, "menos cuarto": -15},
            "it": {"e mezza": 30, "e mezzo": 30, "e un quarto": 15, "meno un quarto": -15},
        },
    ),
    *_all(
        "before",
        {
            "en": {
                **dict.fromkeys(("at", "until", "till", "by", "after", "before", "around"), 0),
                "to": 2,
            },
            "de": "um,ab,gegen,vor,nach",
            "fr": "à,vers,dès,jusqu'à,avant,après",
            "es": {"a las": 0, "a la": 0, "hasta las": 0, "las": 0, "la": 1},
            "it": {"alle": 0, "all'": 0, "dalle": 0, "fino alle": 0, "le": 1, "ore": 0},
        },
    ),
    *_all("to", {"en": "to,and", "de": "bis,und", "fr": "à,et", "es": "a,y,hasta", "it": "a,e"}),
    *_all(
        "from",
        {
            "en": "from,between",
            "de": "von,zwischen",
            "fr": "de,entre",
            "es": "de,desde,entre,de las,desde las",
            "it": "tra,dalle,dalla,da",
        },
    ),
    *_all("in", {"en": "in", "de": "in", "fr": "dans", "es": "en,dentro de", "it": "tra,fra"}),
    *_all("for", {"en": "for", "de": "für", "fr": "pendant,pour", "es": "durante", "it": "per"}),
    *_all(
        "this",
        {
            "en": "this,coming",
            "de": "diesen,diesem,kommenden",
            "fr": "ce",
            "es": "este",
            "it": "questo,questa",
        },
    ),
    *_all(
        "next",
        {
            "en": "next",
            "de": "nächsten,nächster,nächste",
            "fr": "prochain",
            "es": "próximo,proximo,el próximo",
            "it": "prossimo,prossima",
        },
    ),
    *_all(
        "week",
        {
            "en": {"this week": 0, "next week": 1},
            "de": {"diese woche": 0, "nächste woche": 1, "nächster woche": 1, "kommende woche": 1},
            "fr": {"cette semaine": 0, "la semaine prochaine": 1, "semaine prochaine": 1},
            "es": {"esta semana": 0, "la próxima semana": 1, "la semana que viene": 1},
            "it": {"questa settimana": 0, "la prossima settimana": 1, "settimana prossima": 1},
        },
    ),
    *_all("last", {"en": "last", "de": "letzten", "fr": "dernier", "es": "pasado", "it": "scorso"}),
    *_all("of", {"en": "of", "fr": "de", "es": "de,del", "it": "di"}),
    *_all(
        "the",
        {
            "en": "the,on,due",
            "de": "am,den,der,dem",
            "fr": "le,du,au,ce",
            "es": "el,del,al",
            "it": "il,del,al,di",
        },
    ),
    *_all(
        "stop",
        {
            "en": "and,on,please,for,instead,with,thanks,today,tomorrow,in,so,then,but,sharp,or",
            "de": "und,am,bitte,mit,statt,für,im,danke,heute",
            "fr": "et,le,avec,pour,svp,merci,au,s'il",
            "es": "y,el,con,para,por,gracias",
            "it": "e,il,con,per,grazie,in",
        },
    ),
]
MEANINGS: dict[str, tuple[Meaning, ...]] = {}
for _name, _meaning in PHRASES:
    MEANINGS[_name] = (*MEANINGS.get(_name, ()), _meaning)
LONGEST = max(len(name.split()) for name in MEANINGS) + 3  # in tokens: marks are some too
STARTS = frozenset(name.split()[0].split("-")[0].rstrip(".") for name in MEANINGS)
