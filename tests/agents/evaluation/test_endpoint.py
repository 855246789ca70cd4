import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.context import prompts
from agents.evaluation import endpoint as endpoints
from agents.evaluation.endpoint import OFFLINE_MODEL, OFFLINE_READER, Endpoint
from agents.evaluation.recordings import Recorder, Recording
from agents.evaluation.reference import Reference
from integrations.network import http
from tests.model_server import ScriptedModel, running_model

SPECIALIST = "You are somebody else."


@pytest.fixture
def upstream() -> Iterator[ScriptedModel]:
    with running_model({SPECIALIST: ["One.", "Two."]}) as model:
        yield model
        http.close_clients()


@pytest.fixture
def endpoint(upstream: ScriptedModel) -> Iterator[Endpoint]:
    made = Endpoint(model=OFFLINE_MODEL, stand_in=http.client(upstream.url, "offline"))
    with endpoints.serving(made) as running:
        yield running


def ask(endpoint: Endpoint, model: str = OFFLINE_MODEL, system: str = SPECIALIST) -> Any:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Hi"}]
    answer = call(endpoint, "/chat/completions", {"model": model, "messages": messages})
    said = json.loads(answer.content)
    return said["error"]["message"] if answer.status != 200 else text_of(said)


def call(endpoint: Endpoint, path: str, request: Any) -> http.Answer:
    return http.call(http.client(endpoint.url), path, request, seconds=30)


def text_of(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


def test_requests_are_handed_on_and_kept_for_the_task_alone(
    endpoint: Endpoint, upstream: ScriptedModel
) -> None:
    assert ask(endpoint) == "One."
    endpoint.begin("a#1")
    assert ask(endpoint) == "Two."

    assert [text_of(one.answer) for one in endpoint.exchanges] == ["Two."]
    assert endpoint.exchanges[0].agent == SPECIALIST
    assert len(upstream.chats()) == 2


def test_what_reads_items_in_is_the_stand_in_and_not_kept(
    endpoint: Endpoint, upstream: ScriptedModel
) -> None:
    endpoint.begin("a#1")

    assert ask(endpoint, model=OFFLINE_READER) == "One."

    assert upstream.chats()[0]["model"] == OFFLINE_MODEL
    assert endpoint.exchanges == []
    ask(endpoint)  # the script's last


def test_a_reference_speaks_for_the_orchestrator_alone(
    endpoint: Endpoint, upstream: ScriptedModel
) -> None:
    endpoint.begin("a#1", Reference(["By heart."], lambda _: ""))

    assert ask(endpoint, system=prompts.ORCHESTRATOR) == "By heart."
    assert ask(endpoint) == "One."
    assert ask(endpoint) == "Two."


def test_a_recording_answers_instead_and_what_it_lacks_is_a_misfit(
    endpoint: Endpoint, upstream: ScriptedModel, tmp_path: Path
) -> None:
    recorder = Recorder(tmp_path / "answers", suite="office", model=OFFLINE_MODEL)
    endpoint.recorder = recorder
    endpoint.begin("a#1")
    said = [ask(endpoint), ask(endpoint)]
    recorder.close()
    endpoint.recorder, endpoint.recording = None, Recording(tmp_path / "answers")

    assert [ask(endpoint), ask(endpoint)] == said == ["One.", "Two."]
    assert endpoint.misfit == ""
    assert "Record it anew" in ask(endpoint)
    assert endpoint.misfit.startswith("The recording has no answer for a#1:")
    assert len(upstream.chats()) == 2


def test_streams_and_other_addresses_are_refused(
    endpoint: Endpoint, upstream: ScriptedModel
) -> None:
    streamed = call(endpoint, "/chat/completions", {"model": "m", "stream": True})
    other = call(endpoint, "/files", {})

    assert (streamed.status, other.status) == (404, 404)
    assert [ask(endpoint), ask(endpoint)] == ["One.", "Two."]
    assert len(upstream.chats()) == 2
