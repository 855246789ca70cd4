"""What a tool is: typed arguments, a description for the model, a function.

Schemas are built once from the arguments' types; unknown arguments are refused.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.context import people, schemas
from agents.contracts import CallRecord, InboundMail, Person, ToolResult, failure
from agents.journal.leases import Lease
from agents.journal.steps import Ending
from agents.tools import forms
from guardrails.contracts import Capability
from guardrails.decide.policy_file import PolicyFile
from guardrails.decide.snapshot import PolicySnapshot
from integrations.llm.completions import Payer, estimated_tokens
from integrations.llm.deadline import Deadline
from integrations.network import strict_json


class Arguments(BaseModel):
    """Base of every tool's arguments: closed and strict."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)
ItemId = Annotated[
    str,
    Field(min_length=1, max_length=500, description="An item's id in a result, or an issue's key."),
]


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool may know of the turn it runs in. Nothing here comes from a model."""

    lease: Lease
    person: Person
    agent: str
    model: str
    trigger: str  # chat, webhook, pattern
    principal: str
    user_words: str
    mail: InboundMail | None
    pattern_id: str
    call: CallRecord
    delegate: Callable[[str, str, Sequence[str], CallRecord], Ending]
    deadline: Deadline  # of the turn; of the call where that is earlier
    item_id: str = ""  # at its provider: what arrived and is no mail
    observed: frozenset[UUID] = frozenset()  # items that this run has been shown
    agent_version: str = ""  # agents.turns.roster.Agent.version
    said_at: datetime | None = None  # when the user said it
    skill: str = ""  # the one that this run loaded last, name@version
    trial: UUID | None = None  # a run in which what it does is decided about, and not done
    draft: PolicyFile | None = None  # the policy of a trial, where it is not the present one
    capabilities: Sequence[Capability] = ()  # as they were when the turn's agent began
    policy: PolicySnapshot | None = None  # of the account, where it was read for this call just now
    acted: list[Mapping[str, Any]] = field(default_factory=list)  # what its actions came to
    left: list[Mapping[str, Any]] = field(default_factory=list)  # and what providers answered
    # Held while an action is carried out: by one at a time of the agents that work side by side.
    acting: AbstractContextManager[object] = field(default_factory=nullcontext)

    @property
    def payer(self) -> Payer:
        """Whom a call of a model by a tool is counted for."""
        account = self.mail.account if self.mail else None
        return self.person.payer(self.lease.turn_id, account=account)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What the listed labels and folders are called, by id."""
        return people.name_targets(self.capabilities)

    def complete(
        self, action_type: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | ToolResult:
        """The arguments of an action as they are meant (`agents.tools.forms.complete`)."""
        return forms.complete(
            self.person,
            action_type,
            params,
            capabilities=self.capabilities,
            mail_id=self.mail.email_id if self.mail else "",
        )

    def action_id(self, number: int) -> UUID:
        """The id of this call's n-th action (from 0): the same whenever the call is run again.

        Counting up the random tail keeps version, variant and time of the UUIDv7.
        """
        return UUID(int=self.call.action_id.int + number)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """`acts` says that it may change something outside: such calls run one after another, but for
    those that are next to each other and `delegate`, each to an agent of its own.
    `repeats` says that each call that succeeds is work done, so many of them are no loop.
    `aside` names arguments that make no other call of it: words about it, not what it does. A
    model is shown the schema of one that is `offered`, a line of one that is `listed`, and may call
    any other all the same. `form` is the JSON schema of the arguments where it is narrower than
    their type's, and `note` what a line adds to its name and arguments."""

    name: str
    description: str
    arguments: type[A]
    run: Callable[[ToolContext, A], ToolResult]
    acts: bool = False
    delegates: bool = False
    repeats: bool = False
    timeout_seconds: float | None = None  # of a tool that only reads; None: the setting
    aside: frozenset[str] = frozenset()
    offered: bool = True
    listed: bool = False
    form: Mapping[str, Any] | None = None
    note: str = ""

    def read(self, given: Mapping[str, Any]) -> A:
        """The typed arguments that a call's object stands for. Raises ValidationError."""
        return self.arguments.model_validate(forms.loosen(given, self.arguments))

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The tool in the form of the Chat Completions API."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments as it is shown."""
        found: dict[str, Any] = schemas.brief(
            self.form or schemas.describe_arguments(self.arguments)
        )
        return found

    @property
    def line(self) -> str:
        """The tool in one line, for a list."""
        return f"{schemas.sign(self.name, self.parameters)}{self.note}"

    @cached_property
    def schema_tokens(self) -> int:
        return estimated_tokens(json.dumps(self.schema))


def parse(call: CallRecord, tool: Tool[Arguments]) -> Arguments | ToolResult:
    """The call's typed arguments, or the result that says what is wrong with them."""
    try:
        return tool.read(strict_json.load_object(call.arguments or "{}"))
    except ValidationError as error:
        return forms.explain(error, tool.arguments)
    except ValueError as error:
        return failure(
            "INVALID_INPUT", f"The arguments are not a JSON object: {error}", recoverable=True
        )
