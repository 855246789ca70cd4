"""The model client over real HTTP: budgets before, usage after, fallback and broken streams."""

import uuid
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from integrations.llm import llm, metering, profiles
from integrations.llm.completions import (
    Completion,
    Listener,
    ModelError,
    Payer,
    Usage,
    dollars,
)
from integrations.llm.llm import BudgetExhausted
from integrations.models import Account, Budget, ModelCall, Organisation
from tests.model_server import Cut, Failure, Reply, Script, calls, scripted_model

pytestmark = pytest.mark.django_db
SYSTEM = "You answer."
RUN = uuid.uuid4()


@pytest.fixture
def account() -> Account:
    organisation = Organisation.objects.create(slug="default", name="Default")
    return Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail"
    )


@pytest.fixture
def payer(account: Account) -> Payer:
    return Payer(organisation_id=account.organisation_id, external_user_id="maya", run_id=RUN)


@pytest.fixture(autouse=True)
def prices(settings: Any, tmp_path: Path) -> None:
    """10 tokens asked and 5 answered, as the scripted model says, cost 0.2 dollars."""
    settings.MODEL_PROFILES = str(tmp_path / "profiles.yaml")
    settings.CHAT_MODEL = "dear"
    Path(settings.MODEL_PROFILES).write_text(
        "dear: {price: 10000, cached_price: 0, answer_price: 20000, fallback: cheap}\n"
        "cheap: {price: 0, cached_price: 0, answer_price: 0, parallel_tools: false}\n"
        "lonely: {price: 0, cached_price: 0, answer_price: 0}\n"
    )
    profiles._known.cache_clear()


def ask(payer: Payer, **options: Any) -> Completion:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Hello"}]
    return llm.complete(messages=messages, payer=payer, purpose="test", **options)


def written() -> list[tuple[Any, ...]]:
    return list(
        ModelCall.objects.order_by("id").values_list(
            "model", "prompt_tokens", "answer_tokens", "cost", "error_code"
        )
    )


class Heard:
    """What a listener of a stream got."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.listener = Listener(
            on_text=self.told.append, on_restart=lambda: self.told.append("RESTART")
        )


@pytest.mark.parametrize("streamed", [True, False])
def test_every_call_is_written_down_with_what_it_cost(
    payer: Payer, settings: Any, monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    ticks = iter([1.0, 1.25])
    monkeypatch.setattr(metering, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    with scripted_model(settings, {SYSTEM: ["Hi there."]}) as model:
        answer = ask(payer, listener=Heard().listener if streamed else None)

    assert (answer.text, answer.usage.cost) == ("Hi there.", Decimal("0.2"))
    assert written() == [("dear", 10, 5, Decimal("0.2"), "")]
    row = ModelCall.objects.get()
    assert (row.external_user_id, row.run_id, row.purpose) == ("maya", RUN, "test")
    assert row.latency_ms == 250
    assert metering.used_by_run(RUN).tokens == 15
    assert model.chats()[0].get("stream_options") == ({"include_usage": True} if streamed else None)


def test_a_model_that_does_not_answer_is_replaced_by_its_fallback(
    payer: Payer, settings: Any
) -> None:
    with scripted_model(settings, {SYSTEM: [Failure(503), "Hi."]}) as model:
        assert ask(payer).text == "Hi."

    assert [body["model"] for body in model.chats()] == ["dear", "cheap"]
    assert written() == [("dear", 0, 0, 0, "status_503"), ("cheap", 10, 5, 0, "")]


@pytest.mark.parametrize(("model", "status"), [("dear", 400), ("lonely", 503)])
def test_what_no_other_model_can_mend_is_an_error(
    payer: Payer, settings: Any, model: str, status: int
) -> None:
    script: Script = {SYSTEM: [Failure(status)]}
    with scripted_model(settings, script), pytest.raises(ModelError) as raised:
        ask(payer, model=model)
    assert raised.value.code == f"status_{status}"
    assert [row[-1] for row in written()] == [f"status_{status}"]


@pytest.mark.parametrize("model", ["dear", "lonely"])
def test_a_stream_that_breaks_off_is_asked_for_again_and_the_listener_told(
    payer: Payer, settings: Any, model: str
) -> None:
    heard = Heard()
    with scripted_model(settings, {SYSTEM: [Cut("Half"), "Whole."]}):
        assert ask(payer, model=model, listener=heard.listener).text == "Whole."
    assert heard.told == ["Half", "RESTART", "Whole."]


def test_a_model_without_parallel_tools_is_asked_to_call_one_at_a_time(
    payer: Payer, settings: Any
) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    script: Script = {SYSTEM: [calls(("look", {})), calls(("look", {}))]}
    with scripted_model(settings, script) as model:
        ask(payer, model="cheap", tools=[tool])
        ask(payer, model="lonely", tools=[tool])
    assert [body.get("parallel_tool_calls") for body in model.chats()] == [False, None]


def test_a_profile_says_how_its_model_is_spoken_to(payer: Payer, settings: Any) -> None:
    Path(settings.MODEL_PROFILES).write_text(
        "own: {price: 0, cached_price: 0, answer_price: 0, temperature: 0.2,"
        " reasoning_effort: low, thinking_tokens: 500}\n"
    )
    profiles._known.cache_clear()
    with scripted_model(settings, {SYSTEM: ["Yes."]}) as model:
        ask(payer, model="own", max_tokens=100)

    [body] = model.chats()
    assert (body["temperature"], body["reasoning_effort"]) == (0.2, "low")
    assert body["max_completion_tokens"] == 600


def test_each_kind_of_work_may_have_settings_of_its_own(payer: Payer, settings: Any) -> None:
    Path(settings.MODEL_PROFILES).write_text(
        "own: {price: 0, cached_price: 0, answer_price: 0, temperature: 0.2, thinking_tokens: 50,"
        " roles: {test: {temperature: 0.9, reasoning_effort: high, answer_tokens: 300}}}\n"
    )
    profiles._known.cache_clear()
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Hello"}]
    with scripted_model(settings, {SYSTEM: ["Yes.", "Yes."]}) as model:
        ask(payer, model="own", max_tokens=100)
        llm.complete(messages=messages, payer=payer, purpose="review", model="own", max_tokens=100)

    wanted = ("temperature", "reasoning_effort", "max_completion_tokens")
    assert [[body.get(one) for one in wanted] for body in model.chats()] == [
        [0.9, "high", 350],
        [0.2, None, 150],
    ]


@pytest.mark.parametrize(
    ("protocol", "answer", "heard"),
    [("tools", "Hi there.", ["Hi there."]), ("json", {"say": "Hi.", "calls": []}, ["Hi."])],
)
def test_of_an_endpoint_that_does_not_stream_the_whole_answer_is_passed_on(
    payer: Payer, settings: Any, protocol: str, answer: Reply, heard: list[str]
) -> None:
    Path(settings.MODEL_PROFILES).write_text(
        "whole: {price: 0, cached_price: 0, answer_price: 0, streams: false,"
        f" protocol: {protocol}}}\n"
    )
    profiles._known.cache_clear()
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    listening = Heard()
    with scripted_model(settings, {SYSTEM: [answer]}) as model:
        said = ask(payer, model="whole", tools=[tool], listener=listening.listener)

    assert [body.get("stream") for body in model.chats()] == [None]
    assert (said.text, listening.told) == (heard[0], heard)


def test_a_profile_may_name_an_endpoint_of_its_own(payer: Payer, settings: Any) -> None:
    own = Path(settings.MODEL_PROFILES)
    near = "near: {price: 0, cached_price: 0, answer_price: 0, provider: p}\n"
    own.write_text(own.read_text() + near)
    profiles._known.cache_clear()
    with pytest.raises(ModelError, match="unknown_provider"):
        ask(payer, model="near")
    with scripted_model(settings, {SYSTEM: ["Near."]}) as model:
        settings.MODEL_PROVIDERS, settings.OPENAI_BASE_URL = {"p": model.url}, "http://127.0.0.1:9"
        assert ask(payer, model="near").text == "Near."
        llm._client("p").close()


BUDGETS = [
    ({"max_tokens": 15}, True),
    ({"max_tokens": 16}, False),
    ({"max_cost": "0.20"}, True),
    ({"max_cost": "0.21"}, False),
    ({"max_cost": 0}, True),
    ({}, False),
    ({"max_tokens": 15, "external_user_id": "maya"}, True),
    ({"max_tokens": 15, "external_user_id": "omar"}, False),
]


@pytest.mark.parametrize(("budget", "refused"), BUDGETS)
def test_a_budget_without_room_refuses_before_the_call(
    payer: Payer, settings: Any, budget: dict[str, Any], refused: bool
) -> None:
    Budget.objects.create(organisation_id=payer.organisation_id, **budget)
    script: Script = {SYSTEM: lambda _: "Hi."}
    spend(payer)
    with scripted_model(settings, script) as model:
        if refused:
            with pytest.raises(BudgetExhausted) as raised:
                ask(payer)
            assert raised.value.sentence.startswith("I stopped because the budget")
        else:
            ask(payer)
    assert len(model.chats()) == (0 if refused else 1)


def spend(payer: Payer, *, hours_ago: float = 0) -> None:
    usage = metering.usage("dear", prompt_tokens=10, answer_tokens=5)
    metering.record(payer, usage, model="dear", purpose="test", latency_ms=1)
    newest = ModelCall.objects.latest("id")
    ModelCall.objects.filter(id=newest.id).update(at=timezone.now() - timedelta(hours=hours_ago))


def test_calls_gathered_are_written_down_together_whatever_happened(
    payer: Payer, django_assert_num_queries: Any
) -> None:
    usage = metering.usage("dear", prompt_tokens=10, answer_tokens=5)

    @metering.gathered()
    def work() -> None:
        for purpose in ("first", "second"):
            metering.record(payer, usage, model="dear", purpose=purpose, latency_ms=1)
        raise ZeroDivisionError

    with django_assert_num_queries(1), pytest.raises(ZeroDivisionError):
        work()

    assert written() == [("dear", 10, 5, Decimal("0.2"), "")] * 2


def test_a_budget_counts_what_is_only_gathered(payer: Payer, settings: Any) -> None:
    Budget.objects.create(organisation_id=payer.organisation_id, max_tokens=15)
    script: Script = {SYSTEM: ["No JSON."]}
    with (
        scripted_model(settings, script) as model,
        metering.gathered(),
        pytest.raises(BudgetExhausted),
    ):
        llm.complete_json(system=SYSTEM, user="JSON?", payer=payer, purpose="test", model="dear")

    assert len(model.chats()) == len(written()) == 1


def test_a_budget_of_ones_own_takes_the_place_of_everybodys(payer: Payer) -> None:
    Budget.objects.create(organisation_id=payer.organisation_id, max_tokens=15)
    Budget.objects.create(
        organisation_id=payer.organisation_id, external_user_id="maya", max_tokens=30
    )
    spend(payer)
    assert not metering.exhausted(payer, now=timezone.now())
    spend(payer)
    assert metering.exhausted(payer, now=timezone.now())


def test_others_and_yesterday_do_not_count(payer: Payer) -> None:
    Budget.objects.create(organisation_id=payer.organisation_id, max_tokens=15)
    other = Organisation.objects.create(slug="other", name="Other")
    spend(payer, hours_ago=24)
    spend(Payer(organisation_id=payer.organisation_id, external_user_id="omar"))
    spend(Payer(organisation_id=other.id, external_user_id="maya"))
    assert not metering.exhausted(payer, now=timezone.now())


def test_an_accounts_budget_counts_what_is_done_for_the_account_itself(
    payer: Payer, account: Account
) -> None:
    Budget.objects.create(organisation_id=payer.organisation_id, account=account, max_tokens=15)
    by_itself = Payer(
        organisation_id=payer.organisation_id, external_user_id="maya", account_id=account.id
    )
    spend(payer)
    assert not metering.exhausted(by_itself, now=timezone.now())
    spend(by_itself)
    assert metering.exhausted(by_itself, now=timezone.now())
    assert not metering.exhausted(payer, now=timezone.now())


def test_a_budget_is_a_users_or_an_accounts(payer: Payer, account: Account) -> None:
    with pytest.raises(IntegrityError):
        Budget.objects.create(
            organisation_id=payer.organisation_id, external_user_id="maya", account=account
        )


def test_an_endpoint_that_counts_nothing_is_estimated(payer: Payer, settings: Any) -> None:
    with scripted_model(settings, {SYSTEM: ["x" * 300]}) as model:
        model.counts = False
        answer = ask(payer, model="lonely")
    assert answer.usage.answer_tokens == 100
    assert answer.usage.prompt_tokens > 20


def test_vectors_are_counted_for_who_asked_and_refused_by_no_budget(
    payer: Payer, settings: Any
) -> None:
    Budget.objects.create(organisation_id=payer.organisation_id, max_tokens=0)
    settings.EMBEDDING_MODEL = "dear"
    with scripted_model(settings, {}) as model:
        llm.embed(["one", "two"], payer=payer)
        llm.embed(["three"], payer=None)
        model.fail_embeddings = 400
        with pytest.raises(ModelError):
            llm.embed(["four"], payer=payer)
    assert written() == [("dear", 2, 0, Decimal("0.02"), ""), ("dear", 0, 0, 0, "status_400")]
    assert set(ModelCall.objects.values_list("purpose", flat=True)) == {"embedding"}


def test_vectors_come_from_the_profiles_endpoint_and_in_the_size_that_is_kept(
    settings: Any,
) -> None:
    """FINDINGS A14: they always went to the default endpoint. A model of one size is asked for
    none, and what has another size than is kept is not taken."""
    free = "price: 0, cached_price: 0, answer_price: 0, provider: p"
    Path(settings.MODEL_PROFILES).write_text(f"any: {{{free}}}\nfixed: {{{free}, dimensions: 8}}\n")
    profiles._known.cache_clear()
    settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSIONS = "any", 16
    with scripted_model(settings, {}) as model:
        settings.MODEL_PROVIDERS, settings.OPENAI_BASE_URL = {"p": model.url}, "http://127.0.0.1:9"
        kept = llm.embed(["one", "two"], payer=None)
        model.only_size = 8
        with pytest.raises(ModelError, match="wrong_embedding_shape"):
            llm.embed(["one"], payer=None, model="fixed")
        whatever = llm.embed(["one"], payer=None, model="fixed", any_size=True)
        settings.EMBEDDING_DIMENSIONS = 8
        fixed = llm.embed(["one"], payer=None, model="fixed")
        llm._client("p").close()

    assert [len(vector) for vector in [*kept, *whatever, *fixed]] == [16, 16, 8, 8]
    assert kept[0] != kept[1]
    asked = [(body["model"], body.get("dimensions")) for _, body in model.requests]
    assert asked == [("any", 16), *[("fixed", None)] * 3]


def test_calls_are_forgotten_after_so_many_days_and_no_sooner(payer: Payer, settings: Any) -> None:
    now = timezone.now()
    for days in (1, 9, 11):
        metering.record(payer, Usage(), model=str(days), purpose="test", latency_ms=1)
        ModelCall.objects.filter(model=str(days)).update(at=now - timedelta(days=days))
    settings.MODEL_CALL_DAYS = 0
    assert metering.prune(now=now) == 0
    settings.MODEL_CALL_DAYS = 10
    assert metering.prune(now=now) == 1
    assert set(ModelCall.objects.values_list("model", flat=True)) == {"1", "9"}


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        ("0", "$0.00"),
        ("0.00000812", "less than $0.0001"),
        ("0.0012", "$0.0012"),
        ("0.5", "$0.5000"),
        ("1234.567", "$1,234.57"),
    ],
)
def test_costs_are_shown_with_as_many_places_as_mean_something(cost: str, shown: str) -> None:
    assert dollars(Decimal(cost)) == shown
