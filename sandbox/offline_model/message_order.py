"""What the real API demands of the order of messages: calls and results stay together."""

from collections.abc import Sequence

from sandbox.offline_model.chat_request import AssistantMessage, Message, ToolMessage
from sandbox.offline_model.errors import ApiError


def check(messages: Sequence[Message]) -> None:
    """Every tool call has exactly one result, before any other message. Raises ApiError."""
    waiting: list[str] = []
    answered: set[str] = set()
    caller = 0
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            _take(message, index=index, waiting=waiting, answered=answered)
            continue
        _refuse_unanswered(waiting, caller=caller)
        answered = set()
        if isinstance(message, AssistantMessage):
            waiting, caller = _calls_of(message, index=index), index
    _refuse_unanswered(waiting, caller=caller)


def _take(message: ToolMessage, *, index: int, waiting: list[str], answered: set[str]) -> None:
    if not waiting and not answered:
        raise ApiError(
            "Messages with role 'tool' must be a response to a preceding message "
            "with 'tool_calls'.",
            param=f"messages[{index}].role",
        )
    if message.tool_call_id not in waiting:
        reason = "has a response already" if message.tool_call_id in answered else "was not called"
        raise ApiError(
            f"The tool_call_id '{message.tool_call_id}' {reason}.",
            param=f"messages[{index}].tool_call_id",
        )
    waiting.remove(message.tool_call_id)
    answered.add(message.tool_call_id)


def _refuse_unanswered(waiting: Sequence[str], *, caller: int) -> None:
    if waiting:
        raise ApiError(
            "An assistant message with 'tool_calls' must be followed by tool messages "
            "responding to each 'tool_call_id'. The following tool_call_ids did not have "
            f"response messages: {', '.join(waiting)}",
            param=f"messages[{caller}].tool_calls",
        )


def _calls_of(message: AssistantMessage, *, index: int) -> list[str]:
    if message.content is None and message.tool_calls is None:
        raise ApiError(
            "Invalid value for 'content': expected a string, got null.",
            param=f"messages[{index}].content",
        )
    ids = [call.id for call in message.tool_calls or ()]
    if len(set(ids)) != len(ids):
        raise ApiError(
            "Each tool call of a message needs an id of its own.",
            param=f"messages[{index}].tool_calls",
        )
    return ids
