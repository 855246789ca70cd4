"""“You are Remit's email specialist.”, document specialist, custom agents: the task in hand, by the
same rules, with what was given."""

import re

from sandbox.offline_model.language import quoted
from sandbox.offline_model.rules import commands, questions, summaries
from sandbox.offline_model.rules.task_specialist import context_text
from sandbox.offline_model.script import Script, call, play
from sandbox.offline_model.transcript import Reply, Transcript, as_text

_TASK = re.compile(r"^Task: (?P<task>.*?)(?:\n\nAvailable context:|\Z)", re.DOTALL | re.MULTILINE)
_GIVEN = re.compile(r'<untrusted id="(?P<id>[^"]+)">\n.*?Cite as: \[(?P<n>\d+)\]', re.DOTALL)
_SUMMARISE = re.compile(r"\b(?:summari[sz]e|sum up|what does .{0,80} say|fasse?)\b", re.IGNORECASE)
_REPLY = re.compile(r"\b(?:draft|write|prepare)\b.{0,20}\b(?:reply|answer)\b", re.IGNORECASE)
_SAYING = re.compile(r"\bsaying:?\s+(?:that\s+)?(?P<points>.+)", re.IGNORECASE | re.DOTALL)


def next_reply(transcript: Transcript) -> Reply:
    return play(script(transcript), transcript)


def script(transcript: Transcript) -> Script:
    """A draft or a summary of what was given; an action; else an answer."""
    found = _TASK.search(transcript.request)
    task = found["task"].strip() if found else transcript.request.strip()
    given = _GIVEN.search(transcript.request)
    if given and _REPLY.search(task) and "draft_reply" in transcript.tools:
        points = _SAYING.search(task)
        [done] = yield call(
            "draft_reply", item_id=given["id"], points=points["points"].strip() if points else ""
        )
        status = as_text(done.data.get("status")) or "drafted"
        return f"The reply is {status}." if done.success else f"Refused: {quoted(done.refusal)}"
    if given and _SUMMARISE.search(task):
        tool = next(
            (t for t in ("summarise_document", "summarise_thread") if t in transcript.tools), ""
        )
        if tool:
            [done] = yield call(tool, item_id=given["id"], focus=task[:300])
            if done.success:
                return f"{quoted(as_text(done.data.get('summary')), limit=1200)} [{given['n']}]"
        return f"{summaries.summary(context_text(transcript.request))} [{given['n']}]"
    if command := commands.script(transcript, task):
        return (yield from command)
    return (yield from questions.script(transcript, task))
