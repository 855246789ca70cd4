"""Calls of a model against the clock, over real HTTP: endpoints that hang, dribble and refuse."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tenacity

from integrations.llm import attempts, llm, profiles
from integrations.llm.completions import Completion, Listener, ModelError, OutOfTime, Payer
from integrations.llm.deadline import Deadline
from integrations.models import ModelCall, Organisation
from tests.model_server import Dribble, Failure, Hang, Reply, Script, scripted_model
from tests.raw_server import RawServer, Step, ok, saying

pytestmark = pytest.mark.django_db
SYSTEM = "You answer in JSON."
SOON = 1.0  # seconds


@pytest.fixture(autouse=True)
def impatient(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for between two tries."""
    monkeypatch.setattr(attempts, "_backoff", tenacity.wait_none())
    settings.CHAT_MODEL, settings.MODEL_TIMEOUT_SECONDS = "m", 60.0


@pytest.fixture
def payer() -> Payer:
    organisation = Organisation.objects.create(slug="default", name="Default")
    return Payer(organisation_id=organisation.id, external_user_id="maya")


def ask(payer: Payer, **options: Any) -> Completion:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Hello"}]
    return llm.complete(messages=messages, payer=payer, purpose="test", **options)


def codes() -> list[str]:
    return list(ModelCall.objects.order_by("id").values_list("error_code", flat=True))


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("reply", [Hang(), Dribble()])
def test_an_answer_ends_with_its_deadline_however_it_comes(
    payer: Payer, settings: Any, reply: Reply, streamed: bool
) -> None:
    told: list[str] = []
    listener = Listener(on_text=told.append, on_restart=told.clear) if streamed else None
    with scripted_model(settings, {SYSTEM: [reply]}) as model:
        with pytest.raises(OutOfTime):
            ask(payer, deadline=Deadline.after(SOON), listener=listener)
        assert len(model.chats()) == 1

    assert told == []
    assert max(model.patience) <= SOON


def test_nothing_is_asked_once_the_deadline_has_passed(payer: Payer, settings: Any) -> None:
    with scripted_model(settings, {}) as model:
        with pytest.raises(OutOfTime):
            ask(payer, deadline=Deadline.after(0))
        with pytest.raises(OutOfTime):
            llm.embed(["one"], payer=payer, deadline=Deadline.after(0))
    assert (model.requests, codes()) == ([], [])


def test_an_endpoint_that_is_away_for_ever_is_asked_a_few_times(
    payer: Payer, settings: Any
) -> None:
    script: Script = {SYSTEM: lambda _: Failure(503, pass_by=True)}
    with scripted_model(settings, script) as model, pytest.raises(ModelError, match="status_503"):
        ask(payer, deadline=Deadline.after(60))
    assert (len(model.chats()), codes()) == (llm.TRIES, ["status_503"])


def test_no_try_is_waited_for_beyond_the_deadline(
    payer: Payer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_backoff", tenacity.wait_fixed(1000))
    script: Script = {SYSTEM: lambda _: Failure(503, pass_by=True)}
    with scripted_model(settings, script) as model, pytest.raises(ModelError, match="status_503"):
        ask(payer, deadline=Deadline.after(60))
    assert len(model.chats()) == 1


def test_each_try_has_a_time_out_of_its_own(payer: Payer, settings: Any) -> None:
    settings.MODEL_TIMEOUT_SECONDS = SOON

    def answer(_: dict[str, Any]) -> Reply:
        if len(model.patience) < 3:
            settings.MODEL_TIMEOUT_SECONDS = SOON * len(model.patience)
            return Hang()
        return "Hi."

    with scripted_model(settings, {SYSTEM: answer}) as model:
        assert ask(payer, deadline=Deadline.after(60)).text == "Hi."
    assert model.patience == [SOON, SOON, 2 * SOON]


def test_what_is_left_shrinks_from_try_to_try_and_from_call_to_call(
    payer: Payer, settings: Any
) -> None:
    given: list[Reply] = [Failure(503, pass_by=True), "no JSON", {"yes": True}]
    with scripted_model(settings, {SYSTEM: given}) as model:
        llm.complete_json(
            system=SYSTEM, user="?", payer=payer, purpose="test", deadline=Deadline.after(50)
        )
        llm.embed(["one"], payer=payer, deadline=Deadline.after(5))
    assert model.patience == sorted(set(model.patience), reverse=True)
    assert (len(model.patience), model.patience[0] <= 50, model.patience[-1] <= 5) == (
        4,
        True,
        True,
    )


def test_half_of_the_time_is_kept_for_the_fallback(
    payer: Payer, settings: Any, tmp_path: Path
) -> None:
    settings.MODEL_PROFILES = str(tmp_path / "profiles.yaml")
    free = "price: 0, cached_price: 0, answer_price: 0"
    Path(settings.MODEL_PROFILES).write_text(f"m: {{{free}, fallback: n}}\nn: {{{free}}}\n")
    profiles._known.cache_clear()
    with scripted_model(settings, {SYSTEM: [Hang(), "Hi."]}) as model:
        assert ask(payer, deadline=Deadline.after(2 * SOON)).text == "Hi."
    profiles._known.cache_clear()
    assert [body["model"] for body in model.chats()] == ["m", "n"]
    assert codes() == ["timeout", ""]


def test_who_asks_once_is_not_asked_for_again(payer: Payer, settings: Any) -> None:
    script: Script = {SYSTEM: [Failure(503, pass_by=True), "no JSON"]}
    with scripted_model(settings, script):
        with pytest.raises(ModelError, match="status_503"):
            ask(payer, once=True)
        with pytest.raises(ModelError, match="malformed_json"):
            llm.complete_json(system=SYSTEM, user="?", payer=payer, purpose="test", once=True)


@pytest.fixture
def endpoint(settings: Any) -> Iterator[Callable[[RawServer], None]]:
    def point(server: RawServer) -> None:
        settings.OPENAI_BASE_URL = f"{server.url}/v1"
        llm.forget_clients()

    yield point
    llm.forget_clients()


@pytest.mark.parametrize("streamed", [True, False])
def test_a_prompt_is_not_sent_on_to_where_its_endpoint_points(
    payer: Payer, endpoint: Callable[[RawServer], None], streamed: bool
) -> None:
    listener = Listener(on_text=print, on_restart=print) if streamed else None
    with saying([ok()]) as elsewhere:
        away = b"Location: %s/v1/chat/completions" % elsewhere.url.encode()
        with saying([ok(b"", away).replace(b"200 OK", b"307 Away")]) as server:
            endpoint(server)
            with pytest.raises(ModelError, match="status_307"):
                ask(payer, once=True, listener=listener)

        assert (len(server.heard), elsewhere.heard) == (1, [])


@pytest.mark.parametrize("answer", ["close", b"SSH-2.0\r\n", ok()[:-1]])
def test_an_endpoint_that_breaks_off_is_asked_again(
    payer: Payer, endpoint: Callable[[RawServer], None], answer: Step
) -> None:
    whole = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
    with saying([answer, "close at once"], [ok(json.dumps(whole).encode())]) as server:
        endpoint(server)
        answered = ask(payer, deadline=Deadline.after(60))

        assert (answered.text, len(server.heard)) == ("Yes.", 2)
