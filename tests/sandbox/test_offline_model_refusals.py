"""What the offline model refuses, as strictly as the real API and in its shape."""

from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI

from tests.sandbox.dialogue import answered, assistant, called, create, function, user

SEARCH = [function("retrieve_context")]


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


def test_an_unknown_address_is_refused_in_the_same_shape(client: OpenAI) -> None:
    answer = httpx.get(f"{client.base_url}chat/completions")
    assert answer.status_code == 405
    assert answer.json()["error"]["message"] == "Invalid URL (GET /v1/chat/completions)"
