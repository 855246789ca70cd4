"""What is said after a person confirmed or rejected actions: each one, as it turned out, in the
language of the request."""

import re

from sandbox.offline_model.language import counted, quoted
from sandbox.offline_model.languages import Language, language_of
from sandbox.offline_model.rules import outcomes
from sandbox.offline_model.transcript import Call, Json, Transcript, as_object, as_text

_TASK = re.compile(r"Create a (?:task|bug|story|epic) in \S+: “(.*)”", re.DOTALL)
_TITLE = re.compile(r"“(.*)”", re.DOTALL)
_TO_SOMEBODY = frozenset({"draft", "send_email", "forward_email"})
_SAID: dict[Language, dict[str, str]] = {
    "en": {
        "done": "Done!",
        "tasks": "Done! Created {tasks} in Jira:",
        "changed": "Changed:",
        "nothing": "Nothing was done:",
        "some_tasks": "Created {done} of {tasks} in Jira:",
        "some": "{done} of {actions} done:",
        "rejected": "{what}: you rejected it.",
        "pending": "{what}: it waits for your confirmation as you changed it.",
        "agreed": "Your yes counts:",
        "second": "{what}: it waits for one more person's yes.",
        "noop": " (it was already like that)",
        "refused": "{what}: refused. {why}",
        "failed": "{what}: failed. {why}",
        "unknown": "{what}: not known whether it happened. {why}",
    },
    "de": {
        "done": "Erledigt!",
        "tasks": "Erledigt! In Jira angelegt ({all}):",
        "changed": "Geändert:",
        "nothing": "Nichts wurde getan:",
        "some_tasks": "{done} von {all} in Jira angelegt:",
        "some": "{done} von {all} erledigt:",
        "rejected": "{what}: Sie haben es abgelehnt.",
        "pending": "{what}: So geändert wartet es auf Ihre Bestätigung.",
        "agreed": "Ihr Ja zählt:",
        "second": "{what}: Es wartet noch auf das Ja eines weiteren Menschen.",
        "noop": " (es war schon so)",
        "refused": "{what}: abgelehnt.",
        "failed": "{what}: fehlgeschlagen.",
        "unknown": "{what}: Ob es geschah, ist nicht bekannt.",
    },
    "fr": {
        "done": "C'est fait !",
        "tasks": "C'est fait ! Créé dans Jira ({all}) :",
        "changed": "Modifié :",
        "nothing": "Rien n'a été fait :",
        "some_tasks": "{done} sur {all} créés dans Jira :",
        "some": "{done} sur {all} faits :",
        "rejected": "{what} : vous l'avez refusé.",
        "pending": "{what} : ainsi modifié, cela attend votre confirmation.",
        "agreed": "Votre oui compte :",
        "second": "{what} : cela attend encore le oui d'une autre personne.",
        "noop": " (c'était déjà ainsi)",
        "refused": "{what} : refusé.",
        "failed": "{what} : échoué.",
        "unknown": "{what} : on ne sait pas si cela a eu lieu.",
    },
    "es": {
        "done": "¡Hecho!",
        "tasks": "¡Hecho! Creado en Jira ({all}):",
        "changed": "Cambiado:",
        "nothing": "No se hizo nada:",
        "some_tasks": "{done} de {all} creados en Jira:",
        "some": "{done} de {all} hechos:",
        "rejected": "{what}: usted lo rechazó.",
        "pending": "{what}: así cambiado, espera su confirmación.",
        "agreed": "Su sí cuenta:",
        "second": "{what}: espera todavía el sí de otra persona.",
        "noop": " (ya estaba así)",
        "refused": "{what}: rechazado.",
        "failed": "{what}: falló.",
        "unknown": "{what}: no se sabe si ocurrió.",
    },
}


def describe_decisions(transcript: Transcript) -> str:
    """“Done!” only when every action was confirmed and happened."""
    decisions, language = transcript.decisions, language_of(transcript.request)
    done = [d for d in decisions if _happened(d)]
    tasks = all(as_text(d.get("type")) == "create_jira_task" for d in decisions)
    if len(done) == len(decisions):
        head = "tasks" if tasks else "done"
    elif not done and any(_waits(d) and d.get("decision") == "edited" for d in decisions):
        head = "changed"
    elif not done and any(_waits(d) for d in decisions):
        head = "agreed"
    elif not done:
        head = "nothing"
    else:
        head = "some_tasks" if tasks else "some"
    said = _SAID[language][head].format(
        done=len(done),
        all=len(decisions),
        tasks=counted(len(decisions), "task"),
        actions=counted(len(decisions), "action"),
    )
    return "\n".join([said, *(f"- {_line(d, language)}" for d in decisions)])


def _happened(decision: Json) -> bool:
    return decision.get("decision") == "confirmed" and decision.get("status") in (
        "succeeded",
        "noop",
    )


def _waits(decision: Json) -> bool:
    """As the person changed it; or for another one's yes, where theirs is the first of two."""
    return decision.get("status") == "pending"


def _line(decision: Json, language: Language) -> str:
    said, what = _SAID[language], _what(decision, language)
    status = as_text(decision.get("status"))
    if decision.get("decision") == "rejected":
        return said["rejected"].format(what=what)
    if _waits(decision):
        is_changed = decision.get("decision") == "edited"
        return said["pending" if is_changed else "second"].format(what=what)
    if _happened(decision):
        key = quoted(as_text(as_object(decision.get("result")).get("task_key")))
        so_already = said["noop"] if status == "noop" else ""
        return f"{key}: {what}{so_already}" if key else f"{what}{so_already}"
    outcome = said[status if status in ("refused", "failed") else "unknown"]
    why = quoted(as_text(decision.get("sentence")), limit=400)
    return outcome.format(what=what, why=why).rstrip()


def _what(decision: Json, language: Language) -> str:
    """What was decided about: a task by its title, else as the record describes it; in another
    language than the record's by what the action does, where that says all of it."""
    name, described = as_text(decision.get("type")), as_text(decision.get("description"))
    if task := _TASK.search(described):
        return quoted(task[1])
    if language == "en" or name in _TO_SOMEBODY or not described:
        return quoted(described or name)
    title = _TITLE.search(described)
    if title is None:
        return quoted(described)
    named = title[1]
    call = Call(name=name, arguments=dict.fromkeys(("title", "name"), named))
    said = outcomes.in_words(call, language)
    return said if named in said else f"{said} („{quoted(named)}“)"
