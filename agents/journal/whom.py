"""Which of several people a name means, asked by Remit itself: the options are those that the
guardrails found, and one that the user presses counts as typed, as exactly that address."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from agents.contracts import StepRecord
from agents.journal.steps import ASK_USER
from agents.models import ToolCall
from integrations.llm.completions import Completion, RequestedCall
from integrations.web.languages import LANGUAGES, speaking

QUESTION = "Who do you mean by “%(name)s”?"
MOST_OPTIONS = 20  # of agents.tools.ask_user
ASKED_BY = "remit"  # in the place of a model


def ask(steps: Sequence[StepRecord], *, language: str) -> Completion | None:
    """The question, in the form of a model's answer, where a call of the last step was refused
    because the user's words may mean several people. None where nothing is to be asked."""
    for call in steps[-1].calls if steps else ():
        if said := _ambiguity(call.result):
            asked = {"question": _question(said, language), "options": _options(said)}
            return Completion(
                text="",
                calls=(RequestedCall(id="0", name=ASK_USER, arguments=json.dumps(asked)),),
                model=ASKED_BY,
                finish_reason="tool_calls",
            )
    return None


def address_of(question: str, option: str) -> str:
    """The address of the person whom this option of a question (the id of its call) offers. Empty
    where Remit did not ask exactly this: then an agent wrote it."""
    call = ToolCall.objects.filter(id=question, name=ASK_USER).first()
    if call is None:
        return ""
    try:
        asked = json.loads(call.arguments)
    except ValueError:
        return ""
    if not isinstance(asked, dict):
        return ""
    refused = ToolCall.objects.filter(turn=call.turn_id, result__ambiguity__isnull=False)
    for said in filter(None, (_ambiguity(one.result) for one in refused)):
        spoken = [_question(said, language) for language in LANGUAGES]
        options = _options(said)
        if asked.get("options") == options and asked.get("question") in spoken:
            return _address(option) if option in options else ""
    return ""


def _ambiguity(result: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What a refused call says of a name. No tool's own data stands there."""
    found = (result or {}).get("ambiguity")
    return found if isinstance(found, Mapping) else None


def _question(said: Mapping[str, Any], language: str) -> str:
    with speaking(language):
        return gettext(QUESTION) % {"name": said["name"]}


def _options(said: Mapping[str, Any]) -> list[str]:
    return [str(one) for one in said["people"]][:MOST_OPTIONS]


def _address(option: str) -> str:
    return option.rpartition("<")[2].removesuffix(">")
