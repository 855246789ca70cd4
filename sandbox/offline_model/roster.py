"""Which rule answers, by the first line of the system prompt."""

from collections.abc import Callable

from sandbox.offline_model.rules import (
    extractor,
    ingest,
    mail_reader,
    orchestrator,
    reply_drafts,
    reviewer,
    specialists,
    summaries,
    task_specialist,
)
from sandbox.offline_model.transcript import Reply, Transcript

Rule = Callable[[Transcript], Reply]

AGENTS: tuple[tuple[str, Rule], ...] = (
    ("You are Remit's orchestrator.", orchestrator.next_reply),
    ("You are Remit's task specialist.", task_specialist.next_reply),
    ("You are Remit's email specialist.", specialists.next_reply),
    ("You are Remit's document specialist.", specialists.next_reply),
    ("You are Remit's custom agent ", specialists.next_reply),
    ("You are Remit's mail reader.", mail_reader.next_reply),
    ("You are Remit's reviewer.", reviewer.review),
    ("You extract tasks.", extractor.extract),
    ("You summarise a document.", summaries.summarise),
    ("You summarise a mail thread.", summaries.summarise),
    ("You draft a reply.", reply_drafts.draft),
    ("You summarise an item and list its entities.", ingest.describe),
)
UNKNOWN = (
    "This is the offline stand-in. It follows fixed rules for the agents of Remit, is not a "
    "language model, and has no rule for this prompt."
)


def next_reply(transcript: Transcript) -> Reply:
    """The answer of the agent that the prompt names; UNKNOWN for any other prompt."""
    for first_line, rule in AGENTS:
        if transcript.system.startswith(first_line):
            return rule(transcript)
    return Reply(text=UNKNOWN)
