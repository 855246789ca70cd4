"""execute_action: propose any action by its name. Whether it runs, waits or is refused is not its
choice.

What is permitted has a tool of its own (`agents.tools.actions`). This one is for what is not, so
that it is refused and recorded, and the user can ask for it. Learned patterns call it too.
"""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field

from agents.contracts import ToolResult, failure
from agents.tools import placeholders, signatures
from agents.tools.acting import act, record_refused, to_observation
from agents.tools.base import Arguments, Tool, ToolContext
from guardrails.facts.text import one_line

SIGNED = frozenset({"draft", "send_email"})


class ExecuteAction(Arguments):
    action_type: Annotated[str, AfterValidator(one_line)] = Field(min_length=1, max_length=64)
    params: dict[str, Any] = Field(description="What is known of it: to, subject, title …")
    confirm_first: bool = Field(
        default=False, description="Ask the user even where the limits would not."
    )
    reason: str = Field(default="", max_length=500, description="Why, in one sentence.")
    account_id: UUID | None = Field(
        default=None, description="Which account, where there are several."
    )


def run(context: ToolContext, arguments: ExecuteAction) -> ToolResult:
    known = {one.id for one in context.person.accounts}
    if arguments.account_id is not None and arguments.account_id not in known:
        record_refused(context)
        return failure("INVALID_INPUT", "There is no such account.", recoverable=True)
    params = context.complete(arguments.action_type, arguments.params)
    if isinstance(params, ToolResult):
        return params
    if not context.pattern_id:
        params = _finish_mail(context, arguments.action_type, params)
    typed = context.user_words
    if left := placeholders.refuse(arguments.action_type, params, typed=typed):
        return left
    return to_observation(
        act(
            context,
            action_type=arguments.action_type,
            params=params,
            tighten=arguments.confirm_first,
            reason=arguments.reason,
            account_id=arguments.account_id,
            policy=context.policy,
        )
    )


def _finish_mail(
    context: ToolContext, action_type: str, params: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A mail in the user's name with their name and signature. What else is wrong with it is said
    by who takes it."""
    body, person = params.get("body"), context.person
    if action_type not in SIGNED or not isinstance(body, str):
        return params
    named = placeholders.put_in_name(body, person.name)
    signed = signatures.sign(named, person.preferences.signature, name=person.name)
    return {**params, "body": signed}


TOOL = Tool(
    name="execute_action",
    description="An action that the user asks for and that none of your tools is named after: it "
    "is refused and recorded, and the user can ask for it to be permitted.",
    arguments=ExecuteAction,
    run=run,
    acts=True,
    repeats=True,
    aside=frozenset({"reason", "confirm_first"}),
)
