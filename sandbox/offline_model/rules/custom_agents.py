"""“Ask the research agent which …”: the custom agent of that name, run with the task."""

import re

from sandbox.offline_model.language import quoted
from sandbox.offline_model.script import Script, call
from sandbox.offline_model.transcript import Json, Transcript, as_objects, as_text
from sandbox.offline_model.vectors import stem, words_of

_WISH = re.compile(
    r"(?:ask|let|have|use|run|frage?|lass)\s+(?:the\s+|our\s+|den\s+|die\s+)?"
    r"(?:(?:custom\s+)?agent(?:en)?\s+(?P<called>[\w-]+(?:\s[\w-]+)?)|"
    r"(?P<name>[\w -]{2,60}?)[\s-]agent(?:en)?)"
    r"(?:\s*[,:]|\s+(?:to|about|for|with|for help with|nach|über|zu))?\s*(?P<task>.*)",
    re.IGNORECASE | re.DOTALL,
)


def wish_in(request: str) -> tuple[str, str] | None:
    """Which agent is to be asked, and what; None when none is named."""
    found = _WISH.fullmatch(request.strip())
    if found is None:
        return None
    name = (found["called"] or found["name"]).strip()
    return name, found["task"].strip() or request.strip()


def script(transcript: Transcript, name: str, task: str) -> Script:
    if "run_public_agent" not in transcript.tools:
        return f"There is no custom agent “{quoted(name)}” that I may ask."
    [offered] = yield call("list_custom_agents", query=f"{name}: {task}"[:1000])
    if not offered.success:
        return f"I could not look for custom agents. {quoted(offered.refusal, limit=400)}"
    agents = as_objects(offered.data.get("agents"))
    agent = _called(name, agents)
    if agent is None:
        known = ", ".join(f"“{quoted(as_text(one.get('name')))}”" for one in agents)
        hint = f" There are: {known}." if known else ""
        return f"I found no custom agent “{quoted(name)}”.{hint}"
    [done] = yield call(
        "run_public_agent", agent_id=as_text(agent.get("agent_id")), query=task[:4000]
    )
    called = quoted(as_text(agent.get("name")))
    if not done.success:
        return f"The agent “{called}” did not answer. {quoted(done.refusal, limit=400)}"
    return f"The agent “{called}” says:\n{as_text(done.data.get('result')).strip()}"


def _called(name: str, agents: tuple[Json, ...]) -> Json | None:
    """The agent whose name has a word of the one that was said."""
    wanted = {stem(word) for word in words_of(name)}
    matching = [
        one for one in agents if wanted & {stem(w) for w in words_of(as_text(one.get("name")))}
    ]
    return matching[0] if matching else None
