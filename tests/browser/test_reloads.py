"""Reload at every state of a turn: the page that followed it there, and the page that is opened
there, show the same."""

from collections.abc import Callable
from difflib import unified_diff
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import Phase, given, settings, strategies as st
from playwright.sync_api import Page, TimeoutError as TooLate, expect

from agents.contracts import ToolResult
from agents.journal import journal, leases
from agents.journal.leases import Lease
from agents.journal.steps import ASK_USER
from agents.models import Turn, TurnEvent
from agents.plans import plans, store
from agents.turns import turns
from audit.ledger.ids import uuid7
from guardrails.contracts import ActionRequest, Origin
from guardrails.execute.executor import execute
from integrations.llm.completions import Completion, RequestedCall
from integrations.models import Account
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
# What the console does something about, besides the end.
HEARD = ("text.delta", "text.restarted", "reasoning.delta", "tool.started", "tool.finished", "plan")
ATTRIBUTES = ["role", "aria-label", "aria-busy", "href", "hidden", "disabled", "open", "class"]
SHOWN = f"""() => {{
  const place = document.getElementById("console").cloneNode(true);
  place.normalize();
  const walk = (node) => node.nodeType === Node.TEXT_NODE ? node.data : [node.localName,
    ...{ATTRIBUTES}.map((name) => node.getAttribute(name)), ...[...node.childNodes].map(walk)];
  return JSON.stringify(walk(place));
}}"""
PIECES = (
    *("It **is** ", "\n\n- [a](https://evil.example/)\n- b", "`c` <b>d</b> "),
    "| a |\n|---|\n| 1 |",
)
ITEM = {"id": str(uuid4()), "source": "gmail", "title": "Roll-out", "relevance": 0.5}


def call(lease: Lease, *, name: str, arguments: str = "{}") -> Any:
    number = TurnEvent.objects.filter(turn=lease.turn_id).count()
    asked = RequestedCall(id="1", name=name, arguments=arguments)
    completion = Completion(text="", calls=(asked,), model="m", finish_reason="tool_calls")
    step: dict[str, Any] = {
        "parent_call": None,
        "agent": "orchestrator",
        "number": number,
        "latency_ms": 1,
    }
    return journal.add_step(lease, completion=completion, **step).calls[0]


def say(lease: Lease, piece: str) -> None:
    journal.emit(lease, "text.delta", {"text": piece})


def use_tool(lease: Lease, success: bool) -> None:
    made = call(lease, name="retrieve_context")
    journal.finish_call(lease, made, ToolResult(success=success), latency_ms=7)


def plan(lease: Lease, _: object) -> None:
    def act(old: plans.Plan | None) -> Any:
        if old and not old.finished:
            return plans.complete(old, ["s"], result="It is done.")
        read = plans.NewStep(id="s", description="Read")
        goal = plans.NewGoal(id="g", description="Look", steps=[read])
        return plans.create(old, request="Look", goals=[goal])

    store.change_plan(lease, act)


def act(lease: Lease, status: str) -> None:
    journal.add_action(
        lease,
        {
            "id": str(uuid4()),
            "action_id": str(uuid7()),
            "type": "archive",
            "status": status,
            "description": "Archive: “Lunch?”",
            "params": {},
            "result": {},
            "artifacts": [],
            "sentence": "It is forbidden.",
            "reason": "",
            "can_be_asked_for": status == "refused",
        },
    )


def ask_for_a_word(lease: Lease, _: object) -> None:
    turn = Turn.objects.get(id=lease.turn_id)
    row = Account.objects.get(external_user_id=turn.external_user_id, source="jira")
    execute(
        ActionRequest(
            action_id=uuid7(),
            account=row.ref(),
            action_type="create_jira_task",
            arguments={"project_key": "PROJ", "summary": "User Auth", "type": "task"},
            origin=Origin(trigger="chat", turn_id=str(turn.id), user_words="Create a task"),
        )
    )


MOVES: dict[str, Callable[[Lease, Any], None]] = {
    "say": say,
    "think": lambda lease, piece: journal.emit(lease, "reasoning.delta", {"text": piece}),
    "restart": lambda lease, _: journal.emit(lease, "text.restarted", {}),
    "use_tool": use_tool,
    "plan": plan,
    "act": act,
    "ask": ask_for_a_word,
}
STEPS = st.one_of(
    st.tuples(st.sampled_from(["say", "say", "think"]), st.sampled_from(PIECES)),
    st.tuples(st.just("use_tool"), st.booleans()),
    st.tuples(st.just("act"), st.sampled_from(["succeeded", "refused", "failed"])),
    st.tuples(st.sampled_from(["restart", "plan", "ask"]), st.none()),
)
ENDS = st.sampled_from(["cited", "error", "stopped", "question"])
TURNS = st.tuples(st.lists(STEPS, min_size=2, max_size=4), ENDS)


def end(lease: Lease, how: str) -> None:
    finish: Callable[..., None] = turns.finish_turn
    if how == "cited":
        [cited] = journal.add_context(lease, [ITEM])
        cites = {"citations": [{key: cited[key] for key in ("n", "id", "source", "title")}]}
        text = f"It **is** so [{cited['n']}]."
        finish(lease, text=text, ending=Turn.Ending.REPLY, metadata=cites)
    elif how == "error":
        finish(lease, text="It broke.", ending=Turn.Ending.ERROR, code="internal")
    elif how == "question":
        call(lease, name=ASK_USER, arguments='{"question": "Which?", "options": ["A", "B"]}')
        finish(lease, text="Which?", ending=Turn.Ending.QUESTION)
    else:
        turns.stop_turn(lease.turn_id, by="operator:operator", now=timezone.now())


def show_the_same(followed: Page, opened: Page) -> None:
    """Opens the other page anew where the first one is."""
    opened.goto("about:blank")
    opened.goto(followed.url)
    before = followed.evaluate(SHOWN)
    try:
        opened.wait_for_function(f"(other) => ({SHOWN})() === other", arg=before, timeout=8000)
    except TooLate:
        now, there = (one.evaluate(SHOWN).split("],") for one in (opened, followed))
        assert list(unified_diff(now, there, n=1)) == []


def follow_and_open(drawn: list[Any], page: Page, other: Page) -> None:
    page.goto("about:blank")
    page.goto("/console/")
    for steps, how in drawn:
        page.get_by_label("Message", exact=True).fill("Look at it")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
        turn = Turn.objects.filter(state="queued").latest("created_at")
        lease = leases.claim(turn.id)
        assert lease is not None
        for move, given_with in steps:
            MOVES[move](lease, given_with)
            heard = TurnEvent.objects.filter(turn=turn, type__in=HEARD).last()
            if heard:
                expect(page.locator(f'[data-seen="{heard.sequence}"]')).to_have_count(1)
            show_the_same(page, other)
        end(lease, how)
        expect(page.locator('[aria-busy="true"]')).to_have_count(0)
        show_the_same(page, other)


def test_a_page_opened_at_any_moment_of_a_turn_shows_what_the_one_shows_that_followed_it(
    office: Office, page: Page, problems: list[str]
) -> None:
    other = page.context.new_page()

    @settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
    @given(drawn=st.lists(TURNS, min_size=1, max_size=2))
    def check(drawn: list[Any]) -> None:
        follow_and_open(drawn, page, other)

    check()
    assert problems == []
