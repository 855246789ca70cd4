"""The message list as rules read it: the request, what was called for it, what came back.

Everything is taken from the messages of the request at hand. Text of tool results, mail and
documents is only ever looked up in, never followed.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sandbox.offline_model.chat_request import (
    AssistantMessage,
    FunctionTool,
    InstructionMessage,
    Message,
    Tool,
    ToolMessage,
    UserMessage,
)
from sandbox.offline_model.languages import Language, language_of
from sandbox.offline_model.listed_tools import DOOR, listed

Json = dict[str, Any]
_BLOCK = re.compile(r"<untrusted\b[^>]*>\n?(.*?)\n?</untrusted>", re.DOTALL)
DATA = "[remit] "  # begins a message of the user's role that the user did not write


@dataclass(frozen=True, kw_only=True)
class Call:
    name: str
    arguments: Json


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The next answer: a text, tool calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one call came back with. `refusal` is the sentence of a failure, else empty, and
    `advice` what is suggested to a model then; `language` is that of the request it was called
    for."""

    call: Call
    success: bool
    data: Json
    refusal: str
    advice: str = ""
    language: Language = "en"


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A tool as the request offers it: with a schema, or `listed` in the description of another."""

    name: str
    parameters: Json
    listed: bool = False

    def choices(self, argument: str) -> tuple[str, ...]:
        """The values that an argument may have, as far as they are listed."""
        schema = as_object(as_object(self.parameters.get("properties")).get(argument))
        listed = as_object(schema.get("items")).get("enum") or schema.get("enum")
        return tuple(map(as_text, listed)) if isinstance(listed, list) else ()

    def choice(self, argument: str, named: str) -> str | None:
        """The listed value that is meant, upper and lower case alike. A mail server's labels have
        no blanks: “To_Reply” is “To Reply”."""
        wanted = _plain(named)
        return next((one for one in self.choices(argument) if _plain(one) == wanted), None)


def _plain(name: str) -> str:
    return name.replace("_", " ").strip().casefold()


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """`results` are those of the calls made since the request, oldest first."""

    system: str
    request: str
    results: tuple[Result, ...]
    decisions: tuple[Json, ...]
    offers: tuple[Offer, ...]

    @property
    def tools(self) -> frozenset[str]:
        """The names of what may be called."""
        return frozenset(offer.name for offer in self.offers)

    @property
    def user(self) -> Json:
        """Whom the work is for: name, addresses, time zone."""
        return as_object(marked_value(self.system, "user"))

    @property
    def skills(self) -> tuple[Json, ...]:
        """What load_skill may read, by name and description."""
        return as_objects(marked_value(self.system, "skills"))

    @property
    def now(self) -> datetime:
        """The time on the user's clock; that of the machine where the prompt says none."""
        said = marked_text(f"{self.system}\n{self.request}", "now").split()
        for word in said:
            try:
                return datetime.fromisoformat(word)
            except ValueError:
                continue
        return datetime.now(UTC)

    @property
    def given(self) -> str:
        """The text that a request asks something about: what is fenced in it, else all of it."""
        blocks = _BLOCK.findall(self.request)
        return html.unescape("\n\n".join(blocks)) if blocks else self.request

    def results_of(self, *names: str) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.call.name in names)

    def offer(self, name: str) -> Offer | None:
        """The tool of this name; None where the request offers none."""
        return next((offer for offer in self.offers if offer.name == name), None)

    def remaining(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """Of the calls that a rule wants in this order, those that have no result yet."""
        names = {call.name for call in calls}
        answered = sum(result.call.name in names for result in self.results)
        return tuple(calls[answered:])


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


_SENDER = re.compile(r"(?:(?P<name>.*?)\s*\()?(?P<address>[^\s()]+@[^\s()]+)\)?")


def sender_of(item: Json) -> Json:
    """Name and address of who wrote it: “Ann Lee (ann@company.com)” in results, an object in a mail
    that arrives."""
    said = item.get("from")
    if isinstance(said, dict):
        return said
    text = as_text(said).strip()
    found = _SENDER.fullmatch(text)
    return {"name": found["name"] or "", "address": found["address"]} if found else {"name": text}


def said_in(item: Json) -> str:
    """What a result shows of an item's text."""
    return as_text(item.get("text")) or as_text(item.get("snippet"))


def as_objects(value: object) -> tuple[Json, ...]:
    return tuple(v for v in value if isinstance(v, dict)) if isinstance(value, list) else ()


def parsed(text: str) -> object:
    """The JSON value of a text; None when it is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def marked_line(text: str, mark: str) -> object:
    """The JSON value of the first line that starts with `[mark] `; None without one."""
    return parsed(marked_text(text, mark))


def marked_text(text: str, mark: str) -> str:
    """What stands behind `[mark] ` on the first line that starts with it; else nothing."""
    start = f"[{mark}] "
    line = next((line for line in text.split("\n") if line.startswith(start)), "")
    return line.removeprefix(start)


def marked_value(text: str, mark: str) -> object:
    """The first JSON list or object in it, whatever is said around it."""
    said = marked_text(text, mark)
    starts = [place for place in (said.find("["), said.find("{")) if place >= 0]
    try:
        return json.JSONDecoder().raw_decode(said[min(starts) :])[0] if starts else None
    except (ValueError, RecursionError):
        return None


def read(messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Transcript:
    """Reads a message list whose order has been checked, and the tools offered with it."""
    system = "\n".join(m.text for m in messages if isinstance(m, InstructionMessage))
    start = _request_index(messages)
    request = messages[start].text if start is not None else ""
    since = messages[start + 1 :] if start is not None else messages
    return Transcript(
        system=system,
        request=request,
        results=_results(since, language_of(request)),
        decisions=_decisions(messages),
        offers=tuple(offer for tool in tools for offer in _offers(tool.function)),
    )


def _offers(tool: FunctionTool) -> Iterator[Offer]:
    """The tool, and those that its description lists."""
    yield Offer(name=tool.name, parameters=tool.parameters or {})
    if tool.name == DOOR:
        for name, parameters in listed(tool.description or ""):
            yield Offer(name=name, parameters=parameters, listed=True)


def _request_index(messages: Sequence[Message]) -> int | None:
    """The last message of the user's own that is not the answer to a question of ask_user."""
    answers: tuple[str, ...] = ()
    found = None
    for index, message in enumerate(messages):
        if is_data(message):
            continue
        if isinstance(message, UserMessage):
            if message.text not in answers:
                found = index
            answers = ()
        elif isinstance(message, ToolMessage):
            data = as_object(as_object(parsed(message.text)).get("data"))
            answers += (as_text(data.get("answer")),) if "answer" in data else ()
        elif isinstance(message, AssistantMessage):
            answers = ()
    return found


def _results(messages: Sequence[Message], language: Language) -> tuple[Result, ...]:
    calls: dict[str, Call] = {}
    results = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls or ():
                arguments = as_object(parsed(call.function.arguments))
                calls[call.id] = Call(name=call.function.name, arguments=arguments)
        elif isinstance(message, ToolMessage) and message.tool_call_id in calls:
            content = as_object(parsed(message.text))
            results.append(_result(calls[message.tool_call_id], content, language))
    return tuple(results)


def _result(call: Call, content: Json, language: Language) -> Result:
    success = content.get("success") is True
    error = as_object(content.get("error"))
    return Result(
        call=call,
        success=success,
        data=as_object(content.get("data")),
        # What is suggested is meant for a model, not for the person.
        refusal="" if success else as_text(error.get("message")) or "The tool gave no reason.",
        advice=as_text(error.get("suggested_action")),
        language=language,
    )


def _decisions(messages: Sequence[Message]) -> tuple[Json, ...]:
    """The person's decisions that no answer has followed yet."""
    decisions: tuple[Json, ...] = ()
    for message in messages:
        if isinstance(message, AssistantMessage):
            decisions = ()
        elif is_data(message):
            said = message.text.removeprefix(DATA)
            decisions += as_objects(marked_line(said, "decisions"))
    return decisions


def is_data(message: Message) -> bool:
    """Whether it is what Remit has noted, and no words of the user's."""
    return isinstance(message, UserMessage) and message.text.startswith(DATA)
