"""How people say that something was done, or that nothing was, in the languages of the office.

A verb is listed once, as participle; its forms follow from its language's grammar. What is
quoted, asked, wished, cited or about others is no deed of the agent's. Every pattern is bounded,
so that a long text is read in linear time. Pure.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

ANYTHING = "call_mcp_tool"  # only its server knows what a tool does
LANGUAGES = ("en", "de", "fr", "es", "it", "nl")


@dataclass(frozen=True)
class Kind:
    """One thing that can be claimed: its verbs (by language) and the action types that do it."""

    verbs: Mapping[str, str]
    types: frozenset[str]

    def __hash__(self) -> int:
        return hash(self.types)


def _kind(en: str, de: str, fr: str, es: str, it: str, nl: str, *types: str) -> Kind:
    verbs = dict(zip(LANGUAGES, (en, de, fr, es, it, nl), strict=True))
    return Kind(verbs, frozenset((*types, ANYTHING)))


KINDS = (
    _kind(
        "sent replied emailed e-mailed forwarded",
        "gesendet geschickt verschickt versandt beantwortet weitergeleitet",
        "envoyé transféré répondu",
        "enviado mandado reenviado respondido",
        "inviato mandato inoltrato risposto",
        "verzonden verstuurd gestuurd doorgestuurd beantwoord",
        *("send_email", "forward_email"),
    ),
    _kind(
        *("archived", "archiviert", "archivé", "archivado", "archiviato", "gearchiveerd"),
        *("archive", "move_email"),
    ),
    _kind(
        "labeled labelled classified tagged marked moved",
        "markiert verschoben eingeordnet",
        "marqué classé déplacé",
        "marcado clasificado etiquetado movido",
        "segnato contrassegnato etichettato spostato",
        "gemarkeerd gelabeld verplaatst",
        *(
            "classify",
            "mark_read",
            "move_email",
            "move_document",
            "archive",
            "restore_labels",
            "restore_document",
        ),
    ),
    _kind(
        "drafted saved",
        "entworfen gespeichert",
        "rédigé enregistré",
        "redactado guardado",
        "redatto salvato",
        "opgesteld opgeslagen bewaard",
        *("draft", "create_document", "append_document", "update_jira_task"),
    ),
    _kind(
        "created added filed booked scheduled invited",
        "erstellt angelegt eingeladen hinzugefügt gebucht eingetragen",
        "créé ajouté planifié réservé invité",
        "creado añadido programado reservado invitado",
        "creato aggiunto programmato pianificato prenotato invitato",
        "aangemaakt gemaakt toegevoegd gepland geboekt uitgenodigd",
        *("create_jira_task", "create_calendar_event", "create_document", "append_document"),
        *("comment_jira_task", "update_calendar_event", "draft", "classify"),
    ),
    _kind(
        "deleted removed canceled cancelled trashed unshared",
        "gelöscht entfernt abgesagt",
        "supprimé annulé retiré",
        "borrado eliminado cancelado anulado quitado",
        "eliminato cancellato annullato rimosso",
        "verwijderd geannuleerd gewist",
        *(
            "delete_draft",
            "withdraw_draft",
            "cancel_calendar_event",
            "unshare_document",
            "archive",
            "classify",
        ),
        *("move_email", "restore_labels", "restore_document", "trash_email", "trash_document"),
    ),
    _kind(
        *("shared", "freigegeben geteilt", "partagé", "compartido", "condiviso", "gedeeld"),
        *("share_document",),
    ),
    _kind(
        "updated changed rescheduled edited renamed assigned commented restored",
        "aktualisiert geändert umbenannt kommentiert zugewiesen wiederhergestellt",
        "modifié actualisé renommé attribué commenté rétabli",
        "actualizado modificado cambiado asignado comentado restaurado",
        "aggiornato modificato cambiato assegnato commentato ripristinato",
        "bijgewerkt gewijzigd toegewezen hersteld",
        *("update_jira_task", "update_calendar_event", "comment_jira_task", "append_document"),
        *(
            "restore_event",
            "restore_issue",
            "restore_labels",
            "restore_document",
            "move_document",
            "move_email",
        ),
        *("classify", "mark_read"),
    ),
)
# What is said of deeds of every kind: “nothing was done”.
ANY_DEED = {
    "en": "done changed executed performed made",
    "de": "getan gemacht unternommen ausgeführt geändert vorgenommen",
    "fr": "fait effectué exécuté modifié changé",
    "es": "hecho realizado ejecutado cambiado modificado",
    "it": "fatto eseguito effettuato cambiato modificato apportato",
    "nl": "gedaan uitgevoerd gewijzigd veranderd aangebracht",
}


def _forms(language: str, verbs: str) -> str:
    """The verbs with their endings, as alternatives of a pattern."""
    found = []
    for verb in map(re.escape, verbs.split()):
        if language == "fr" and verb.endswith(("é", "t", "u", "i")):
            found.append(f"{verb}e?s?")
        elif language == "es" and verb.endswith("o"):
            found.append(f"{verb[:-1]}[oa]s?")
        elif language == "it" and verb.endswith("o"):
            found.append(f"{verb[:-1]}[oaei]")
        else:
            found.append(verb)
    return "|".join(found)


def _past(verbs: str) -> str:
    """The Spanish “envié” to each “enviado”."""
    regular = re.findall(r"(\w+)(?:(ad)|id)o\b", verbs)
    return "|".join(stem + ("é" if first else "í") for stem, first in regular)


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
    r"|\A\W*(?:VERBS) (?:habe ich|haben wir)\b",
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
    parts = (frames[name].replace("VERBS", _forms(name, verbs[name])) for name in LANGUAGES)
    past = _past(verbs["es"])
    return re.compile("|".join(parts).replace("PRETERITE", past), re.IGNORECASE)


_BETWEEN = re.compile(r"(?<=[?!])|[.\n;]|\b(?:but|however|aber|mais|pero|ma|maar)\b", re.IGNORECASE)
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
    r"\b(?:by|von|par|por|da|door)\s+\w"
    r"|\b(?:according to|laut|gemäß|selon|d['\u2019]après|según|secondo|volgens)\b"
    r"|\b(?:says?|said|writes?|wrote|reports?|mentions?|asks?|schreibt|schrieb|sagt|meldet"
    r"|berichtet|fragt|steht|écrit|dit|signale|indique|demande|escribe|dice|avisa|informa|pregunta"
    r"|indica|scrive|segnala|chiede|riferisce|schrijft|zegt|meldt|vraagt)\b"
    r"|\b(?:yesterday|gestern|hier|ayer|ieri|gisteren|last|letzte\w*|vorige\w*|derni[eè]re?s?"
    r"|pasad[oa]s?|scors[oaei])\b",
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
# What stands behind “did not” in English, in the order of KINDS.
_BASES = (
    "send reply forward",
    "archive",
    "label mark move",
    "draft save",
    "create add schedule book",
    "delete remove cancel",
    "share",
    "update change edit assign",
)
EVERY_KIND = Kind(ANY_DEED, frozenset())


def _any_form(kind: Kind, bases: str) -> re.Pattern[str]:
    forms = "|".join(_forms(name, verbs) for name, verbs in kind.verbs.items())
    forms = "|".join(filter(None, [forms, _past(kind.verbs["es"])]))
    bare = "|".join(bases.split())
    return re.compile(rf"\b(?:{forms}|(?<!to )(?:{bare}))\b", re.IGNORECASE)


# Each kind with any form of its verbs, which is looked for first, and how it is claimed.
_CLAIMS = tuple(
    (kind, _any_form(kind, bases), _compile(_SELF, kind.verbs), _compile(_PASSIVE, kind.verbs))
    for kind, bases in zip(KINDS, _BASES, strict=True)
)
_DENIALS = (
    *((kind, forms) for kind, forms, _, _ in _CLAIMS),
    (EVERY_KIND, _any_form(EVERY_KIND, "do change")),
)


def find_claims(text: str) -> tuple[Kind, ...]:
    """What the text says was done by the agent."""
    found: dict[Kind, None] = {}
    for part in _parts(text):
        if _NOT.search(part) or _ASKED.search(part):
            continue
        attributed = _CITED.search(part) or _OTHERS.search(part)
        for kind, forms, by_self, passive in _CLAIMS:
            if kind in found or not forms.search(part):
                continue
            if by_self.search(part) or (not attributed and passive.search(part)):
                found[kind] = None
    return tuple(found)


def find_denials(text: str) -> tuple[Kind, ...]:
    """Of what the text says that nothing of it was done; EVERY_KIND where it is of anything."""
    found: dict[Kind, None] = {}
    for part in _parts(text):
        if not (_NOTHING.search(part) and _DOER.search(part)):
            continue
        if part.endswith("?") or _CITED.search(part) or _OTHERS.search(part):
            continue
        found |= dict.fromkeys(kind for kind, verbs in _DENIALS if verbs.search(part))
    return tuple(found)


def _parts(text: str) -> list[str]:
    """Sentences and halves of sentences, without what is quoted or put in between."""
    return _BETWEEN.split(_INSERTED.sub(" ", _QUOTED.sub(" ", text)))
