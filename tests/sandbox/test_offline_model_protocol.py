"""The offline model speaks the protocol: through the `openai` package, over real HTTP."""

import json
import os
import socket
import subprocess
import sys
from typing import Any

import httpx
import pytest
from openai import OpenAI

from sandbox.offline_model.tokens import count
from tests.sandbox.dialogue import (
    MODEL,
    answered,
    assistant,
    calls_of,
    create,
    function,
    user,
)

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
        ["gmail", "outlook", "mailbox"]
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


def test_an_unknown_prompt_learns_what_this_is(client: OpenAI) -> None:
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


def test_the_models_are_listed(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["offline-rules", "offline-hash-384"]
    assert client.models.retrieve("offline-rules").owned_by == "offline-rules"


def test_the_page_and_health_say_that_it_is_no_language_model(client: OpenAI) -> None:
    origin = str(client.base_url).removesuffix("/v1/")
    assert "This is not a language model." in httpx.get(f"{origin}/").text
    assert httpx.get(f"{origin}/health").json() == {
        "status": "ok",
        "kind": "fixed rules, not a language model",
    }


def test_it_starts_without_django_and_openai() -> None:
    program = (
        "import sys, sandbox.offline_model.__main__\nprint({'django', 'openai'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (ran.stdout, ran.returncode) == ("set()\n", 0)


def test_a_bad_port_is_refused_with_a_sentence() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "sandbox.offline_model"],
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
        [sys.executable, "-m", "sandbox.offline_model"],
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
