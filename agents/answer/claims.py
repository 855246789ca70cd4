"""What an answer says was done, held against what the records say was done.

The records decide, not the words: refusals and failures that an answer leaves out are added,
whatever language it is in. A claim of something done is looked for by its verbs in a few
languages; a claim in other words stands beside the records, which every answer carries.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DONE = frozenset({"succeeded", "noop"})
NOT_DONE = frozenset({"refused", "failed", "unknown"})
LISTED = 20  # actions listed in a text
ANYTHING = "call_mcp_tool"  # only its server knows what a tool does
STATUS_WORDS = {
    "succeeded": "done",
    "noop": "was already like that",
    "pending": "waits for a confirmation, not done",
    "held": "held, not done yet",
    "refused": "refused, not done",
    "failed": "failed, not done",
    "unknown": "not known whether it happened",
}

Action = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One thing that can be claimed: the verbs for it and the action types that do it."""

    verbs: str
    types: frozenset[str]


def _kind(verbs: str, *types: str) -> Kind:
    return Kind(verbs, frozenset((*types, ANYTHING)))


# Perfect participles: English, German, French, Spanish, Italian, Dutch.
KINDS = (
    _kind(
        "sent|replied|e-?mailed|forwarded|gesendet|geschickt|verschickt|weitergeleitet|envoyée?s?"
        "|transférée?s?|enviado|reenviado|inviato|inoltrato|verzonden|gestuurd|doorgestuurd",
        *("send_email", "forward_email"),
    ),
    _kind(
        "archived|archiviert|archivée?s?|archivado|archiviato|gearchiveerd",
        *("archive", "move_email"),
    ),
    _kind(
        "label+ed|classified|tagged|marked|moved|markiert|verschoben|déplacée?s?|movido|spostato"
        "|verplaatst",
        *("classify", "mark_read", "move_email", "move_document", "archive", "restore_labels"),
    ),
    _kind(
        "drafted|saved|entworfen|gespeichert|rédigée?s?|redactado|opgesteld",
        *("draft", "create_document", "append_document", "update_jira_task"),
    ),
    _kind(
        "created|added|filed|booked|scheduled|invited|erstellt|angelegt|eingeladen"
        "|hinzugefügt|créée?s?|ajoutée?s?|planifiée?s?|creado|añadido|programado|creato|aggiunto"
        "|aangemaakt|toegevoegd|gepland",
        *("create_jira_task", "create_calendar_event", "create_document", "append_document"),
        *("comment_jira_task", "update_calendar_event", "draft", "classify"),
    ),
    _kind(
        "deleted|removed|cancell?ed|trashed|unshared|gelöscht|entfernt|abgesagt|supprimée?s?"
        "|annulée?s?|borrado|eliminado|cancelado|eliminato|annullato|verwijderd|geannuleerd",
        *("delete_draft", "cancel_calendar_event", "unshare_document", "archive", "classify"),
        *("move_email", "restore_labels"),
    ),
    _kind(
        "shared|freigegeben|geteilt|partagée?s?|compartido|condiviso|gedeeld",
        *("share_document",),
    ),
    _kind(
        "updated|changed|rescheduled|edited|renamed|assigned|commented|restored|aktualisiert"
        "|geändert|modifiée?s?|actualizado|modificado|aggiornato|modificato|bijgewerkt|gewijzigd",
        *("update_jira_task", "update_calendar_event", "comment_jira_task", "append_document"),
        *("restore_event", "restore_issue", "restore_labels", "move_document", "move_email"),
        *("classify", "mark_read"),
    ),
)
_BETWEEN = re.compile(r"[.!?\n;]|\b(?:but|however|aber|mais|pero|ma|maar)\b", re.IGNORECASE)
_CITED = re.compile(r"\[\d{1,3}(?:, \d{1,3})*\]")
_QUOTED = re.compile(r"[“\"„«][^”\"“»\n]*[”\"“»]")
_NOT = re.compile(
    r"\b(?:not|no|never|nothing|none|neither|cannot|unable|fail(?:ed|s)?|refus\w*|wait\w*|pending"
    r"|will|would|could|can|should|may|might|once|if|when|until|before|after|want|shall|ready"
    r"|propos\w*|prepar\w*|confirm\w*|nichts?|rien|nada|nulla|niente|niets"
    r"|kein\w*|nie|wird|werde|wenn|sobald|pas|aucun\w*"
    r"|jamais|si|sera|cuando|nunca|será|non|mai|quando|sarà|niet|geen|zal|zodra)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_BY = re.compile(r"\b(?:by|von|par|por|da|door)\s+\w", re.IGNORECASE)
_SELF = (
    r"\b(?:I|we)(?:['\u2019]ve| have)?(?:\s+(?:just|now|already|also|successfully))*\s+(?:{0})\b"
    r"|\b(?:ich habe|habe ich|wir haben|ik heb|heb ik)\b.{{0,120}}?\b(?:{0})\b"
    r"|\b(?:j['\u2019]ai|nous avons|he|hemos|ho|abbiamo)\s+(?:\w+\s+)?(?:{0})\b"
    r"|\A\W*(?:(?:done|ok|okay|successfully|all)\W+)+(?:{0})\b(?!\s*:)"
    # “Sent the mail” tells of a deed, “Assigned to Ben” of how things are.
    r"|\A\W*(?:{0})\s+(?:it|them|the|your|an?|all|both|this|that|these|those|\d+)\b(?!\s*:)"
)
_PASSIVE = (
    r"\b(?:has|have) (?:been|now been|just been|already been|successfully been)\s+"
    r"(?:successfully\s+)?(?:{0})\b"
    r"|\b(?:{0}) (?:worden|wurde)\b|\bwurden?\b.{{0,120}}?\b(?:{0})\b"
    r"|\ba été (?:{0})\b|\bont été (?:{0})\b|\bha sido (?:{0})\b|\bè stat[oa] (?:{0})\b"
    r"|\bis (?:now|successfully) (?:{0})\b"
)
_NOTHING_DONE = re.compile(
    r"\bnothing (?:was|has been|is|got) (?:\w+ )?(?:done|sent|created|changed|carried out)\b"
    r"|\b(?:es )?wurde nichts\b"
    r"|\bnichts (?:wurde|ist) (?:\w+ )?(?:getan|gesendet|erstellt|geändert)\b"
    r"|\brien n['\u2019](?:a|est) (?:été )?(?:fait|envoyé|créé|modifié)"
    r"|\bno se (?:ha )?(?:hecho|hizo|enviado|creado|cambiado) nada\b"
    r"|\bnon è stato (?:fatto|inviato|creato|modificato) nulla\b"
    r"|\ber is niets (?:gedaan|verstuurd|gemaakt|gewijzigd)\b",
    re.IGNORECASE,
)
_CLAIMS = tuple(
    (
        kind,
        re.compile(_SELF.format(kind.verbs), re.IGNORECASE),
        re.compile(_PASSIVE.format(kind.verbs), re.IGNORECASE),
    )
    for kind in KINDS
)


def find_claims(text: str) -> tuple[Kind, ...]:
    """What the text says was done by the agent. Parts of sentences that deny or wait, what
    is quoted, and what a source says are about something else."""
    found: dict[Kind, None] = {}
    for part in _BETWEEN.split(_QUOTED.sub(" ", text)):
        if _NOT.search(part):
            continue
        attributed = _CITED.search(part) or _BY.search(part)
        for kind, by_self, passive in _CLAIMS:
            if by_self.search(part) or (not attributed and passive.search(part)):
                found[kind] = None
    return tuple(found)


def has_unsupported(text: str, done_types: Collection[str]) -> bool:
    """Whether the text claims something of which no action of a fitting type was done."""
    return any(not kind.types & set(done_types) for kind in find_claims(text))


def denies(text: str, actions: Sequence[Action]) -> bool:
    """Whether the text says that nothing was done where something was."""
    done = any(action["status"] == "succeeded" for action in actions)
    said = _NOTHING_DONE.search(_QUOTED.sub(" ", text)) is not None
    return done and said and not find_claims(text)


def list_done_types(actions: Sequence[Action]) -> frozenset[str]:
    return frozenset(action["type"] for action in actions if action["status"] in DONE)


def omits_refusals(text: str, actions: Sequence[Action]) -> bool:
    """Whether something was refused or failed and the text does not say so in the words of
    the record."""
    said = _plain(text)
    return any(
        not (action.get("sentence") and _plain(action["sentence"]) in said)
        for action in list_not_done(actions)
    )


def list_not_done(actions: Sequence[Action]) -> tuple[Action, ...]:
    """What was refused or failed and was not made up for: a corrected attempt is no gap."""
    return tuple(
        action
        for place, action in enumerate(actions)
        if action["status"] in NOT_DONE
        and not any(_corrects(later, action) for later in actions[place + 1 :])
    )


def _corrects(later: Action, action: Action) -> bool:
    """Whether it is the same wish in other words: of the arguments that either has, most are the
    same."""
    if later["type"] != action["type"] or later["status"] in NOT_DONE:
        return False
    before, after = action.get("params") or {}, later.get("params") or {}
    if not before or not after:
        return bool(later.get("description") == action.get("description"))
    same = sum(name in after and after[name] == value for name, value in before.items())
    return bool(2 * same >= len(before.keys() | after.keys()))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).casefold().strip()


def render_correction(actions: Sequence[Action], *, contradicts: bool) -> str:
    """What the records say, item by item, in words for people."""
    head = "Correction from the records" if contradicts else "From the records"
    if not actions:
        return f"{head}: nothing was sent, created or changed in this turn."
    lines = [
        f"- {_one_line(action.get('description') or action['type'])}: "
        f"{STATUS_WORDS.get(action['status'], action['status'])}."
        + (
            f" {_one_line(action['sentence'])}"
            if action["status"] in NOT_DONE and action.get("sentence")
            else ""
        )
        for action in actions[:LISTED]
    ]
    more = len(actions) - LISTED
    return "\n".join([f"{head}:", *lines, *([f"- and {more} more"] if more > 0 else [])])


def render_record(actions: Sequence[Action]) -> str:
    """How many actions are how far: one sentence that every answer carries."""
    if not actions:
        return "No action was carried out."
    counted = {
        word: sum(action["status"] in statuses for action in actions)
        for word, statuses in (
            ("done", DONE),
            ("waiting for a decision", {"pending"}),
            ("held", {"held"}),
            ("refused", {"refused"}),
            ("failed", {"failed"}),
            ("of unknown outcome", {"unknown"}),
        )
    }
    said = ", ".join(f"{number} {word}" for word, number in counted.items() if number)
    return f"Actions: {said}."


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"
