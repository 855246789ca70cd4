"""draft_reply: write an answer to a mail and propose it as a draft. Nothing is sent."""

from collections.abc import Sequence
from typing import Annotated

from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from agents.context import busy
from agents.context.prompts import REPLY_DRAFT, render_block, render_reader
from agents.contracts import ToolResult, failure
from agents.tools import placeholders, signatures
from agents.tools.acting import act, to_observation
from agents.tools.base import Arguments, ItemId, Tool, ToolContext
from agents.tools.open_item import no_such_item
from agents.tools.summaries import render_with_head
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, Email
from integrations.exceptions import NotFound
from integrations.llm import llm
from knowledge.search import retrieval

BODY_TOKENS = 1_500
EARLIER_MAILS = 6  # of the thread, the mail itself among them


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
        thread = _thread(account, mail)
    except NotFound:
        return failure("NOT_FOUND", "The mail is gone from the mailbox.")
    asked = f"The answer is to say: {arguments.points}\n\n" if arguments.points else ""
    person = context.person
    now, zone = timezone.now(), person.time_zone
    taken = busy.render(person, f"{mail.subject}\n{mail.body_text}\n{arguments.points}", now)
    about = "\n".join(filter(None, [render_reader(person, now), taken]))
    earlier = [one for one in thread if one.id != mail.id]
    blocks = [
        render_block(id="earlier in the thread", lines=[render_with_head(one, zone=zone)])
        for one in earlier
    ]
    blocks.append(
        render_block(
            id="mail", lines=[f"Subject: {mail.subject}", render_with_head(mail, zone=zone)]
        )
    )
    try:
        written = Written.model_validate(
            llm.complete_json(
                system=REPLY_DRAFT,
                user=f"{about}\n\n{asked}" + "\n".join(blocks),
                payer=context.payer,
                purpose="draft_reply",
                max_tokens=BODY_TOKENS,
                deadline=context.deadline,
            )
        )
    except ValidationError:
        return failure("EXECUTION_FAILED", "The reply could not be written.", recoverable=True)
    body = placeholders.put_in_name(written.body, person.name)
    if left := placeholders.find(body, typed=f"{context.user_words}\n{arguments.points}"):
        return failure(
            "EXECUTION_FAILED",
            f"The reply leaves blanks: {', '.join(left)}.",
            recoverable=True,
            suggested_action="Say in `points` what stands there, or ask the user.",
        )
    subject = mail.subject if mail.subject.lower().startswith("re:") else f"Re: {mail.subject}"
    return to_observation(
        act(
            context,
            action_type="draft",
            params={
                "reply_to_id": mail.id,
                "to": [mail.sender],
                "subject": " ".join(subject.split()),
                "body": signatures.sign(body, person.preferences.signature, name=person.name),
            },
            account_id=account.id,
        )
    )


def _thread(account: AccountRef, mail: Email) -> Sequence[Email]:
    """The newest mails of its thread up to it, oldest first; itself alone where it has none."""
    if not mail.thread_id:
        return (mail,)
    before = [one for one in mail_reader(account).thread(mail.thread_id) if one.date <= mail.date]
    return sorted(before, key=lambda one: one.date)[-EARLIER_MAILS:]


TOOL = Tool(
    name="draft_reply",
    description="Write a reply to one retrieved mail and put it into the drafts, as far as the "
    "limits permit. Nothing is sent.",
    arguments=DraftReply,
    run=run,
    acts=True,
    repeats=True,
)
