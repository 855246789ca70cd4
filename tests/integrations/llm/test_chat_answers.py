"""What is read of an answer, over real HTTP: odd ones are read or refused, never lost."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from openai import Timeout

from integrations.llm import chat_answers
from integrations.llm.attempts import Client
from integrations.llm.completions import Completion, Listener, ModelError, RequestedCall

REQUEST: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TIMEOUT = Timeout(10)
USED = {"prompt_tokens": 10, "completion_tokens": 5}


@contextmanager
def endpoint(
    body: bytes, content_type: str, heard: list[dict[str, str]] | None = None
) -> Iterator[Client]:
    """A client of an endpoint that answers everything with `body`; `heard` takes in the headers of
    what was asked."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if heard is not None:
                heard.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            with Client(api_key="k", base_url=url) as client:
                yield client
        finally:
            server.shutdown()


def whole(body: Any, content_type: str = "application/json") -> Completion:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with endpoint(raw, content_type) as client:
        return chat_answers.whole(client, REQUEST, timeout=TIMEOUT)


def streamed(*chunks: Any) -> tuple[Completion, list[str]]:
    lines = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in chunks]
    body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
    heard: list[str] = []
    with endpoint(body, "text/event-stream") as client:
        listener = Listener(on_text=heard.append, on_restart=heard.clear)
        return chat_answers.streamed(client, REQUEST, listener, timeout=TIMEOUT), heard


def choice(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": USED}


def part(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


def test_the_endpoint_hears_who_asks_and_nothing_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: bank")
    heard: list[dict[str, str]] = []
    body = json.dumps(choice(content="Yes.")).encode()

    with endpoint(body, "application/json", heard) as client:
        chat_answers.whole(client, REQUEST, timeout=TIMEOUT)

    [said] = heard
    assert said["authorization"] == "Bearer k"
    assert (said["openai-organization"], said["openai-project"]) == ("org-1", "proj-1")
    assert (said["x-team"], said["content-type"]) == ("bank", "application/json")
    assert said["user-agent"].startswith("OpenAI/Python ")
    assert [name for name in said if name.startswith("x-stainless")] == ["x-stainless-read-timeout"]


def test_an_answer_is_its_text_its_calls_and_what_it_used() -> None:
    used = USED | {"prompt_tokens_details": {"cached_tokens": 4}}
    answer = whole(choice(content="Yes.", tool_calls=[CALL]) | {"model": "m-2026", "usage": used})
    assert (answer.text, answer.model, answer.finish_reason) == ("Yes.", "m-2026", "stop")
    assert answer.calls == (RequestedCall(id="c1", name="look", arguments="{}"),)
    assert (answer.usage.prompt_tokens, answer.usage.cached_tokens) == (10, 4)
    assert answer.usage.answer_tokens == 5


def test_what_an_endpoint_leaves_out_or_adds_is_no_error() -> None:
    bare = {"function": {"name": "look"}}
    other = {"id": "c2", "type": "custom", "custom": {"name": "x"}}
    answer = whole({"choices": [{"message": {"tool_calls": [bare, other], "new": 1}}]})
    assert answer.calls == (RequestedCall(id="", name="look", arguments=""),)
    assert (answer.text, answer.model, answer.finish_reason) == ("", "m", "")


def test_an_answer_that_is_not_called_json_is_read_all_the_same() -> None:
    assert whole(choice(content="Yes."), "text/plain").text == "Yes."


@pytest.mark.parametrize("used", [None, {}, {"prompt_tokens": 10}])
def test_what_an_endpoint_does_not_count_is_estimated(used: Any) -> None:
    answer = whole(choice(content="x" * 300) | {"usage": used})
    assert answer.usage.answer_tokens == 100
    assert answer.usage.prompt_tokens > 10


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"<html>", "unusable_answer"),
        (b"\xff", "unusable_answer"),
        (b"[" * 100_000, "unusable_answer"),
        ([], "unusable_answer"),
        ({"choices": [{"message": None}]}, "unusable_answer"),
        (choice(content=[1]), "unusable_answer"),
        (choice(content="x" * (chat_answers.MOST_CHARS + 1)), "unusable_answer"),
        (choice(tool_calls=[{"function": {"name": "x", "arguments": 1}}]), "unusable_answer"),
        ({}, "empty_answer"),
        ({"choices": []}, "empty_answer"),
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_with_a_code(body: Any, code: str) -> None:
    with pytest.raises(ModelError, match=code):
        whole(body)


def test_a_stream_is_put_together_as_it_is_heard() -> None:
    first = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"a"'}}
    other = {"index": 1, "id": "c2", "function": {"name": "see", "arguments": "{}"}}
    answer, heard = streamed(
        {"choices": [], "prompt_filter_results": []},
        part(role="assistant", content=None),
        part(content="Ye"),
        part(content="s.") | {"model": "m-2026"},
        part(tool_calls=[first]),
        part(tool_calls=[other]),
        part(tool_calls=[{"index": 0, "function": {"arguments": ":1}"}}]),
        {"choices": [{"delta": None, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": USED},
    )
    assert (answer.text, heard) == ("Yes.", ["Ye", "s."])
    assert answer.calls == (
        RequestedCall(id="c1", name="look", arguments='{"a":1}'),
        RequestedCall(id="c2", name="see", arguments="{}"),
    )
    assert (answer.model, answer.finish_reason) == ("m-2026", "tool_calls")
    assert (answer.usage.prompt_tokens, answer.usage.answer_tokens) == (10, 5)


@pytest.mark.parametrize(
    ("chunk", "code"),
    [
        ("{", "unusable_answer"),
        ("[]", "unusable_answer"),
        (part(content={"text": "x"}), "unusable_answer"),
        (part(content="x" * (chat_answers.MOST_CHARS + 1)), "unusable_answer"),
        (part(tool_calls=[{"function": {"name": "x"}}]), "unusable_answer"),
        (part(content="no end"), "stream_cut"),
    ],
)
def test_a_stream_that_cannot_be_read_is_an_error_with_a_code(chunk: Any, code: str) -> None:
    with pytest.raises(ModelError, match=code):
        streamed(chunk)


def test_what_a_model_says_when_it_refuses_is_its_answer() -> None:
    said = {"content": None, "refusal": "I cannot."}
    answer = whole({"choices": [{"message": said, "finish_reason": "stop"}], "model": "m"})
    parts = [{"delta": {"refusal": part}} for part in ("I ", "cannot.")]
    heard = streamed(
        *({"choices": [part]} for part in [*parts, {"delta": {}, "finish_reason": "stop"}])
    )

    assert answer.text == heard[0].text == "I cannot."
    assert heard[1] == ["I ", "cannot."]


def test_what_a_model_thinks_aloud_reaches_no_user() -> None:
    assert whole(choice(content="<think>Hm.</think>\nYes.")).text == "Yes."
    pieces = [part(content=piece) for piece in ("<th", "ink>Hm", ".</think", ">Yes", ".")]
    lines = "".join(f"data: {json.dumps(one)}\n\n" for one in [*pieces, part("stop")])
    said, thought = list[str](), list[str]()
    with endpoint((lines + "data: [DONE]\n\n").encode(), "text/event-stream") as client:
        listener = Listener(on_text=said.append, on_restart=said.clear, on_reasoning=thought.append)
        answer = chat_answers.streamed(client, REQUEST, listener, timeout=TIMEOUT)

    assert (answer.text, "".join(said), "".join(thought)) == ("Yes.", "Yes.", "Hm.")


def test_a_thought_that_only_its_end_gives_away_is_taken_back() -> None:
    answer, heard = streamed(part(content="Hm."), part("stop", content="</think>Yes."))
    assert (answer.text, heard) == ("Yes.", ["Yes."])


def test_content_in_parts_is_one_text() -> None:
    parts = [{"type": "text", "text": "Ye"}, {"type": "image"}, {"type": "text", "text": "s."}]
    assert whole(choice(content=parts)).text == "Yes."
    answer, heard = streamed(part("stop", content=parts))
    assert (answer.text, heard) == ("Yes.", ["Yes."])
