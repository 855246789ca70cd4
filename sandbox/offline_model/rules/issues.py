"""“Create a bug in PROJ: “…””, “Set PROJ-98 to In Progress”, “Give PROJ-93 high priority”,
“Assign … to Tomasz”, “Comment on PROJ-81: …”."""

import re

from sandbox.offline_model.language import ADDRESS, one_line, quoted, shortened
from sandbox.offline_model.rules import named
from sandbox.offline_model.rules.acting import act, carry_out, say_only
from sandbox.offline_model.rules.asked import KEY
from sandbox.offline_model.script import Script
from sandbox.offline_model.transcript import Json, Transcript

MOST = 5
_FLAGS = re.IGNORECASE | re.DOTALL
_TYPE = (
    r"(?:tasks?|issues?|tickets?|bugs?|stor(?:y|ies)|aufgaben?|vorg[aä]nge?|fehler|tâches?|tareas?)"
)
_CREATE = re.compile(
    rf"(?:create|add|open|file|make|raise|lege?|erstelle?|crée[rz]?|crea)\b(?P<head>.*?)"
    rf"\b(?P<type>{_TYPE})\b(?P<rest>.*)",
    _FLAGS,
)
_DICTATED = re.compile(
    r"(?:\s+in\s+(?:project\s+)?(?P<project>\w{2,10}))?(?:\s+an,|(?:\s+an)?\s*:)\s+(?P<summary>.+)",
    _FLAGS,
)
_PROJECT = re.compile(r"\b(?:in|dans|en)\s+(?:project\s+)?(?P<key>[A-Z][A-Z0-9]{1,9})\b")
_STORY = re.compile(r"\bstor(?:y|ies)\b", re.IGNORECASE)
_BUG = re.compile(r"\b(?:bugs?|fehler)\b", re.IGNORECASE)
_FOR = re.compile(r"\b(?:for|für|pour|para|assigned to)\s+(?P<who>[^\W\d_a-zß-ÿ].+)", re.DOTALL)
_LEVELS = {
    "high": r"high|urgent|hohe?|hoch|haute|élevée|alta",
    "medium": r"medium|normal|mittlere?|mittel|moyenne|media",
    "low": r"low|niedrige?|niedrig|basse|baja",
}
_PRIORITY = re.compile(r"\b(?:priority|priorität|priorité|prioridad)\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"(?:set|give|raise|lower|change|put|setze?|gib|ändere?|stelle?|mets|donne|pon|sube|baja|cambia)"
    r"\b(?P<rest>.+)",
    _FLAGS,
)
_STATUS = re.compile(
    r"(?:set|move|change|put|mark|setze?|stelle?|mets|passe?|pon|pasa|cambia)\s+(?P<which>.+?)\s+"
    r"(?:to|as|auf|en|à|a)\s+[“„«\"]?(?P<status>[\w ]{2,30}?)[”“»\"]?[.! ]*",
    _FLAGS,
)
_ASSIGN = re.compile(
    r"(?:assign|weise)\s+(?P<which>.+?)\s+(?:to\s+)?(?P<who>[\w@.+-]+)(?:\s+zu)?[.! ]*", _FLAGS
)
_COMMENT = re.compile(
    r"(?:comment|kommentiere?|schreibe?|commente|comenta)\b(?P<head>[^:“„«\"]*)(?P<rest>.+)", _FLAGS
)


def script(transcript: Transcript, request: str) -> Script | None:
    """The steps of such a command; None where the request is none."""
    if calls := _creations(transcript, request):
        return calls
    if (found := _COMMENT.fullmatch(request)) and KEY.search(request):
        return _comment(request, found)
    if found := _ASSIGN.fullmatch(request):
        return _assign(transcript, found["which"], found["who"])
    if _CHANGE.fullmatch(request) and _PRIORITY.search(request) and (level := _level(request)):
        return _change(request, {"priority": level})
    if (found := _STATUS.fullmatch(request)) and (status := _status(transcript, found)):
        return _change(found["which"], {"status": status})
    return None


def _creations(transcript: Transcript, request: str) -> Script | None:
    """A task for each title in quotation marks, else for what is dictated after a colon."""
    found = _CREATE.fullmatch(request)
    if found is None or KEY.search(named.without_titles(request)):
        return None
    titles, fields, project = named.titles_in(request)[:MOST], dict[str, str](), None
    if titles:
        after = named.without_titles(found["rest"])
        receiver = _FOR.search(after)
        if receiver and not ADDRESS.search(receiver["who"]):
            return say_only("For whom? Please give the whole address, such as name@example.com.")
        fields |= {"assignee": ADDRESS.findall(receiver["who"])[0]} if receiver else {}
        level = _level(after) if _PRIORITY.search(after) else ""
        fields |= {"priority": level} if level else {}
    elif dictated := _DICTATED.fullmatch(found["rest"]):
        summary, _, description = dictated["summary"].partition("\n")
        titles, after, project = [summary], "", dictated["project"]
        fields |= {"description": description.strip()} if description.strip() else {}
    else:
        return None
    head = f"{found['head']} {found['type']}"
    known = project or _key_of_project(f"{head} {after}") or first_project(transcript)
    fields["type"] = _kind(f"{head} {after}")
    calls = [
        {"project_key": known.upper(), "summary": shortened(one_line(title), limit=200), **fields}
        for title in titles
    ]
    return carry_out(*(act("create_jira_task", one) for one in calls))


def _key_of_project(text: str) -> str:
    found = _PROJECT.search(text)
    return found["key"] if found else ""


def _kind(text: str) -> str:
    return "bug" if _BUG.search(text) else "story" if _STORY.search(text) else "task"


def first_project(transcript: Transcript) -> str:
    """The first project that tasks may be created in; else PROJ."""
    offer = transcript.offer("create_jira_task")
    projects = offer.choices("project_key") if offer else ()
    return next(filter(None, projects), "PROJ")


def _comment(request: str, found: re.Match[str]) -> Script:
    """The same words under each issue that is named: those in quotation marks, else after the
    colon."""
    titles = named.titles_in(found["rest"])
    body = titles[0] if titles else found["rest"].partition(":")[2].strip()
    if not body:
        return say_only("What should the comment say? Please give its words after a colon.")
    outside = named.without_titles(request) if titles else found["head"]
    keys = list(dict.fromkeys(KEY.findall(outside)))[:MOST]
    calls = [act("comment_jira_task", {"issue_key": key, "body": body}) for key in keys]
    return carry_out(*calls)


def _assign(transcript: Transcript, which: str, who: str) -> Script:
    assignee = _listed(transcript, "assignee", who.rstrip("."))
    if not assignee:
        return f"To whom? Nobody listed is called {quoted(who)}; please give the whole address."
    return (yield from _change(which, {"assignee": assignee}))


def _listed(transcript: Transcript, argument: str, said: str) -> str:
    """An address as it was said, or the one that is listed for a name."""
    if ADDRESS.fullmatch(said):
        return said
    offer = transcript.offer("update_jira_task")
    known = offer.choices(argument) if offer else ()
    alike = [one for one in known if one.casefold().partition("@")[0] == said.casefold()]
    return alike[0] if len(alike) == 1 else ""


def _status(transcript: Transcript, found: re.Match[str]) -> str:
    """The listed status that is meant. Of an issue that is named by its key any word is tried, so
    that a refusal is recorded."""
    offer = transcript.offer("update_jira_task")
    known = offer.choice("status", found["status"]) if offer else None
    return known or (found["status"].strip() if KEY.search(found["which"]) else "")


def _change(which: str, fields: Json) -> Script:
    issue = yield from named.item(which, "issue")
    if isinstance(issue, str):
        return issue
    key = issue.get("key") or issue["id"]
    return (yield from carry_out(act("update_jira_task", {"issue_key": key, **fields})))


def _level(text: str) -> str:
    found = (
        level for level, how in _LEVELS.items() if re.search(rf"\b(?:{how})\b", text, re.IGNORECASE)
    )
    return next(found, "")
