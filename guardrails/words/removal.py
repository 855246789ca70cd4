"""Whether the user's words say that somebody is to be taken off something.

Only what says nothing else counts: “ohne Tom” may mean that the meeting takes place without him
this time. A word that is negated says nothing. English, German, French, Spanish and Italian. Pure.
"""

import re

from guardrails.words.roles import LOOKED_AT, NEGATED

# Up to six words, each read in one way only: what is between two begins with no part of a word.
WORDS = r"(?:\W+\w[\w-]{0,39}+(?![\w-])){0,6}?\W+"
# Beginnings of words, so that endings make no difference.
REMOVAL = re.compile(
    r"\b(?:remov|uninvit|disinvit|un-invit|exclud|kick(?:s|ed)? \w+ (?:off|out)|drop\b|dropp"
    rf"|(?:take|taking|leave|leaving|strike|cross)\b{WORDS}(?:off|out of)\W+"
    r"(?:it\b|the\b|my\b|our\b|this\b|that\b|\w+day)"
    r"|entfern|entlad|auslad|ausgelad|auszulad|streich|gestrichen|herausnehm|rausnehm|rauswerf"
    rf"|(?:nimm|nehmt|nehmen|wirf|lass|lade|lad)\b{WORDS}"
    r"(?:raus|heraus|runter|weg|wieder aus|aus(?=\W*$|[.!?,;]))"
    r"|retir|enl[eè]v|désinvit|exclu[rts]|supprim"
    r"|quita|quite\b|elimin|saca(?:r|d)?\b|saque\b|excluy|exclui|desinvit"
    r"|rimuov|rimoz|togli|tolga|toglier|esclud|escluder)",
    re.IGNORECASE,
)


def says_removal(words: str) -> bool:
    """Whether somebody or something is to be taken off, in so many words."""
    return any(
        not NEGATED.search(words[max(0, found.start() - LOOKED_AT) : found.start()])
        for found in REMOVAL.finditer(words)
    )
