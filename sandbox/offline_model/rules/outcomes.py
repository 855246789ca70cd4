"""What came of an action, in words: done, already like that, waiting, or refused and why."""

from collections import defaultdict

from sandbox.offline_model.language import first_upper, listed, quoted
from sandbox.offline_model.languages import Language
from sandbox.offline_model.transcript import Call, Json, Result, as_text

# Each action in words; what stands in braces is of the call's own arguments.
_WORDS: dict[str, tuple[str, str, str, str]] = {
    "archive": (
        "archive the mail",
        "die Mail archivieren",
        "archiver le courriel",
        "archivar el correo",
    ),
    "classify": (
        "label the mail",
        "der Mail ein Label geben",
        "étiqueter le courriel",
        "etiquetar el correo",
    ),
    "mark_read": (
        "mark the mail as read",
        "die Mail als gelesen markieren",
        "marquer le courriel comme lu",
        "marcar el correo como leído",
    ),
    "move_email": (
        "move the mail",
        "die Mail verschieben",
        "déplacer le courriel",
        "mover el correo",
    ),
    "trash_email": (
        "put the mail into the trash",
        "die Mail in den Papierkorb legen",
        "mettre le courriel à la corbeille",
        "poner el correo en la papelera",
    ),
    "draft": (
        "draft a mail to {to}",
        "eine Mail an {to} entwerfen",
        "préparer un brouillon pour {to}",
        "preparar un borrador para {to}",
    ),
    "send_email": (
        "send a mail to {to}",
        "eine Mail an {to} senden",
        "envoyer un courriel à {to}",
        "enviar un correo a {to}",
    ),
    "forward_email": (
        "forward a mail to {to}",
        "eine Mail an {to} weiterleiten",
        "transférer un courriel à {to}",
        "reenviar un correo a {to}",
    ),
    "create_jira_task": (
        "create “{summary}”",
        "„{summary}“ anlegen",
        "créer « {summary} »",
        "crear «{summary}»",
    ),
    "update_jira_task": (
        "change {issue_key}",
        "{issue_key} ändern",
        "modifier {issue_key}",
        "cambiar {issue_key}",
    ),
    "comment_jira_task": (
        "comment on {issue_key}",
        "{issue_key} kommentieren",
        "commenter {issue_key}",
        "comentar {issue_key}",
    ),
    "create_calendar_event": (
        "enter “{title}”",
        "„{title}“ eintragen",
        "inscrire « {title} »",
        "anotar «{title}»",
    ),
    "update_calendar_event": (
        "change the event",
        "den Termin ändern",
        "modifier le rendez-vous",
        "cambiar la cita",
    ),
    "cancel_calendar_event": (
        "cancel the event",
        "den Termin absagen",
        "annuler le rendez-vous",
        "cancelar la cita",
    ),
    "create_document": (
        "create “{name}”",
        "„{name}“ anlegen",
        "créer « {name} »",
        "crear «{name}»",
    ),
    "append_document": (
        "add to the document",
        "das Dokument ergänzen",
        "compléter le document",
        "añadir al documento",
    ),
    "move_document": (
        "move the document",
        "das Dokument verschieben",
        "déplacer le document",
        "mover el documento",
    ),
    "share_document": (
        "share the document",
        "das Dokument freigeben",
        "partager le document",
        "compartir el documento",
    ),
    "trash_document": (
        "put the document into the trash",
        "das Dokument in den Papierkorb legen",
        "mettre le document à la corbeille",
        "poner el documento en la papelera",
    ),
}
_UNNAMED = ("an unnamed action", "etwas ohne Namen", "une action sans nom", "una acción sin nombre")
_NOBODY = ("nobody", "niemanden", "personne", "nadie")
_LANGUAGES: tuple[Language, ...] = ("en", "de", "fr", "es")
# What came of it. Why it did stands only in the English one: Remit adds it in the user's language.
_OUTCOMES: dict[str, tuple[str, str, str, str]] = {
    "refused": (
        "Refused: {asked}. {why}",
        "Abgelehnt: {asked}. Das ist hier nicht erlaubt oder nicht möglich.",
        "Refusé : {asked}. Ce n'est pas permis ou pas possible ici.",
        "Rechazado: {asked}. Aquí no está permitido o no es posible.",
    ),
    "pending_confirmation": (
        "Waiting for your confirmation: {what}.",
        "Es wartet auf Ihre Bestätigung: {what}.",
        "En attente de votre confirmation : {what}.",
        "Espera su confirmación: {what}.",
    ),
    "held": (
        "Not sent yet: {what}. {when}",
        "Noch nicht gesendet: {what}.",
        "Pas encore envoyé : {what}.",
        "Aún no enviado: {what}.",
    ),
    "executed": ("Done: {what}.", "Erledigt: {what}.", "C'est fait : {what}.", "Hecho: {what}."),
    "already_so": (
        "It was already like that: {what}.",
        "Es war schon so: {what}.",
        "C'était déjà ainsi : {what}.",
        "Ya estaba así: {what}.",
    ),
    "": (
        "What came of this is not known: {what}.",
        "Was daraus wurde, ist nicht bekannt: {what}.",
        "On ne sait pas ce qu'il en est : {what}.",
        "No se sabe qué pasó con esto: {what}.",
    ),
}
# Of a mail that was drafted because none may be sent.
_DRAFTED = (
    "I sent nothing. Here mail may only be drafted. The mail to {to} waits in your drafts, and you "
    "can send it from there.",
    "Gesendet habe ich nichts. Hier dürfen Mails nur entworfen werden. Die Mail an {to} wartet in "
    "Ihren Entwürfen, und Sie können sie von dort senden.",
    "Je n'ai rien envoyé. Ici, un courriel ne peut être que préparé. Le courriel pour {to} attend "
    "dans vos brouillons, et vous pouvez l'envoyer de là.",
    "No envié nada. Aquí solo se permiten borradores. El correo para {to} espera en sus "
    "borradores, y puede enviarlo desde allí.",
)


def describe_outcome(result: Result) -> str:
    """One sentence about what came of one action, in the language of the request. A refusal is
    never dressed up."""
    language = result.language
    asked = in_words(result.call, language)
    described = quoted(as_text(result.data.get("description"))) if language == "en" else ""
    status = as_text(result.data.get("status")) if result.success else "refused"
    sentence = _OUTCOMES.get(status, _OUTCOMES[""])[_LANGUAGES.index(language)]
    return sentence.format(
        asked=asked,
        what=described or (first_upper(asked) if language == "en" else asked),
        why=quoted(result.refusal, limit=400),
        when=quoted(as_text(result.data.get("sentence"))),
    )


def describe_drafted(sent: Result, drafted: Result) -> str:
    """What came of a mail that might not be sent and was drafted instead."""
    if not drafted.success or drafted.data.get("status") != "executed":
        return f"{describe_outcome(sent)}\n{describe_outcome(drafted)}"
    place = _LANGUAGES.index(drafted.language)
    said = _DRAFTED[place].format(to=_receivers(drafted.call.arguments) or _NOBODY[place])
    noted = quoted(as_text(drafted.data.get("sentence")))
    return f"{said} {noted}" if noted and drafted.language == "en" else said


def in_words(call: Call, language: Language = "en") -> str:
    """The action that was asked for, from the call's own arguments."""
    place = _LANGUAGES.index(language)
    said = defaultdict(str, {key: quoted(as_text(one)) for key, one in call.arguments.items()})
    said["to"] = _receivers(call.arguments) or _NOBODY[place]
    known = _WORDS.get(call.name)
    return known[place].format_map(said) if known else quoted(call.name) or _UNNAMED[place]


def _receivers(params: Json) -> str:
    to = params.get("to")
    receivers = [quoted(as_text(one)) for one in to] if isinstance(to, list) else []
    return listed(receivers)
