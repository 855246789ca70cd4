"""A request of several steps: a plan, each step by the rule that it belongs to, and one answer.

“Find the invoice from CloudNest, then label it as Invoices and draft a reply to Anna's mail.”
"""

import re
from collections.abc import Callable, Sequence

from sandbox.offline_model.language import first_upper, one_line, shortened
from sandbox.offline_model.script import Script, call
from sandbox.offline_model.transcript import Reply, Transcript

MOST_STEPS = 6
REVIEWED = 3  # steps from which the work is reviewed before the answer
DESCRIPTION = 200
_VERBS = (
    "archive|label|tag|mark|classify|draft|write|prepare|send|create|add|open|file|make|find|show|"
    "search|list|look|tell|summari[sz]e|count|ask|schedule|move|handle|check|which|what|who|when|"
    "set|put|enter|assign|comment|share|forward|invite|cancel|delete|"
    "how many|how much|archiviere|entwirf|schreibe|sende|erstelle|finde|zeige?|suche|liste|nenne|"
    "fasse|zähle|frage?|plane|prüfe|welche[rs]?|was|wer|wann|wie viele?"
)
_BETWEEN = re.compile(
    rf"\s*(?:[,;.]?\s*\b(?:and then|then|after that|afterwards|und dann|dann|danach|anschließend)\b"
    rf"[\s,:]*|[,;.]?\s*\b(?:and|und|also|außerdem)\s+(?:please\s+|bitte\s+|also\s+)?(?=(?:{_VERBS})\b)|"
    rf"[;.]\s+(?:please\s+|bitte\s+)?(?=(?:{_VERBS})\b)|\n\s*(?:\d{{1,2}}[.)]|[-*•])\s+)",
    re.IGNORECASE,
)
_VERB = re.compile(rf"(?:please\s+|bitte\s+)?(?:{_VERBS})\b", re.IGNORECASE)
_SAID = re.compile(r"\bsaying\b|:\s|[“”\"„]", re.IGNORECASE)
Work = Callable[[Transcript, str], Script]


def steps_in(request: str) -> list[str]:
    """The steps that it asks for, in order; none where it is one request. What is to be said or
    written stays whole: a text that is dictated may hold anything."""
    said = _SAID.search(request)
    asked, dictated = (
        (request, "") if said is None else (request[: said.start()], request[said.start() :])
    )
    parts = [
        part.strip(" ,;.")
        for part in _BETWEEN.split(re.sub(r"\A\s*(?:\d{1,2}[.)]|[-*•])\s+", "", asked))
    ]
    parts = [part for part in parts if part]
    if len(parts) < 2 or not all(_VERB.match(part) for part in parts[1:]):
        return []
    parts[-1] += dictated
    return parts[:MOST_STEPS]


def script(transcript: Transcript, steps: Sequence[str], work: Work) -> Script:
    """Plan, do one step after another, and say what came of each. A step that asks the user
    something is asked with what it is for; the plan goes on with the answer."""
    planned = "toDoWrite" in transcript.tools
    if planned:
        yield _plan(transcript.request, steps)
    said: list[str] = []
    for number, step in enumerate(steps, start=1):
        answer = yield from work(transcript, step)
        said.append(answer)
        if planned:
            result = shortened(one_line(answer), limit=DESCRIPTION)
            yield call("toDoWrite", action="complete", ids=[f"s{number}"], result=result)
    if len(steps) >= REVIEWED and "review_results" in transcript.tools:
        yield call("review_results", concern="Whether each step of the plan has its result.")
    heads = (
        f"{number}. {first_upper(one_line(step))}" for number, step in enumerate(steps, start=1)
    )
    return "\n\n".join(f"{head}\n{answer}" for head, answer in zip(heads, said, strict=True))


def _plan(request: str, steps: Sequence[str]) -> Reply:
    described = [
        {"id": f"s{number}", "description": shortened(one_line(step), limit=DESCRIPTION)}
        | ({"depends_on": [f"s{number - 1}"]} if number > 1 else {})
        for number, step in enumerate(steps, start=1)
    ]
    goal = {
        "id": "g1",
        "description": shortened(one_line(request), limit=DESCRIPTION),
        "steps": described,
    }
    return call(
        "toDoWrite", action="create", request=shortened(one_line(request), limit=500), goals=[goal]
    )
