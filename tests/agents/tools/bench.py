"""A turn whose tools a test calls, without an HTTP server or a model."""

import json
from dataclasses import replace
from typing import Any

from agents.contracts import CallRecord, Person, StepRecord
from agents.journal import journal, leases
from agents.journal.steps import Ending
from agents.models import ToolCall, Turn
from agents.tools.base import Tool, ToolContext
from agents.tools.dispatch import run_calls
from integrations.contracts import AccountRef
from integrations.llm.completions import Completion, RequestedCall
from integrations.llm.deadline import Deadline
from tests.knowledge.office import account


def no_delegate(*_: Any) -> Ending:
    raise AssertionError("nobody delegates here")


class Bench:
    """A turn with open calls, to be run with the tools of a test."""

    def __init__(self, *accounts: AccountRef) -> None:
        self.accounts = accounts or (account(),)
        organisation_id = self.accounts[0].organisation_id
        turn = Turn.objects.create(
            organisation_id=organisation_id, external_user_id="maya", kind="inbound"
        )
        lease = leases.claim(turn.id)
        assert lease is not None
        self.lease, self.steps = lease, list[StepRecord]()
        self.deadline = Deadline.after(60)
        self.person = Person(
            organisation_id=organisation_id, external_user_id="maya", accounts=self.accounts
        )

    def call(self, tool: Tool[Any], **arguments: Any) -> dict[str, Any]:
        """The result of one call."""
        [result] = self.run(tool.name, tools=[tool], arguments=json.dumps(arguments))
        return result

    def run(
        self, *names: str, tools: list[Tool[Any]], arguments: str | list[str] = "{}"
    ) -> list[dict[str, Any]]:
        """One more step: the results of calls of these tools, in the order of the calls."""
        given = [arguments] * len(names) if isinstance(arguments, str) else arguments
        completion = Completion(
            text="",
            calls=tuple(
                RequestedCall(id=name, name=name, arguments=text)
                for name, text in zip(names, given, strict=True)
            ),
            model="m",
            finish_reason="tool_calls",
        )
        step = journal.add_step(
            self.lease,
            parent_call=None,
            agent="a",
            number=len(self.steps) + 1,
            completion=completion,
            latency_ms=0,
        )
        self.steps.append(step)
        done = run_calls(
            step.calls,
            tools={tool.name: tool for tool in tools},
            context_for=self.context,
            steps=self.steps,
        )
        self.steps[-1] = replace(step, calls=tuple(done[call.id] for call in step.calls))
        stored = {row.id: row.result for row in ToolCall.objects.filter(id__in=done)}
        assert stored == {call.id: done[call.id].result for call in step.calls}
        return [dict(done[call.id].result or {}) for call in step.calls]

    def context(self, call: CallRecord) -> ToolContext:
        return ToolContext(
            lease=self.lease,
            person=self.person,
            agent="a",
            model="m",
            trigger="chat",
            principal="test",
            user_words="",
            mail=None,
            pattern_id="",
            call=call,
            delegate=no_delegate,
            deadline=self.deadline,
        )
