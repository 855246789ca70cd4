"""propose_pattern: suggest that mail like this is always treated like that. It waits for a
person and grants nothing. What it matches and what speaks for it is read by code, and without
enough of that there is no proposal."""

from typing import Any, Literal
from uuid import UUID

from django.utils import timezone
from pydantic import Field

from agents.context.schemas import TAUGHT
from agents.contracts import Person, ToolResult, failure
from agents.learn import precedents
from agents.tools.base import Arguments, Tool, ToolContext
from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments
from guardrails.contracts.learning import Pattern, PatternProposal
from guardrails.facts.subjects import generalised
from guardrails.facts.targets import domain_of
from guardrails.facts.text import visible
from guardrails.learn import proposals
from guardrails.policies.changes import Author
from integrations.contracts import AccountRef
from knowledge.contracts import StoredMail
from knowledge.search import mails, retrieval

Match = Literal["sender", "sender_and_subject", "sender_domain", "list", "list_and_subject"]


class Step(Arguments):
    action_type: str = Field(max_length=64)
    params: dict[str, Any] = Field(
        default_factory=dict, description="Its arguments, without the mail's id."
    )


class ProposePattern(Arguments):
    email_id: str = Field(min_length=1, max_length=500, description="The example.")
    match: Match = Field(description="What they have in common.", json_schema_extra=TAUGHT)
    actions: list[Step] = Field(min_length=1, max_length=5)
    reason: str = Field(default="", max_length=500)


def _example(person: Person, email_id: str) -> tuple[AccountRef | None, StoredMail | None]:
    """The mail, by Remit's id or by the provider's, and whose mailbox it is in."""
    mailboxes = {one.id: one for one in person.mailboxes}
    found = retrieval.find_items([email_id], account_ids=[*mailboxes], chars=0).get(email_id)
    if found is None:
        return None, None
    account = mailboxes[found.account_id]
    return account, mails.load_by_ids(account.id, [found.source_id]).get(found.source_id)


def run(context: ToolContext, arguments: ProposePattern) -> ToolResult:
    if context.mail is not None and context.mail.email_id != arguments.email_id:
        return failure("PERMISSION_DENIED", "Only the mail at hand can be the example.")
    account, mail = _example(context.person, arguments.email_id)
    if account is None or mail is None:
        return failure("NOT_FOUND", "There is no such mail.")
    pattern = build_pattern(mail, arguments)
    if pattern is None:
        return failure("INVALID_INPUT", "The example has no such sender, list or subject.")
    try:
        for action_type, params in pattern.actions:
            registry.check_in_pattern(action_type, params)
    except InvalidArguments as error:
        return failure("INVALID_INPUT", f"{error}.", recoverable=True)
    now = timezone.now()
    proposed = proposals.propose(
        PatternProposal(
            account=account,
            pattern=pattern,
            proposed_by="chat" if context.trigger == "chat" else "webhook",
            example_id=mail.source_id,
            tried=precedents.try_pattern(pattern, precedents.load_past(account), now=now),
            reason=arguments.reason,
        ),
        author=Author(name=f"agent:{context.agent}", door="agent"),
        now=now,
    )
    if proposed.status == "unproven":
        return failure("TOO_LITTLE_EVIDENCE", proposed.sentence)
    if proposed.status in ("taken", "crowded", "invalid"):
        return failure("INVALID_INPUT", proposed.sentence)
    return ToolResult(
        success=True,
        data={"status": "acts" if proposed.acts else "proposed", "sentence": proposed.sentence},
    )


def build_pattern(mail: StoredMail, arguments: ProposePattern) -> Pattern | None:
    """The pattern that matches mails like this one by whole values of its own; None where the
    mail lacks them. Raises nothing of its own."""
    by_list = arguments.match.startswith("list")
    anchor = mail.list_id if by_list else mail.sender
    if arguments.match == "sender_domain":
        anchor = domain_of(mail.sender)
    subject = generalised(mail.subject) if arguments.match.endswith("_and_subject") else ""
    if not anchor or (arguments.match.endswith("_and_subject") and not subject):
        return None
    return Pattern(
        id=UUID(int=0),
        name=visible(f"{anchor} · {mail.subject}" if subject else anchor, limit=200),
        sender_address="" if by_list or arguments.match == "sender_domain" else anchor,
        sender_domain=anchor if arguments.match == "sender_domain" else "",
        list_id=anchor if by_list else "",
        subject=subject,
        content_type="email",
        actions=tuple((step.action_type, step.params) for step in arguments.actions),
    )


TOOL = Tool(
    name="propose_pattern",
    description="Propose that mail like an example is always treated alike. It needs three mails "
    "that people treated so, and none otherwise: Remit counts. An operator approves it first.",
    arguments=ProposePattern,
    run=run,
    note=": for all mail like it, once people did so 3 times",
)
