"""One run of an agent against the offline model, through the `openai` package."""

import json
from collections.abc import Sequence
from typing import Any

from openai import OpenAI
from openai.types.chat import ChatCompletionMessage

MODEL = "offline-rules"
Json = dict[str, Any]
NO_SENDER: Json = {"from": None}


def function(name: str, **listed: Sequence[str]) -> Json:
    """A tool, with the values that some of its arguments may have."""
    properties = {one: {"type": "string", "enum": list(values)} for one, values in listed.items()}
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def create(client: OpenAI, messages: list[Any], **options: Any) -> Any:
    return client.chat.completions.create(model=MODEL, messages=messages, **options)


def called(identity: str, name: str = "retrieve_context") -> Json:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}


def answered(identity: str) -> Json:
    return {"role": "tool", "tool_call_id": identity, "content": "{}"}


def assistant(*ids: str) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": [called(i) for i in ids]}


def user(text: str = "Hello") -> Json:
    return {"role": "user", "content": text}


class Dialogue:
    """Keeps the message list as an agent would; the model is asked anew with all of it."""

    def __init__(self, client: OpenAI, *, system: str, tools: Sequence[str | Json] = ()) -> None:
        self._client = client
        self._tools = [one if isinstance(one, dict) else function(one) for one in tools]
        self.messages: list[Any] = [{"role": "system", "content": system}]

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def decided(self, *decisions: Json) -> None:
        content = f"[remit] [decisions] {json.dumps(decisions)}"
        self.messages.append({"role": "user", "content": content})

    def answers(self, **options: Any) -> ChatCompletionMessage:
        """The model's next message, kept in the list as it came."""
        if self._tools:
            options["tools"] = self._tools
        completion = self._client.chat.completions.create(
            model=MODEL, messages=self.messages, **options
        )
        message: ChatCompletionMessage = completion.choices[0].message
        kept = message.model_dump(exclude_none=True)
        for call in kept.get("tool_calls", ()):
            through_door(call["function"])
        self.messages.append(kept)
        return message

    def calls(self, **options: Any) -> list[tuple[str, Json]]:
        """The tool calls of the model's next message: names with arguments."""
        return calls_of(self.answers(**options))

    def says(self, **options: Any) -> str:
        """The text of the model's next message, which must call nothing."""
        message = self.answers(**options)
        assert not message.tool_calls
        return message.content or ""

    def returns(self, *contents: Json) -> None:
        """The results of the last message's calls, in their order."""
        for call, content in zip(self.messages[-1]["tool_calls"], contents, strict=True):
            self.messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(content)}
            )


def through_door(function: Json) -> None:
    """A call of use_tool is kept as one of the tool that it names, as Remit does."""
    if function["name"] == "use_tool":
        given = json.loads(function["arguments"])
        function |= {"name": given["name"], "arguments": json.dumps(given["arguments"])}


def calls_of(message: ChatCompletionMessage) -> list[tuple[str, Json]]:
    return [
        (call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or ()
        if call.type == "function"
    ]


def success(**data: Any) -> Json:
    return {"success": True, "data": data, "untrusted": True}


def refusal(message: str, *, code: str = "PERMISSION_DENIED") -> Json:
    error = {"code": code, "message": message, "recoverable": False, "suggested_action": ""}
    return {"success": False, "error": error}


def decision(what: str, key: str = "", **fields: Any) -> Json:
    return {
        "id": f"act_{key}",
        "type": "create_jira_task",
        "description": f"Create a task in PROJ: “{what}”",
        "decision": "confirmed",
        "status": "succeeded",
        "result": {"task_key": key, "url": "http://jira"},
        "sentence": "",
    } | fields


def found(*items: Json) -> Json:
    return success(items=list(items))


def item(n: int, title: str, snippet: Any = "", **fields: Any) -> Json:
    return {
        "n": n,
        "id": f"item-{n}",
        "type": "email",
        "title": title,
        "snippet": snippet,
        "from": "Acme Post (post@acme.example)",
        "date": "2026-11-17T09:14:00+01:00",
    } | fields


def action(description: str, status: str) -> Json:
    return success(status=status, id="a", description=description)


def execution(action_type: str, params: Json) -> tuple[str, Json]:
    return (action_type, params | {"reason": "The user asked for it."})
