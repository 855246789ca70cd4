"""The offline model speaks the protocol: through the `openai` package, over real HTTP."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI

from integrations.sandbox.offline_model.tokens import count
from tests.integrations.sandbox.dialogue import MODEL, calls_of, function, offline_client

ORCHESTRATOR = "You are Remit's orchestrator.\nAnswer in JSON or text."
QUESTION = [
    {"role": "system", "content": ORCHESTRATOR},
    {"role": "user", "content": "Which mails and issues mention the portal?"},
]
HELP = [
    {"role": "system", "content": ORCHESTRATOR},
    {"role": "user", "content": "What can you do?"},
]
SEARCH = [function("retrieve_context")]


@pytest.fixture(scope="module")
def client() -> Iterator[OpenAI]:
    with offline_client() as client:
        yield client


def create(client: OpenAI, messages: list[Any], **options: Any) -> Any:
    return client.chat.completions.create(model=MODEL, messages=messages, **options)


def called(identity: str, name: str = "retrieve_context") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}


def answered(identity: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "{}"}


def assistant(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [called(i) for i in ids]}


def user(text: str = "Hello") -> dict[str, Any]:
    return {"role": "user", "content": text}


def streamed(client: OpenAI, messages: list[Any], **options: Any) -> dict[str, Any]:
    """What a client puts together from a stream."""
    text: list[str] = []
    calls: dict[int, list[str]] = {}
    ids, finish, usage = set(), None, None
    for chunk in create(client, messages, stream=True, **options):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            text.append(choice.delta.content or "")
            for part in choice.delta.tool_calls or ():
                call = calls.setdefault(part.index, ["", ""])
                ids.update({part.id} - {None})
                call[0] += part.function.name or ""
                call[1] += part.function.arguments or ""
    return {
        "text": "".join(text),
        "calls": [(name, json.loads(arguments)) for name, arguments in calls.values()],
        "ids": len(ids),
        "finish": finish,
        "usage": usage,
    }


@pytest.mark.parametrize(
    ("messages", "tools"), [(HELP, None), (QUESTION, SEARCH)], ids=["text", "tool calls"]
)
def test_streaming_equals_not_streaming(
    client: OpenAI, messages: list[Any], tools: list[Any] | None
) -> None:
    options: dict[str, Any] = {"tools": tools} if tools else {}
    whole = create(client, messages, **options)
    parts = streamed(client, messages, stream_options={"include_usage": True}, **options)
    message = whole.choices[0].message
    assert parts == {
        "text": message.content or "",
        "calls": calls_of(message),
        "ids": len(message.tool_calls or ()),
        "finish": whole.choices[0].finish_reason,
        "usage": whole.usage,
    }
    assert parts["finish"] == ("tool_calls" if tools else "stop")
    assert parts["ids"] == (2 if tools else 0)


def test_a_stream_tells_usage_only_when_asked(client: OpenAI) -> None:
    assert streamed(client, HELP)["usage"] is None


def test_a_stream_ends_with_done(client: OpenAI) -> None:
    body = {"model": MODEL, "messages": HELP, "stream": True}
    answer = httpx.post(
        f"{client.base_url}chat/completions", json=body, headers={"Authorization": "Bearer x"}
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("data: [DONE]\n\n")


def test_usage_follows_the_documented_token_rule(client: OpenAI) -> None:
    whole = create(client, [user("12345678"), {"role": "assistant", "content": "123"}, user("1")])
    text = whole.choices[0].message.content
    # 3 for the prompt; 4 a message; 8, 3 and 1 characters are 2, 1 and 1 tokens.
    assert whole.usage.prompt_tokens == 3 + (4 + 2) + (4 + 1) + (4 + 1)
    assert whole.usage.completion_tokens == count(text)
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + count(text)


def test_calls_results_and_tools_are_counted(client: OpenAI) -> None:
    plain = create(client, [user()]).usage.prompt_tokens
    with_tools = create(client, [user()], tools=SEARCH).usage.prompt_tokens
    with_call = create(client, [user(), assistant("a"), answered("a")]).usage.prompt_tokens
    # name of 16 characters and "{}": 4 + 4 + 1; the result "{}": 4 + 1.
    assert with_call - plain == 4 + (4 + 4 + 1) + (4 + 1)
    assert with_tools > plain


def test_the_token_limit_cuts_the_text_and_says_so(client: OpenAI) -> None:
    whole = create(client, HELP).choices[0].message.content
    cut = create(client, HELP, max_completion_tokens=5)
    assert cut.choices[0].finish_reason == "length"
    assert cut.choices[0].message.content == whole[:20]
    assert cut.usage.completion_tokens == 5


def test_a_call_over_the_token_limit_is_left_out(client: OpenAI) -> None:
    cut = create(client, QUESTION, tools=SEARCH, max_tokens=30)
    assert cut.choices[0].finish_reason == "length"
    assert len(cut.choices[0].message.tool_calls) == 1


def test_calls_come_one_at_a_time_when_asked(client: OpenAI) -> None:
    one = create(client, QUESTION, tools=SEARCH, parallel_tool_calls=False)
    assert [arguments["sources"] for _, arguments in calls_of(one.choices[0].message)] == [
        ["gmail"]
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"tools": SEARCH, "tool_choice": "none"}, {"tools": [function("other")]}],
    ids=["no tools", "tool_choice none", "another tool"],
)
def test_a_tool_that_is_not_offered_is_not_called(client: OpenAI, options: dict[str, Any]) -> None:
    choice = create(client, QUESTION, **options).choices[0]
    assert choice.message.tool_calls is None
    assert choice.message.content == (
        "I cannot go on: the next step needs retrieve_context, which I may not use now."
    )


def test_json_is_answered_where_json_is_asked_for(client: OpenAI) -> None:
    choice = create(client, HELP, response_format={"type": "json_object"}).choices[0]
    assert list(json.loads(choice.message.content)) == ["answer"]


def test_an_unknown_prompt_is_told_what_this_is(client: OpenAI) -> None:
    said = create(client, [user("Write a poem")]).choices[0].message.content
    assert "not a language model" in said


def test_the_same_messages_get_the_same_answer_with_new_ids(client: OpenAI) -> None:
    first, second = (create(client, QUESTION, tools=SEARCH).choices[0].message for _ in "12")
    assert calls_of(first) == calls_of(second)
    assert {c.id for c in first.tool_calls}.isdisjoint(c.id for c in second.tool_calls)


def test_text_parts_are_joined(client: OpenAI) -> None:
    parts = [{"type": "text", "text": "What can "}, {"type": "text", "text": "you do?"}]
    messages = [QUESTION[0], {"role": "user", "content": parts}]
    said = create(client, messages).choices[0].message.content
    assert said == create(client, HELP).choices[0].message.content


def test_an_answer_may_be_sent_back_unchanged(client: OpenAI) -> None:
    message = create(client, QUESTION, tools=SEARCH).choices[0].message
    results = [answered(call.id) for call in message.tool_calls]
    again = create(client, [*QUESTION, message.model_dump(), *results], tools=SEARCH)
    assert again.choices[0].finish_reason == "stop"


ONE_CALL_ONE_RESULT = "must be followed by tool messages"
BAD_MESSAGES: list[tuple[list[Any], str, str]] = [
    ([], "List should have at least 1 item", "messages"),
    (["Hello"], "Invalid value for 'messages[0]'", "messages[0]"),
    ([{"role": "robot", "content": "x"}], "Supported values are: 'system'", "messages[0].role"),
    ([{"content": "x"}], "Missing required parameter", "messages[0].role"),
    ([{"role": "user"}], "Missing required parameter", "messages[0].content"),
    ([{"role": "user", "content": None}], "Invalid value", "messages[0].content"),
    ([{"role": "user", "content": 7}], "Invalid value", "messages[0].content"),
    ([{"role": "user", "content": []}], "Invalid value", "messages[0].content"),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
        "Input should be 'text'",
        "messages[0].content[0].type",
    ),
    ([user() | {"colour": "red"}], "Unknown or unsupported", "messages[0].colour"),
    ([user(), {"role": "assistant", "content": None}], "got null", "messages[1].content"),
    (
        [user(), {"role": "assistant", "tool_calls": []}],
        "at least 1 item",
        "messages[1].tool_calls",
    ),
    ([user(), assistant("a")], ONE_CALL_ONE_RESULT, "messages[1].tool_calls"),
    (
        [user(), assistant("a", "b"), answered("a")],
        "did not have response messages: b",
        "messages[1].tool_calls",
    ),
    (
        [user(), assistant("a"), user(), answered("a")],
        ONE_CALL_ONE_RESULT,
        "messages[1].tool_calls",
    ),
    (
        [user(), assistant("a"), assistant("b"), answered("b")],
        ONE_CALL_ONE_RESULT,
        "messages[1].tool_calls",
    ),
    (
        [user(), assistant("a"), answered("a"), answered("a")],
        "has a response already",
        "messages[3].tool_call_id",
    ),
    ([user(), assistant("a"), answered("b")], "was not called", "messages[2].tool_call_id"),
    ([user(), answered("a")], "must be a response", "messages[1].role"),
    (
        [user(), assistant("a"), answered("a"), user(), answered("a")],
        "must be a response",
        "messages[4].role",
    ),
    ([user(), assistant("a", "a"), answered("a")], "an id of its own", "messages[1].tool_calls"),
    (
        [user(), assistant("a"), {"role": "tool", "content": "{}"}],
        "Missing required parameter",
        "messages[2].tool_call_id",
    ),
    (
        [user(), {"role": "assistant", "tool_calls": [called("a", "no spaces")]}, answered("a")],
        "should match pattern",
        "messages[1].tool_calls[0].function.name",
    ),
]


@pytest.mark.parametrize(("messages", "sentence", "param"), BAD_MESSAGES)
def test_a_bad_message_list_is_refused_as_the_real_api_does(
    client: OpenAI, messages: list[Any], sentence: str, param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        create(client, messages)
    assert sentence in refused.value.message
    assert (refused.value.param, refused.value.type) == (param, "invalid_request_error")


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"n": 2}, "n"),
    ({"stop": ["x"]}, "stop"),
    ({"temperature": 3}, "temperature"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"tools": []}, "tools"),
    ({"tools": [function("no spaces")]}, "tools[0].function.name"),
    ({"tool_choice": "auto"}, "tool_choice"),
    ({"tools": SEARCH, "tool_choice": "required"}, "tool_choice"),
    ({"parallel_tool_calls": True}, "parallel_tool_calls"),
    ({"response_format": {"type": "json_object"}}, "messages"),
    ({"response_format": {"type": "json_schema"}}, "response_format.type"),
    ({"stream_options": {"include_usage": True}}, "stream_options"),
    ({"extra_body": {"colour": "red"}}, "colour"),
]


@pytest.mark.parametrize(("options", "param"), BAD_OPTIONS)
def test_an_option_that_cannot_be_kept_is_refused(
    client: OpenAI, options: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        create(client, [user()], **options)
    assert refused.value.param == param


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"model": "offline-rules", "messages": "\\ud800"}', b"\xff"]
)
def test_a_body_that_is_no_json_object_is_refused(client: OpenAI, body: bytes) -> None:
    answer = httpx.post(
        f"{client.base_url}chat/completions", content=body, headers={"Authorization": "Bearer x"}
    )
    assert answer.status_code == 400
    assert list(answer.json()["error"]) == ["message", "type", "param", "code"]


def test_an_unknown_model_is_not_found(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "x"}])
    assert refused.value.code == "model_not_found"


def test_a_key_is_wanted_and_any_will_do(client: OpenAI) -> None:
    url = f"{client.base_url}models"
    assert httpx.get(url).status_code == 401
    assert httpx.get(url, headers={"Authorization": "Bearer anything"}).status_code == 200


def test_the_models_are_listed(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["offline-rules", "offline-hash-384"]
    assert client.models.retrieve("offline-rules").owned_by == "offline-rules"


def test_an_unknown_address_is_refused_in_the_same_shape(client: OpenAI) -> None:
    answer = httpx.get(f"{client.base_url}chat/completions")
    assert answer.status_code == 405
    assert answer.json()["error"]["message"] == "Invalid URL (GET /v1/chat/completions)"


def test_the_page_and_health_say_that_it_is_no_language_model(client: OpenAI) -> None:
    origin = str(client.base_url).removesuffix("/v1/")
    assert "This is not a language model." in httpx.get(f"{origin}/").text
    assert httpx.get(f"{origin}/health").json() == {
        "status": "ok",
        "kind": "fixed rules, not a language model",
    }


def test_it_starts_without_django_and_openai() -> None:
    program = (
        "import sys, integrations.sandbox.offline_model.__main__\n"
        "print({'django', 'openai'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (ran.stdout, ran.returncode) == ("set()\n", 0)


def test_a_bad_port_is_refused_with_a_sentence() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "integrations.sandbox.offline_model"],
        env={**os.environ, "MODEL_PORT": "0x"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.stderr == "MODEL_PORT must be a port from 1 to 65535, not '0x'.\n"
    assert ran.returncode == 2


def test_the_command_serves_on_the_port_it_is_given() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "integrations.sandbox.offline_model"],
        env={**os.environ, "MODEL_PORT": str(port)},
    )
    try:
        transport = httpx.HTTPTransport(retries=12)  # waits longer from one to the next
        with httpx.Client(transport=transport) as http:
            answer = http.get(f"http://127.0.0.1:{port}/health")
        assert answer.status_code == 200
    finally:
        server.terminate()
        server.wait()
