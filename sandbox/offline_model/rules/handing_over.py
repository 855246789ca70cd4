"""“I want to talk to a person”: handed over, with the request as the reason."""

import re

from sandbox.offline_model.transcript import Call, Reply, Transcript

_WISH = re.compile(
    r"\b(?:talk|speak|chat|hand (?:me|this|it)(?: over)?|pass (?:me|this|it)(?: on)?|escalate"
    r"(?: this| it)?|connect me|put me through)\s+(?:to|with)\s+(?:a |an |some|the |your )?"
    r"(?:real |human )?(?:person|human|somebody|someone|colleague|agent|operator|support)\b",
    re.IGNORECASE,
)
REASON = 500


def is_wish(request: str) -> bool:
    return _WISH.search(request) is not None


def next_reply(transcript: Transcript) -> Reply:
    if results := transcript.results_of("escalate"):
        return Reply(text=f"I could not hand this over. {results[-1].refusal}".strip())
    arguments = {"reason": f"The user asked for a person: {transcript.request[:REASON]}"}
    return Reply(calls=(Call(name="escalate", arguments=arguments),))
