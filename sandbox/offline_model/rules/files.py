"""“Make a document “Notes” in /Meetings that says: …”, “Move “Brochure” to /Product”, “Share … with
…”, “Add the line “…” at the end of “…””, “Delete the document “…””."""

import re
from collections.abc import Callable

from sandbox.offline_model.language import ADDRESS
from sandbox.offline_model.rules import named
from sandbox.offline_model.rules.acting import UNSAID, act, carry_out, say_only
from sandbox.offline_model.script import Script
from sandbox.offline_model.transcript import Call, Json

_FLAGS = re.IGNORECASE | re.DOTALL
_FOLDER = re.compile(r"(?P<folder>/[\w/-]*\w)")
_DOCUMENT = r"(?:document|doc|dokument|documento)\b"
_CREATE = re.compile(
    rf"(?:make|create|write|add|lege?|erstelle?|crée[rz]?|crea)\b(?=[^“„«\"]*{_DOCUMENT})(?P<rest>.+)",
    _FLAGS,
)
_SAYS = re.compile(
    r"\b(?:that says|which says|saying|with the text|mit dem text|qui dit|avec le texte|"
    r"con el texto|que diga)\s*:?\s*(?P<text>.+)",
    _FLAGS,
)
_MORE = re.compile(r"\b(?:with|about|from|mit|avec|con|über|sur|sobre)\b", re.IGNORECASE)
_MOVE = re.compile(
    r"(?:move|put|verschiebe?|déplace|mueve)\s+(?P<which>.+?)\s+(?:to|into|nach|in|vers|dans|a)\s+"
    r"(?:the folder\s+)?(?P<folder>/[\w/ -]*\w)[.! ]*",
    _FLAGS,
)
_SHARE = re.compile(
    r"(?:share|teile?|partage[rz]?|comparte)\s+(?P<which>.+?)\s+(?:with|mit|avec|con)\s+(?P<who>.+)",
    _FLAGS,
)
_APPEND = re.compile(
    r"(?:add|append|ergänze|füge?|ajoute|añade)\s+(?:the\s+)?(?:line|text|sentence)?\s*"
    r"(?=[“„«\"])(?P<rest>.+)",
    _FLAGS,
)
_TRASH = re.compile(
    rf"(?:delete|trash|remove|lösche?|supprime[rz]?|borra|elimina)\s+(?:the|das|le|el)?\s*"
    rf"(?P<which>{_DOCUMENT}.*)",
    _FLAGS,
)


def script(request: str) -> Script | None:
    """The steps of such a command; None where the request is none."""
    titles = named.titles_in(request)
    if (found := _CREATE.fullmatch(request)) and titles:
        return _create(found["rest"], titles[0])
    if (found := _MOVE.fullmatch(request)) and titles:
        folder = found["folder"]
        return _on(found["which"], lambda one: act("move_document", one | {"folder_id": folder}))
    if (found := _SHARE.fullmatch(request)) and (people := ADDRESS.findall(found["who"])):
        return _on(found["which"], lambda one: act("share_document", one | {"email": people[0]}))
    if _APPEND.fullmatch(request) and len(titles) == 2:
        text, title = titles
        return _on(f"“{title}”", lambda one: act("append_document", one | {"content": text}))
    if found := _TRASH.fullmatch(request):
        return _on(found["which"], lambda one: act("trash_document", one))
    return None


def _create(rest: str, title: str) -> Script:
    outside = named.without_titles(rest)
    folder, says = _FOLDER.search(outside), _SAYS.search(rest)
    if folder is None:
        return say_only("In which folder? Please name it, such as /Meetings.")
    if says is None and _MORE.search(outside[folder.end() :]):
        return say_only(f"I can make that document, but not write what stands in it. {UNSAID}")
    params: Json = {"name": title, "folder_id": folder["folder"].strip()}
    if says:
        params["content"] = says["text"].strip()
    return carry_out(act("create_document", params))


def _on(which: str, call_for: Callable[[Json], Call]) -> Script:
    document = yield from named.item(which, "document")
    if isinstance(document, str):
        return document
    return (yield from carry_out(call_for({"document_id": document["id"]})))
