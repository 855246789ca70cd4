"""draft_reply: write an answer to a mail and propose it as a draft. Nothing is sent."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from agents.context.prompts import REPLY_DRAFT, render_block
from agents.contracts import ToolResult, failure
from agents.tools.acting import act, to_observation
from agents.tools.base import Arguments, ItemId, Tool, ToolContext
from agents.tools.open_item import no_such_item
from agents.tools.summaries import render_mail
from integrations.exceptions import NotFound
from integrations.llm import llm
from integrations.reads import mail_reader
from knowledge.search import retrieval

BODY_TOKENS = 1_500


class DraftReply(Arguments):
    item_id: ItemId
    points: str = Field(
        default="", max_length=2_000, description="What the answer is to say, in the user's sense."
    )


class Written(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    body: Annotated[str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)]


def run(context: ToolContext, arguments: DraftReply) -> ToolResult:
    """The receiver is who wrote the mail, from the provider's record; the model has no say in
    it. The guardrails decide about the draft like about any action."""
    mailboxes = {one.id: one for one in context.person.mailboxes}
    name = arguments.item_id
    found = retrieval.find_items([name], account_ids=[*mailboxes]).get(name)
    if found is None:
        return no_such_item(name)
    account = mailboxes[found.account_id]
    try:
        mail = mail_reader(account).email(found.source_id)
    except NotFound:
        return failure("NOT_FOUND", "The mail is gone from the mailbox.")
    asked = f"The answer is to say: {arguments.points}\n\n" if arguments.points else ""
    lines = [f"From: {mail.sender_name} <{mail.sender}>", f"Subject: {mail.subject}"]
    block = render_block(id="mail", lines=[*lines, render_mail(mail)])
    try:
        written = Written.model_validate(
            llm.complete_json(
                system=REPLY_DRAFT,
                user=asked + block,
                payer=context.payer,
                purpose="draft_reply",
                max_tokens=BODY_TOKENS,
            )
        )
    except ValidationError:
        return failure("EXECUTION_FAILED", "The reply could not be written.", recoverable=True)
    subject = mail.subject if mail.subject.lower().startswith("re:") else f"Re: {mail.subject}"
    return to_observation(
        act(
            context,
            action_type="draft",
            params={
                "reply_to_id": mail.id,
                "to": [mail.sender],
                "subject": " ".join(subject.split()),
                "body": written.body,
            },
            account_id=account.id,
        )
    )


TOOL = Tool(
    name="draft_reply",
    description="Write a reply to one retrieved mail and put it into the drafts, as far as the "
    "limits permit. Nothing is sent.",
    arguments=DraftReply,
    run=run,
    acts=True,
    repeats=True,
)
