"""A rule as a script: it yields the calls it wants, gets their results, and returns its answer.

Nothing is kept between requests: the script is run again from its beginning with each of them, and
given the results that stand in the messages, until it wants a call that has none yet.
"""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from sandbox.offline_model.transcript import Call, Reply, Result, Transcript

Results = tuple[Result, ...]
Script = Generator[Reply, Results, str]


def call(name: str, /, **arguments: Any) -> Reply:
    """One call; arguments that say nothing are left out."""
    said = {
        key.rstrip("_"): value for key, value in arguments.items() if value not in (None, "", [])
    }
    return Reply(calls=(Call(name=name, arguments=said),))


def side_by_side(*replies: Reply) -> Reply:
    return Reply(calls=tuple(one for reply in replies for one in reply.calls))


def play(script: Script, transcript: Transcript) -> Reply:
    """The next step of a script: the calls that have no result yet, else its answer."""
    left = list(transcript.results)
    done: Results | None = None
    while True:
        try:
            wanted = next(script) if done is None else script.send(done)
        except StopIteration as end:
            return Reply(text=str(end.value))
        names = [one.name for one in wanted.calls]
        # Between them may stand what the server has called by itself.
        start = next((n for n, one in enumerate(left) if one.call.name in names), len(left))
        done = tuple(left[start : start + len(names)])
        left = left[start + len(names) :]
        if len(done) < len(names):
            return replace(wanted, calls=wanted.calls[len(done) :])


def follow(rule: Callable[[Transcript], Reply], transcript: Transcript) -> Script:
    """A rule that looks at all results since the request, as a part of a script."""
    done: Results = ()
    while True:
        reply = rule(replace(transcript, results=done))
        if not reply.calls:
            return reply.text
        done += yield reply
