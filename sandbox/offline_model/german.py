"""The German that the rules read: little words, and office words in English (pure).

A request in German is read by the same rules as one in English. Words that are not listed are
looked for as they are written: names, keys and what both languages share.
"""

import re

from sandbox.offline_model.language import word_set, words

LITTLE_WORDS = word_set(
    """
    aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist bitte da
    damit dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser
    dieses dir doch dort du durch ein eine einem einen einer eines er es für gegen gibt hab habe
    haben hat hatte hier ich ihm ihn ihr ihre im in ins ist ja jede jeder jedes kann kannst können
    man mein meine meinem meinen meiner mich mir mit nach nicht noch nun nur ob oder ohne schon sehr
    sein seine sich sie sind so soll sollen über um und uns unser unsere unter viel viele vom von
    vor wann war waren was welche welchem welchen welcher welches wem wen wenn wer werden wessen
    wie wieviel wird wir wo wurde wurden zu zum zur hast hoch lange statt findet zeig zeige nenne
    """
)
# Words that English does not have too: enough of them, and a request is German.
_TELLING = LITTLE_WORDS - word_set("am also an bin die hat in man so was war also alle oder des")
ENGLISH = {
    "abgeschlossen": "done", "anhang": "attachment", "angebot": "proposal", "anfrage": "request",
    "antwort": "reply", "arbeit": "work", "aufgabe": "task", "auftrag": "order",
    "ausgaben": "expenses", "bahn": "train", "bericht": "report", "besprechung": "meeting",
    "besuch": "visit", "bewerbung": "application", "budget": "budget", "büro": "office",
    "daten": "data", "dokument": "document", "einladung": "invitation", "entwurf": "draft",
    "ergebnis": "result", "erledigt": "done", "erstattung": "reimbursement", "fehler": "bug",
    "fehlgeschlagen": "failed", "feiertag": "holiday", "flug": "flight", "frist": "deadline",
    "gehalt": "salary", "gehälter": "salary", "geld": "money", "geschlossen": "closed",
    "gültig": "valid", "heimarbeit": "remote", "hoch": "high", "hotel": "hotel", "jahr": "year",
    "jährlich": "yearly", "kalender": "calendar", "karte": "card", "kosten": "cost",
    "kostet": "cost", "krank": "sick", "kunde": "customer", "kündigung": "termination",
    "kurs": "course", "liste": "list", "maximal": "maximum", "miete": "rent", "mitarbeiter":
    "employee", "monat": "month", "monatlich": "monthly", "nachricht": "message", "neu": "new",
    "notiz": "note", "offen": "open", "passwort": "password", "plan": "plan", "preis": "price",
    "problem": "problem", "projekt": "project", "protokoll": "minutes", "prüfung": "review",
    "rechnung": "invoice", "regel": "policy", "reise": "travel", "rückgabe": "return",
    "schulung": "training", "sicherheit": "security", "sitzung": "meeting", "strategie": "strategy",
    "stunde": "hour", "tag": "day", "taxi": "cab", "team": "team", "termin": "meeting",
    "treffen": "meeting", "umsatz": "revenue", "umzug": "moving", "unterschrift": "signature",
    "urlaub": "leave", "verkauf": "sales", "verfallen": "expire", "verschoben": "moved",
    "versicherung": "insurance", "vertrag": "contract", "vertrieb": "sales", "vorlage": "template",
    "vorschlag": "proposal", "wichtig": "important", "wohnung": "apartment", "woche": "week",
    "zahlung": "payment", "zeit": "time", "ziel": "goal", "zugang": "access",
}  # fmt: skip
_ENDINGS = ("", "e", "en", "n", "er", "es", "em", "s", "ern")


def is_german(text: str) -> bool:
    found = [word.casefold() for word in words(text)]
    telling = sum(word in _TELLING for word in found) + bool(re.search("[äöüß]", text.lower()))
    return telling >= 2 or (bool(found) and found[0] in _TELLING)


def in_english(word: str) -> str:
    """The English of an office word, in whatever form it stands; nothing where it has none."""
    plain = word.casefold()
    for ending in _ENDINGS:
        known = ENGLISH.get(plain.removesuffix(ending)) if plain.endswith(ending) else None
        if known:
            return known
    return ""
