"""The verbs of deeds, by kind and language. Pure.

A verb is listed once, as participle; its forms follow from its language's grammar.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

ANYTHING = "call_mcp_tool"  # only its server knows what a tool does
WRITING = frozenset({"create_document", "append_document", "classify"})
LANGUAGES = ("en", "de", "fr", "es", "it", "nl")


@dataclass(frozen=True)
class Kind:
    """One thing that can be claimed: its verbs (by language) and the action types that do it."""

    verbs: Mapping[str, str]
    types: frozenset[str]

    def __hash__(self) -> int:
        return hash(self.types)

    @property
    def is_writing(self) -> bool:
        """Whether an answer may say the same of its own text."""
        return bool(self.types & WRITING)


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
            "recall_email",
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
        *("sort_issue", "answer_invitation"),
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


def list_forms(language: str, verbs: str) -> str:
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


def list_past(verbs: str) -> str:
    """The Spanish “envié” to each “enviado”."""
    regular = re.findall(r"(\w+)(?:(ad)|id)o\b", verbs)
    return "|".join(stem + ("é" if first else "í") for stem, first in regular)


# What stands behind “did not” in English, in the order of KINDS.
BASES = (
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
