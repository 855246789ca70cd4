"""A request in the form that one model's endpoint takes, by its profile. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from integrations.llm.json_protocol import MARK
from integrations.llm.profiles import Profile

Wire = dict[str, Any]


def settings_for(profile: Profile, request: Mapping[str, Any]) -> Wire:
    """What of the request is another for this model."""
    changed: Wire = {}
    if profile.temperature is not None:
        changed["temperature"] = profile.temperature
    if profile.reasoning_effort:
        changed["reasoning_effort"] = profile.reasoning_effort
    asked = request.get("max_completion_tokens", 0)
    answer_tokens = profile.answer_tokens or asked
    if answer_tokens and answer_tokens + profile.thinking_tokens != asked:
        changed["max_completion_tokens"] = answer_tokens + profile.thinking_tokens
    if profile.system_messages == "first" and profile.protocol == "tools":
        changed["messages"] = join_user(map_later_system(request["messages"]))
    return changed


def map_later_system(messages: Sequence[Wire]) -> Iterable[Wire]:
    """System messages behind the first as the user's, marked as nobody's words but Remit's. The
    mark is Remit's where a message begins with it, and elsewhere written with other brackets."""
    for place, message in enumerate(messages):
        if message["role"] == "system" and place:
            yield {"role": "user", "content": f"{MARK} {message['content']}"}
        elif message["role"] == "user":
            said = message["content"]
            begin = MARK if said.startswith(MARK) else ""
            rest = said.removeprefix(MARK).replace(MARK, "(remit)")
            yield message | {"content": f"{begin}{rest}"}
        else:
            yield message


def join_user(messages: Iterable[Wire]) -> list[Wire]:
    """Messages of a user that follow each other as one: strict templates want turns."""
    merged: list[Wire] = []
    for message in messages:
        if merged and message["role"] == merged[-1]["role"] == "user":
            both = f"{merged[-1]['content']}\n\n{message['content']}"
            merged[-1] = {"role": "user", "content": both}
        else:
            merged.append(message)
    return merged
