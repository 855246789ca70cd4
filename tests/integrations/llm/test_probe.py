"""What an endpoint can and cannot do is found out, over real HTTP."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from integrations.llm import probe, profiles
from integrations.llm.probe import Finding, try_embeddings, try_model
from tests.model_server import Failure, Message, Reply, calls, scripted_model

Body = dict[str, Any]
SYSTEM = probe.SYSTEM["content"]
LOOKS = (("look", {"number": 1}), ("look", {"number": 2}))


def able(body: Body) -> Reply:
    """An endpoint that can do everything."""
    if body["messages"][-1] == probe.TWO:
        return calls(*LOOKS)
    return {"yes": True} if "response_format" in body else "Yes."


def without_tools(body: Body) -> Reply:
    return Failure(400) if "tools" in body else able(body)


def one_at_a_time(body: Body) -> Reply:
    return calls(LOOKS[0]) if body["messages"][-1] == probe.TWO else able(body)


def whole(body: Body) -> Reply:
    return Failure(400) if body.get("stream") else able(body)


def strict(body: Body) -> Reply:
    roles = [one["role"] for one in body["messages"]]
    return Failure(400) if "system" in roles[1:] else able(body)


def thoughtful(body: Body) -> Reply:
    cut = body.get("max_completion_tokens", 10_000) < 1000
    return Message(text="<think>Hm", finish="length") if cut else able(body)


def without_settings(body: Body) -> Reply:
    return Failure(400) if {"temperature", "reasoning_effort"} & body.keys() else able(body)


def free_in_form(body: Body) -> Reply:
    return "Yes, gladly." if "response_format" in body else able(body)


def look(settings: Any, endpoint: Callable[[Body], Reply]) -> tuple[list[Finding], int]:
    with scripted_model(settings, {SYSTEM: endpoint}) as model:
        return list(try_model("m")), len(model.chats())


def test_an_endpoint_that_can_do_everything_needs_nothing(settings: Any) -> None:
    found, asked = look(settings, able)
    assert [one.works for one in found] == [True] * 8
    assert asked == 8


@pytest.mark.parametrize(
    ("endpoint", "missing", "wanted"),
    [
        (without_tools, {"calls tools", "calls several at once", "reads results of tools"}, "json"),
        (one_at_a_time, {"calls several at once"}, False),
        (whole, {"streams"}, False),
        (strict, {"takes a later system message"}, "first"),
        (thoughtful, {"keeps short answers"}, 4000),
        (free_in_form, {"answers in JSON"}, None),
    ],
)
def test_what_is_missing_is_found_with_what_makes_up_for_it(
    settings: Any, endpoint: Callable[[Body], Reply], missing: set[str], wanted: Any
) -> None:
    found, _ = look(settings, endpoint)

    lacking = [one for one in found if not one.works]
    assert {one.name for one in lacking} == missing
    assert all(one.code and one.advice for one in lacking)
    made_up = {value for one in lacking for value in (one.profile or {}).values()}
    assert wanted in made_up if wanted is not None else not made_up


@pytest.mark.parametrize(("reply", "code"), [(Failure(401), "status_401"), (" ", "no_answer")])
def test_nobody_asks_on_where_nobody_answers(settings: Any, reply: Reply, code: str) -> None:
    found, asked = look(settings, lambda body: reply)
    assert [(one.name, one.works, one.code) for one in found] == [("answers", False, code)]
    assert asked == 1


def test_what_the_profile_says_already_is_tried_with_it(settings: Any, tmp_path: Path) -> None:
    settings.MODEL_PROFILES = str(tmp_path / "profiles.yaml")
    Path(settings.MODEL_PROFILES).write_text(
        "m: {price: 0, cached_price: 0, answer_price: 0, thinking_tokens: 4000}\n"
    )
    profiles._known.cache_clear()
    found, _ = look(settings, thoughtful)
    assert all(one.works for one in found)


def test_what_an_endpoint_does_not_take_of_a_profile_is_said_and_the_rest_is_tried(
    settings: Any, tmp_path: Path
) -> None:
    settings.MODEL_PROFILES = str(tmp_path / "profiles.yaml")
    Path(settings.MODEL_PROFILES).write_text(
        "m: {price: 0, cached_price: 0, answer_price: 0, temperature: 0.2, "
        "reasoning_effort: high}\n"
    )
    profiles._known.cache_clear()
    found, _ = look(settings, without_settings)
    lacking = {one.name: one.profile for one in found if not one.works}
    assert lacking == {
        "takes temperature 0.2": {"temperature": None},
        "takes reasoning effort high": {"reasoning_effort": ""},
    }
    assert len(found) == 10
    found, _ = look(settings, able)
    assert all(one.works for one in found)


@pytest.mark.parametrize("size", [8, 768])
def test_vectors_of_another_size_are_measured(settings: Any, size: int) -> None:
    with scripted_model(settings, {}) as model:
        model.only_size = size
        found = try_embeddings()
    assert not found.works
    assert f"`dimensions: {size}`" in found.advice
    assert f"EMBEDDING_DIMENSIONS={size}" in found.advice


def test_vectors_are_looked_at_too(settings: Any) -> None:
    with scripted_model(settings, {}) as model:
        assert try_embeddings().works
        model.fail_embeddings = 400
        assert (try_embeddings().works, try_embeddings().code) == (False, "status_400")
