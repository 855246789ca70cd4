"""Whether a person's words are about a whole series of events, or about one of it. Pure.

“Move the weekly review to Tuesdays” and “cancel all stand-ups” say the series, “cancel tomorrow's
stand-up” says one. What says neither says one: a single meeting too many is put back sooner than
a year of them.
"""

import re

SERIES = re.compile(
    r"(?i)(?<!\w)(?:"
    # English
    r"series|recurring|every|each|all (?:of )?(?:the|my|our|future|coming|following)|all [\w-]+s"
    r"|from now on|for good|always|(?:mon|tues|wednes|thurs|fri|satur|sun)days"
    # German
    r"|serie|serientermin|jede[nrs]?|alle(?:n|r)?|künftig|ab (?:jetzt|sofort)|immer"
    r"|(?:mon|diens|donners|frei|sams)tags|mittwochs|sonntags"
    # French
    r"|série|récurrente?|chaque|tou(?:s|tes) (?:les|mes|nos)|désormais|toujours"
    r"|les (?:lun|mar|mercre|jeu|vendre|same)dis?|les dimanches?"
    # Spanish
    r"|recurrente|cada|tod[oa]s (?:los|las|mis|nuestr[oa]s)|a partir de ahora|siempre"
    r"|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)"
    # Italian
    r"|ricorrente|ogni|tutt[ie] (?:gli|i|le|miei|mie)|d'ora in poi|sempre"
    r")(?!\w)"
)
ONE = re.compile(
    r"(?i)(?<!\w)(?:only|just|once|this (?:one|time|week)|today|tomorrow|tonight|next"
    r"|nur|einmal|diesmal|dieses mal|diese woche|heute|morgen|nächste[nrs]?"
    r"|seulement|uniquement|cette fois|cette semaine|aujourd'hui|demain|prochaine?"
    r"|solo|sólo|esta vez|esta semana|hoy|mañana|próxim[oa]"
    r"|soltanto|questa volta|questa settimana|oggi|domani|prossim[oa]"
    r")(?:'s|’s)?(?!\w)"  # noqa: RUF001
)


def says_series(words: str) -> bool:
    """Whether the words say a whole series, and nothing in them says one of it."""
    return SERIES.search(words) is not None and ONE.search(words) is None
