"""What the rules for commands share: an action as a call, and what came of several."""

from sandbox.offline_model.rules import outcomes
from sandbox.offline_model.script import Script
from sandbox.offline_model.transcript import Call, Json, Reply

UNSAID = (
    "I write only what is dictated to me: give the words themselves, with “saying …” or after a "
    "colon."
)


def act(action_type: str, params: Json, *, reason: str = "The user asked for it.") -> Call:
    """The tool that is named after the action."""
    return Call(name=action_type, arguments=params | {"reason": reason})


def carry_out(*calls: Call) -> Script:
    """Make these calls side by side and say what came of each. One that nothing is named after is
    made all the same: then its refusal is recorded."""
    results = yield Reply(calls=calls)
    return "\n".join(outcomes.describe_outcome(result) for result in results)


def say_only(sentence: str) -> Script:
    """An answer, and nothing done for it."""
    yield from ()
    return sentence
