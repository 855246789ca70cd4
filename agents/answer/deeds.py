"""How people say that something was done, or that nothing was, in the languages of the office.

What is quoted, asked, wished, cited, about others or about the answer itself is no deed of the
agent's. Every pattern is bounded, so that a long text is read in linear time. Pure.
"""

import re
from collections.abc import Mapping

from agents.answer.verbs import (
    BASES,
    EVERY_KIND,
    KINDS,
    LANGUAGES,
    Kind,
    list_forms,
    list_past,
)

# Up to so much between an auxiliary and its verb, and no way into what is only reported.
_GAP = r"(?:[^,]|,(?!\s*(?:dass|ob|was|wer|wann|der|die|das|dat|of|wat)\b)){0,120}?"
_SOON = r"(?:\s+(?:just|now|already|also|then|all|both|successfully)){0,3}"
_ON = (
    r"(?:\s+(?!(?:that|which|who|what|whom|how|where)\b)[\w'\u2019]+){1,6}"
    r"\s+and(?:\s+then|\s+also)?"
)
_OBJECT = r"(?:(?:l|m|t|s|gli|le|ne)['\u2019]?\s*|(?:vous|te|lui|leur|les|la|le|en|y)\s+){0,2}"
# What tells of a deed of the agent's own; VERBS are those of one kind in that language.
_SELF = {
    "en": r"\b(?:I|we)(?:['\u2019]ve| have)?(?:" + _SOON + "|" + _ON + r")\s+(?:VERBS)\b(?!\s+up\b)"
    # “Sent the mail” tells of a deed, “Assigned to Ben” of how things are.
    r"|\A\W*(?:(?:done|ok|okay|successfully|all)\W+)+(?:VERBS)\b(?!\s*:)"
    r"|\A\W*(?:VERBS)\s+(?:it|them|the|your|an?|all|both|this|that|these|those|\d+)\b(?!\s*:)",
    "de": r"\b(?:ich habe|habe ich|wir haben|haben wir)\b" + _GAP + r"\b(?:VERBS)\b"
    r"(?!\s+(?:ist|sind|war|waren)\b)|\A\W*(?:VERBS) (?:habe ich|haben wir)\b",
    "fr": r"\b(?:(?:j['\u2019]|je\s+" + _OBJECT + r")ai|nous\s+" + _OBJECT + r"avons)"
    r"\s+(?:\w+\s+)?(?:VERBS)\b",
    "es": r"\b(?:he|hemos)\s+(?:ya\s+)?(?:VERBS)\b"
    # “Envié”, but not the French “Bob avait archivé”.
    r"|(?:\A|,|\by)\W{0,20}(?:(?:yo|ya|también|te|le|les|se|lo|la|los|las)\s+){0,3}(?:PRETERITE)\b",
    "it": r"\b(?:ho|abbiamo)\s+(?:\w+\s+)?(?:VERBS)\b",
    "nl": r"\b(?:ik heb|heb ik|we hebben|wij hebben)\b" + _GAP + r"\b(?:VERBS)\b",
}
# What tells of a deed and not of who did it.
_PASSIVE = {
    "en": r"\b(?:has|have)" + _SOON + r" been" + _SOON + r"\s+(?:VERBS)\b"
    r"|\b(?:is|are) (?:now|successfully) (?:VERBS)\b",
    "de": r"\b(?:VERBS) (?:worden|wurden?)\b|\bwurden?\b" + _GAP + r"\b(?:VERBS)\b"
    r"|\b(?:ist|sind) (?:jetzt|nun|soeben|erfolgreich) (?:VERBS)\b",
    "fr": r"\b(?:a|ont)(?: bien)? été (?:VERBS)\b",
    "es": r"\b(?:ha|han) sido (?:VERBS)\b|\bse (?:ha|han) (?:VERBS)\b",
    "it": r"\b(?:è|sono) stat[oaei] (?:VERBS)\b",
    "nl": r"\b(?:is|zijn|werd|werden)\b" + _GAP + r"\b(?:VERBS)\b",
}


def _compile(frames: Mapping[str, str], verbs: Mapping[str, str]) -> re.Pattern[str]:
    parts = (frames[name].replace("VERBS", list_forms(name, verbs[name])) for name in LANGUAGES)
    past = list_past(verbs["es"])
    return re.compile("|".join(parts).replace("PRETERITE", past), re.IGNORECASE)


_BETWEEN = re.compile(r"(?<=[?!])|[.\n;]|\b(?:but|however|aber|mais|pero|ma|maar)\b", re.IGNORECASE)
_COLON = re.compile(r":(?=\s|\Z)")  # not that of a time
_CITED = re.compile(r"\[\d{1,3}(?:, \d{1,3})*\]")
_QUOTED = re.compile(r"[“\"„«»][^”\"“«»\n]{0,500}[”\"“»«]")
_INSERTED = re.compile(r",\s*(?:as|wie|comme|como|come|zoals)\b[^,\n]{1,40},", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|no|never|nothing|none|neither|cannot|unable|fail(?:ed|s)?|refus\w*|wait\w*|pending"
    r"|will|would|could|can|should|may|might|once|if|when|until|before|after|want|shall|ready"
    r"|propos\w*|prepar\w*|confirm\w*|nicht|nichts|rien|nada|nulla|niente|niets"
    r"|kein\w*|nie|wird|werde|wenn|sobald|pas|aucun\w*|jamais|si|sera|ning[uú]n\w*|nessun\w*"
    r"|cuando|nunca|será|non|mai|quando|sarà|niet|geen|zal|zodra)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
# About others, or about another time: then a passive is no deed of the agent's.
_OTHERS = re.compile(
    r"\b(?:by|von|vom|par|por|da|dal|dalla|dai|dagli|dalle|door)\s+\w|\bdall['\u2019]\w"
    # Nobody did it, or it only seems so.
    r"|\b(?:nobody|no one|niemand|personne|nadie|nessuno)\b"
    r"|\b(?:apparently|seems?|seemingly|offenbar|anscheinend|scheint|apparemment|semble"
    r"|al parecer|según parece|a quanto pare|apparentemente|sembra)\b"
    r"|\b(?:according to|laut|gemäß|selon|d['\u2019]après|según|secondo|volgens)\b"
    r"|\b(?:says?|said|writes?|wrote|reports?|mentions?|asks?|schreibt|schrieb|sagt|meldet"
    r"|berichtet|fragt|steht|écrit|dit|signale|indique|demande|escribe|dice|avisa|informa|pregunta"
    r"|indica|scrive|segnala|chiede|riferisce|schrijft|zegt|meldt|vraagt)\b"
    r"|\b(?:yesterday|gestern|hier|ayer|ieri|gisteren|last|letzte\w*|vorige\w*|derni[eè]re?s?"
    r"|pasad[oa]s?|scors[oaei])\b",
    re.IGNORECASE,
)
# About the answer itself: “I've put the dates into a table”. Where something of the office is
# named, too, it is about that.
_OF_ANSWER = re.compile(
    r"\b(?:overview|summary|table|lists?|comparison|outline|timeline|breakdown|sources?|below|above"
    r"|übersicht|zusammenfassung|tabelle|liste|aufstellung|vergleich|quellen?|unten|oben"
    r"|aperçu|résumé|tableau|comparaison|ci-dessous|ci-dessus"
    r"|resumen|tabla|lista|comparación|fuentes?|abajo|arriba"
    r"|riepilogo|riassunto|tabella|elenco|confronto|font[ei]|qui sotto|qui sopra"
    r"|overzicht|samenvatting|tabel|lijst|bronnen|hieronder|hierboven)\b",
    re.IGNORECASE,
)
_OF_OFFICE = re.compile(
    r"\b(?:tasks?|issues?|tickets?|events?|meetings?|calendar|appointments?|documents?|files?"
    r"|folders?|mails?|e-?mails?|messages?|drafts?|labels?|inbox|comments?|board|project|[A-Z]+-\d+"
    r"|aufgaben?|termine?n?|kalender|besprechung(?:en)?|dokumente?n?|dateien?|ordner|nachrichten?"
    r"|entw[uü]rfe?n?|postfach|kommentare?n?|projekte?"
    r"|tâches?|réunions?|événements?|agenda|fichiers?|dossiers?|courriels?|brouillons?|étiquettes?"
    r"|commentaires?|projets?"
    r"|tareas?|reunión|reuniones|eventos?|calendario|documentos?|archivos?|carpetas?|correos?"
    r"|mensajes?|borrador(?:es)?|etiquetas?|comentarios?|proyectos?"
    r"|attività|riunion[ei]|event[oi]|document[oi]|cartell[ae]|messagg[io]|bozz[ae]|etichett[ae]"
    r"|comment[oi]|progett[oi]"
    r"|taken|taak|vergadering(?:en)?|agenda|documenten|bestand(?:en)?|map(?:pen)?|berichten?"
    r"|concept(?:en)?)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\A\W*(?:have|did|was|were|habe|haben|wurden?|ho|he|hemos|abbiamo|heb|werd)\b.*\?\Z"
    r"|\A\s*¿",
    re.IGNORECASE | re.DOTALL,
)
_NOTHING = re.compile(
    r"\b(?:nothing|anything|nichts|rien|nada|nulla|niente|niets)\b"
    r"|\b(?:no|any) (?:changes?|actions?)\b|\bkeine(?:rlei)? (?:Änderung(?:en)?|Aktion(?:en)?)\b"
    r"|\b(?:aucune|aucun) (?:modification|changement|action)\b"
    r"|\bning(?:ún cambio|una acción)\b|\b(?:nessun|alcun)(?:a modifica|a azione| cambiamento)\b"
    r"|\bgeen (?:wijzigingen|wijziging|actie)\b",
    re.IGNORECASE,
)
# Who would have done it: the agent, or nobody who is named.
_DOER = re.compile(
    r"\b(?:I|we|ich|wir|je|j['\u2019]ai|nous|he|hemos|ho|abbiamo|ik|wij)\b"
    r"|\b(?:was|were|been|wurden?|worden|été|sido|se ha[n]?|hizo|stat[oaei]|er is|er zijn|werd)\b",
    re.IGNORECASE,
)


def _any_form(kind: Kind, bases: str) -> re.Pattern[str]:
    forms = "|".join(list_forms(name, verbs) for name, verbs in kind.verbs.items())
    forms = "|".join(filter(None, [forms, list_past(kind.verbs["es"])]))
    bare = "|".join(bases.split())
    return re.compile(rf"\b(?:{forms}|(?<!to )(?:{bare}))\b", re.IGNORECASE)


# Each kind with any form of its verbs, which is looked for first, and how it is claimed.
_CLAIMS = tuple(
    (kind, _any_form(kind, bases), _compile(_SELF, kind.verbs), _compile(_PASSIVE, kind.verbs))
    for kind, bases in zip(KINDS, BASES, strict=True)
)
_DENIALS = (
    *((kind, forms) for kind, forms, _, _ in _CLAIMS),
    (EVERY_KIND, _any_form(EVERY_KIND, "do change")),
)


def find_claims(text: str) -> tuple[Kind, ...]:
    """What the text says was done by the agent."""
    found: dict[Kind, None] = {}
    for part in _parts(text):
        said = _sides(part)[0]  # behind a colon stands what was written, or why
        if _NOT.search(said) or _ASKED.search(part):
            continue
        attributed = _CITED.search(part) or _OTHERS.search(part)
        deed = said if _NOT.search(part) else part
        of_answer = _OF_ANSWER.search(said) and not _OF_OFFICE.search(said)
        for kind, forms, by_self, passive in _CLAIMS:
            if kind in found or not forms.search(deed) or (of_answer and kind.is_writing):
                continue
            if by_self.search(deed) or (not attributed and passive.search(deed)):
                found[kind] = None
    return tuple(found)


def find_denials(text: str) -> tuple[Kind, ...]:
    """Of what the text says that nothing of it was done; EVERY_KIND where it is of anything."""
    found: dict[Kind, None] = {}
    for part in _parts(text):
        if part.endswith("?") or _CITED.search(part) or _OTHERS.search(part):
            continue
        for side in _sides(part):
            if _NOTHING.search(side) and _DOER.search(side):
                found |= dict.fromkeys(kind for kind, verbs in _DENIALS if verbs.search(side))
    return tuple(found)


def _sides(part: str) -> list[str]:
    """What stands before a colon and what behind it. “Nothing is left: the task was created” says
    two things; “What was created: nothing” says one."""
    sides = _COLON.split(part, maxsplit=1)
    return [part] if any(_NOTHING.fullmatch(side.strip()) for side in sides) else sides


def _parts(text: str) -> list[str]:
    """Sentences and halves of sentences, without what is quoted or put in between."""
    return _BETWEEN.split(_INSERTED.sub(" ", _QUOTED.sub(" ", text)))
