"""Values that cross the rooms of `agents`: a run, its transcript, tool results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from guardrails.decide.policy_file import PolicyFile
from integrations.contracts import AccountRef
from integrations.contracts.preferences import OFFICE_HOURS, Preferences, WorkingHours
from integrations.llm.completions import Payer
from integrations.ports.registry import writable

ErrorCode = Literal[
    "EXECUTION_FAILED",
    "INVALID_INPUT",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "TIMEOUT",
    "RATE_LIMIT",
    "NETWORK_ERROR",
    "DUPLICATE_CALL",
    "TOO_MANY_CALLS",
    "INTERRUPTED",
    "TOO_MANY_ASKS",
    "TOO_LITTLE_EVIDENCE",
]


# What to do about a failure, where the tool says nothing better.
SUGGESTIONS: Mapping[ErrorCode, str] = {
    "EXECUTION_FAILED": "Find another way, or say what could not be done.",
    "INVALID_INPUT": "Correct the arguments.",
    "PERMISSION_DENIED": "Do not try it again. Say what was refused and why.",
    "NOT_FOUND": "Search for it, or ask the user which one is meant.",
    "TIMEOUT": "Try once more with less, or go on without it.",
    "RATE_LIMIT": "Go on without it, and say that it has to wait.",
    "NETWORK_ERROR": "Go on without it, and say that it can be tried again later.",
    "DUPLICATE_CALL": "Use the result it gave, or ask for something else.",
    "TOO_MANY_CALLS": "Go on with what you have, and say what is missing.",
    "INTERRUPTED": "Check what was done before you try again.",
    "TOO_MANY_ASKS": "Wait for the decisions about what you have proposed.",
    "TOO_LITTLE_EVIDENCE": "Do not try it again. Say what is missing.",
}


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What a tool call gave. `untrusted` marks data that strangers wrote; `suspends` says that
    the run must wait for people before it goes on, and `ambiguity` which name the user is asked
    about, and whom it may mean."""

    success: bool
    data: Mapping[str, Any] = field(default_factory=dict)
    code: ErrorCode | None = None
    message: str = ""
    recoverable: bool = False
    suggested_action: str = ""
    untrusted: bool = False
    suspends: bool = False
    ambiguity: Mapping[str, Any] | None = None

    def wire(self) -> dict[str, Any]:
        """The JSON a model is shown and the row keeps."""
        flags = {"untrusted": self.untrusted, "suspends": self.suspends}
        marks = {name: True for name, is_set in flags.items() if is_set}
        if self.success:
            return {"success": True, "data": dict(self.data), **marks}
        return {
            "success": False,
            **marks,
            **({"data": dict(self.data)} if self.data else {}),
            **({"ambiguity": dict(self.ambiguity)} if self.ambiguity else {}),
            "error": {
                "code": self.code,
                "message": self.message,
                "recoverable": self.recoverable,
                "suggested_action": self.suggested_action,
            },
        }


def failure(
    code: ErrorCode, message: str, *, recoverable: bool = False, suggested_action: str = ""
) -> ToolResult:
    return ToolResult(
        success=False,
        code=code,
        message=message,
        recoverable=recoverable,
        suggested_action=suggested_action or SUGGESTIONS[code],
    )


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """A tool call as it stands. `result` is None while it is open. `at` is when it ended, or
    was asked for while it is open; None means now. `is_new`: this process has just stored it, so
    nobody has run it before."""

    id: UUID
    name: str
    arguments: str
    action_id: UUID
    result: Mapping[str, Any] | None
    at: datetime | None = None
    is_new: bool = field(default=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    number: int
    text: str
    finish_reason: str
    calls: tuple[CallRecord, ...]


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a turn has used so far, its specialists included, and whether a person wants it to
    end. `cost` is in US dollars."""

    tool_calls: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)
    stopped: bool = False


@dataclass(frozen=True, kw_only=True)
class TurnRecord:
    """One turn of a conversation as the prompt needs it.

    `user_text` is None where the user's message answered an open question: then it stands
    in the transcript as that call's result. `reply` is the assistant's message when it was
    not a step of a model (a limit, an error); `person` is what a person answered later.
    """

    user_text: str | None
    decisions: tuple[Mapping[str, Any], ...]
    steps: tuple[StepRecord, ...]
    reply: str | None
    person: str = ""
    id: UUID | None = None
    is_whole: bool = True  # else only what was said is known of it


@dataclass(frozen=True, kw_only=True)
class Person:
    """The end user a turn works for, with the accounts the turn may touch."""

    organisation_id: UUID
    external_user_id: str
    accounts: tuple[AccountRef, ...]
    preferences: Preferences = field(default_factory=Preferences)

    @property
    def mailboxes(self) -> tuple[AccountRef, ...]:
        """The accounts whose mail can be acted on, those connected first coming first."""
        return tuple(one for one in self.accounts if one.source in writable("mail"))

    def payer(self, run_id: UUID, *, account: AccountRef | None = None) -> Payer:
        """Whom the models' work for this person is counted for; `account` where it is the
        account's own."""
        return Payer(
            organisation_id=self.organisation_id,
            external_user_id=self.external_user_id,
            account_id=account.id if account else None,
            run_id=run_id,
        )

    @property
    def time_zone(self) -> str:
        return self.preferences.time_zone or (
            self.accounts[0].time_zone if self.accounts else "UTC"
        )

    @property
    def name(self) -> str:
        named = self.accounts[0].display_name if self.accounts else ""
        return self.preferences.name or named or self.external_user_id

    @property
    def working_hours(self) -> WorkingHours:
        return self.preferences.working_hours or OFFICE_HOURS


@dataclass(frozen=True, kw_only=True)
class Past:
    """How mail that was there before is worked through. `trial`: the run in which it is only
    decided about, and nothing is done. `writes`: whether it may be answered, in drafts too.
    `draft`: the policy of a trial, where it is not the present one."""

    trial: UUID | None
    writes: bool
    draft: PolicyFile | None = None


@dataclass(frozen=True, kw_only=True)
class InboundMail:
    """The minimal context of an inbound mail (MAIL-1)."""

    account: AccountRef
    email_id: str
    thread_id: str
    sender: str
    sender_name: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    text: str
    list_id: str
    first_contact: bool  # doubt means known, so False
    authenticated: bool
    date: str
    thread_messages: int
    earlier: tuple[Mapping[str, str], ...] = ()  # the thread's newest before it: from, date, text
    is_answered: bool = False  # the user wrote in its thread after it
