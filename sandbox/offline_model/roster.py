"""Which rule answers, by the first line of the system prompt."""

from collections.abc import Callable
from dataclasses import replace

from sandbox.offline_model.listed_tools import DOOR
from sandbox.offline_model.rules import (
    document_reader,
    event_reader,
    extractor,
    ingest,
    issue_reader,
    mail_reader,
    orchestrator,
    reply_drafts,
    reviewer,
    specialists,
    summaries,
    task_specialist,
)
from sandbox.offline_model.transcript import Call, Reply, Transcript

Rule = Callable[[Transcript], Reply]

AGENTS: tuple[tuple[str, Rule], ...] = (
    ("You are Remit's orchestrator.", orchestrator.next_reply),
    ("You are Remit's task specialist.", task_specialist.next_reply),
    ("You are Remit's email specialist.", specialists.next_reply),
    ("You are Remit's document specialist.", specialists.next_reply),
    ("You are Remit's custom agent ", specialists.next_reply),
    ("You are Remit's mail reader.", mail_reader.next_reply),
    ("You are Remit's document reader.", document_reader.next_reply),
    ("You are Remit's event reader.", event_reader.next_reply),
    ("You are Remit's issue reader.", issue_reader.next_reply),
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
            return _through_door(rule(transcript), transcript)
    return Reply(text=UNKNOWN)


def _through_door(reply: Reply, transcript: Transcript) -> Reply:
    """What the request has no schema of is called through the tool that lists it."""
    whole = {offer.name for offer in transcript.offers if not offer.listed}
    if DOOR not in whole:
        return reply
    calls = (
        call
        if call.name in whole
        else Call(name=DOOR, arguments={"name": call.name, "arguments": call.arguments})
        for call in reply.calls
    )
    return replace(reply, calls=tuple(calls))
