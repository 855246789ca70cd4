"""“You are Remit's document reader.”: into which listed folder a document that arrived belongs.

A folder fits where its name is a word of the title, or else of the text's beginning; of several
that fit, none. No instruction in the document is followed.
"""

import re

from sandbox.offline_model.language import quoted
from sandbox.offline_model.rules import outcomes
from sandbox.offline_model.rules.acting import act
from sandbox.offline_model.transcript import Reply, Transcript, as_object, as_text, marked_line

_WORD = re.compile(r"[^\W\d_]{3,}")
_BEGINNING = 400  # characters of the text


def next_reply(transcript: Transcript) -> Reply:
    item = as_object(marked_line(transcript.request, "item"))
    document_id, name = as_text(item.get("document_id")), as_text(item.get("name"))
    if not document_id:
        return Reply(text="I could not read the document, so I left it for the person.")
    offer = transcript.offer("move_document")
    folders = offer.choices("folder_id") if offer else ()
    beginning = as_text(item.get("text"))[:_BEGINNING]
    fitting = _fitting(folders, name) or _fitting(folders, beginning)
    if len(fitting) != 1:
        return Reply(text="No listed folder clearly fits this document, so I left it where it is.")
    params = {"document_id": document_id, "folder_id": fitting[0]}
    call = act("move_document", params, reason=f"It is about what {quoted(fitting[0])} holds.")
    if remaining := transcript.remaining((call,)):
        return Reply(calls=remaining)
    results = transcript.results_of("move_document")
    return Reply(text=" ".join(outcomes.describe_outcome(result) for result in results))


def _fitting(folders: tuple[str, ...], text: str) -> list[str]:
    """Those of which a word of the last part of the name is in the text, singular and plural
    alike."""
    words = {_stem(word) for word in _WORD.findall(text)}
    return [
        folder
        for folder in folders
        if words & {_stem(word) for word in _WORD.findall(folder.rpartition("/")[2])}
    ]


def _stem(word: str) -> str:
    return word.casefold().removesuffix("s")
