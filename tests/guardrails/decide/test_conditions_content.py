"""Conditions about what goes out: what is written, and what others get to see by it."""

from typing import Any

import pytest

from guardrails.actions import registry
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.base import Context
from guardrails.facts.facts import Facts
from guardrails.gather.lookups import content_of
from integrations.contracts import Attachment, Document, Event
from tests.guardrails.values import ME, NOW, email, facts


def is_met(
    raw: dict[str, Any],
    action: str = "send_email",
    found: Facts | None = None,
    words: str = "",
    **arguments: Any,
) -> bool:
    context = Context(
        action=registry.BY_NAME[action],
        trigger="chat",
        facts=found or facts(),
        now=NOW,
        arguments=arguments,
        words=words,
    )
    return conditions.parse(raw).evaluate(context).passed


def shown(found: Any) -> Facts:
    """Facts with an object that others would get to see."""
    return facts(content=content_of(found))


@pytest.mark.parametrize(
    ("body", "none", "known", "any_"),
    [
        ("Hello", True, True, True),
        ("https://client.com/x", False, True, True),
        ("https://company.com", False, True, True),  # the account's own domain
        ("https://www.client.com", False, False, True),
        ("https://client.com@evil.example", False, False, True),
        ("![x](https://evil.example/?q=1)", False, False, True),
        ("![x](client.png)", False, False, True),
    ],
)
def test_links_are_forbidden_known_or_free(body: str, none: bool, known: bool, any_: bool) -> None:
    assert is_met({"kind": "links", "links": "none"}, body=body) is none
    assert is_met({"kind": "links", "domains": ["client.com"]}, body=body) is known
    assert is_met({"kind": "links", "links": "any"}, body=body) is any_


def test_the_own_domain_is_known_only_when_the_own_address_is() -> None:
    nobody = facts(own_address="")
    assert not is_met({"kind": "links"}, found=nobody, body="https://company.com")
    assert is_met({"kind": "links"}, found=nobody, body="Hello")


def test_a_link_in_the_subject_counts() -> None:
    assert not is_met({"kind": "links"}, subject="evil.example", body="")


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ("forward_email", email(body_text="https://evil.example")),
        ("forward_email", email(body_html="<img src=//evil.example/x>")),
        (
            "share_document",
            Document(id="d", created_at=NOW, modified_at=NOW, content_text="https://evil.example"),
        ),
        (
            "update_calendar_event",
            Event(id="e", start=NOW, end=NOW, description="https://evil.example"),
        ),
    ],
)
def test_what_others_get_to_see_counts(action: str, found: Any) -> None:
    arguments = {"email": "ada@client.com"}
    assert not is_met({"kind": "links"}, action, shown(found), **arguments)
    assert is_met({"kind": "links"}, action, shown(email()), **arguments)
    assert not is_met({"kind": "links"}, action, facts(content=None), **arguments)


def test_secrets_are_named_by_kind() -> None:
    card: dict[str, Any] = {"body": "4111 1111 1111 1111"}
    assert not is_met({"kind": "secrets"}, **card)
    assert not is_met({"kind": "secrets", "forbid": ["card"]}, **card)
    assert is_met({"kind": "secrets", "forbid": ["iban", "token", "one_time_code"]}, **card)
    assert is_met({"kind": "secrets"}, body="See you at 10.")
    coded = shown(email(body_text="Your verification code is 482913"))
    assert not is_met({"kind": "secrets"}, "forward_email", coded, to=["ada@client.com"])


def test_a_secret_split_over_two_fields_is_one() -> None:
    assert not is_met({"kind": "secrets"}, subject="Your verification code", body="482913")


def test_characters_are_counted_over_all_that_goes_out() -> None:
    assert is_met({"kind": "max_chars", "max": 8}, subject="1234", body="5678")
    assert not is_met({"kind": "max_chars", "max": 7}, subject="1234", body="5678")
    assert is_met({"kind": "max_chars", "max": 8}, subject="1234", body="5678", to=[ME])
    long = shown(email(subject="", body_text="x" * 10))
    assert is_met({"kind": "max_chars", "max": 11}, "forward_email", long, body="y")
    assert not is_met({"kind": "max_chars", "max": 10}, "forward_email", long, body="y")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Hello, 3 < 5 and *stars*", True),
        ("<ada@client.com> wrote", True),
        ("<b>bold</b>", False),
        ("a <img", False),
        ("<!-- x -->", False),
        ("&lt;b&gt;", False),
        ("![x](y)", False),
    ],
)
def test_plain_text_has_neither_markup_nor_images(body: str, expected: bool) -> None:
    assert is_met({"kind": "plain_text_only"}, body=body) is expected


def test_a_forwarded_mail_with_markup_is_not_plain() -> None:
    raw = {"kind": "plain_text_only"}
    assert not is_met(raw, "forward_email", shown(email(body_html="<p>x</p>")), body="")
    assert is_met(raw, "forward_email", shown(email(body_text="x")), body="")


def test_attachments_are_forbidden_named_or_free() -> None:
    files = shown(email(attachments=(Attachment(name="plan.pdf"), Attachment(name="b.xlsx"))))
    none, named = {"kind": "attachments"}, {"kind": "attachments", "attachments": "named"}
    assert is_met(none, "forward_email", shown(email()), body="")
    assert not is_met(none, "forward_email", files, "forward plan.pdf and b.xlsx", body="")
    assert is_met(named, "forward_email", files, "forward plan.pdf and b.xlsx", body="")
    assert not is_met(named, "forward_email", files, "forward plan.pdf", body="")
    assert not is_met(named, "forward_email", files, "forward plan.pdf.exe and b.xlsx", body="")
    assert not is_met(named, "forward_email", facts(), "plan.pdf b.xlsx", body="")
    assert is_met({"kind": "attachments", "attachments": "any"}, "forward_email", files, body="")


def test_every_argument_that_is_text_is_looked_at() -> None:
    """A new argument of an action is text, or of a type that cannot be."""
    texts = {action.name: action.texts for action in registry.ACTIONS if action.texts}
    assert texts == {
        "draft": ("subject", "body"),
        "send_email": ("subject", "body"),
        "forward_email": ("body",),
        "create_jira_task": ("summary", "description"),
        "update_jira_task": ("summary", "description"),
        "comment_jira_task": ("body",),
        "sort_issue": ("component", "duplicate_of"),
        "create_calendar_event": ("title", "description", "location"),
        "update_calendar_event": ("title", "description", "location"),
        "create_document": ("name", "content"),
        "append_document": ("content",),
        "call_mcp_tool": ("arguments",),
    }
