"""summarise_document and summarise_thread: what long texts say, in short, ready to be cited."""

from collections.abc import Sequence

from django.conf import settings
from django.utils import timezone
from pydantic import Field

from agents.context import clock
from agents.context.prompts import (
    DOCUMENT_SUMMARY,
    THREAD_SUMMARY,
    render_block,
    render_reader,
)
from agents.contracts import ToolResult, failure
from agents.tools import open_item
from agents.tools.base import Arguments, ItemId, Tool, ToolContext
from agents.tools.retrieve_context import number_items
from integrations.accounts.reads import mail_reader
from integrations.contracts import Email
from integrations.exceptions import NotFound
from integrations.llm import llm
from integrations.llm.completions import ModelError
from integrations.mail.html import html_to_text
from knowledge.search import retrieval

PART_CHARS = 12_000
MAX_PARTS = 4  # of a document: 48,000 characters
NEWEST_MAILS = 20
MAIL_CHARS = 3_000
SUMMARY_TOKENS = 700


class SummariseDocument(Arguments):
    item_id: ItemId
    focus: str = Field(default="", max_length=300, description="What the user wants to know.")


def document(context: ToolContext, arguments: SummariseDocument) -> ToolResult:
    """One summary of one item of the user, made part by part where it is long."""
    item = open_item.find(context, arguments.item_id, chars=PART_CHARS * MAX_PARTS + 1)
    if item is None:
        return open_item.no_such_item(arguments.item_id)
    if not item.text.strip():
        return failure("NOT_FOUND", "The item has no text.")
    parts = [
        item.text[start : start + PART_CHARS]
        for start in range(0, min(len(item.text), PART_CHARS * MAX_PARTS), PART_CHARS)
    ]
    said = [_summary(context, DOCUMENT_SUMMARY, arguments.focus, part) for part in parts]
    if len(said) > 1:
        said = [_summary(context, DOCUMENT_SUMMARY, arguments.focus, "\n\n".join(said))]
    [n] = number_items(context, [item])
    return ToolResult(
        success=True,
        data={
            "n": n,
            "id": str(item.id),
            "title": item.title,
            "summary": said[0],
        }
        | ({} if len(item.text) <= PART_CHARS * MAX_PARTS else {"whole": False}),
        untrusted=True,
    )


class SummariseThread(Arguments):
    item_id: ItemId
    focus: str = Field(default="", max_length=300, description="What the user wants to know.")


def thread(context: ToolContext, arguments: SummariseThread) -> ToolResult:
    """What was said in the thread of one mail of the user, who owes an answer included."""
    accounts = {account.id: account for account in context.person.accounts}
    name = arguments.item_id
    item = retrieval.find_items([name], account_ids=[*accounts]).get(name)
    if item is None or item.content_type != "email":
        return open_item.no_such_item(name)
    account = accounts[item.account_id]
    try:
        mail = mail_reader(account).email(item.source_id)
        mails = mail_reader(account).thread(mail.thread_id) if mail.thread_id else (mail,)
    except NotFound:
        return failure("NOT_FOUND", "The mail is gone from the mailbox.")
    newest = sorted(mails, key=lambda one: one.date)[-NEWEST_MAILS:]
    zone = context.person.time_zone
    text = "\n\n".join(render_with_head(one, zone=zone) for one in newest)
    [n] = number_items(context, [item])
    return ToolResult(
        success=True,
        data={
            "n": n,
            "id": str(item.id),
            "title": item.title,
            "mails": len(mails),
            "summarised": len(newest),
            "summary": _summary(context, THREAD_SUMMARY, arguments.focus, text),
        },
        untrusted=True,
    )


def render_mail(mail: Email) -> str:
    """The words of a mail, from HTML where it has no plain text."""
    text = mail.body_text.strip() or (html_to_text(mail.body_html) if mail.body_html else "")
    return (text or mail.snippet)[:MAIL_CHARS]


def render_with_head(mail: Email, *, zone: str) -> str:
    """A mail with who wrote it, to whom, and when on the clock of this zone."""
    lines: Sequence[str] = (
        f"From: {mail.sender_name} <{mail.sender}>",
        f"To: {', '.join(mail.to)}",
        f"Date: {clock.show(mail.date, zone)}",
        render_mail(mail),
    )
    return "\n".join(lines)


def _summary(context: ToolContext, system: str, focus: str, text: str) -> str:
    about = render_reader(context.person, timezone.now())
    asked = f"The reader wants to know: {focus}\n\n" if focus else ""
    answer = llm.complete(
        messages=[
            {"role": "system", "content": system},
            {
                "role": "user",
                "content": f"{about}\n\n{asked}{render_block(id='text', lines=[text])}",
            },
        ],
        payer=context.payer,
        purpose="summary",
        model=settings.INGEST_MODEL,
        max_tokens=SUMMARY_TOKENS,
        deadline=context.deadline,
    )
    if not answer.text.strip():
        raise ModelError("empty_answer", retryable=True)
    return answer.text.strip()


SUMMARISE_DOCUMENT = Tool(
    name="summarise_document",
    description="Summarise one retrieved item, also a long one.",
    arguments=SummariseDocument,
    run=document,
    repeats=True,
)
SUMMARISE_THREAD = Tool(
    name="summarise_thread",
    description="Summarise the whole thread of one retrieved mail: who said what, what is open.",
    arguments=SummariseThread,
    run=thread,
    repeats=True,
)
