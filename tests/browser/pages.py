"""Every page that Remit has, read from its addresses: none can be forgotten."""

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.http import HttpRequest
from django.test import Client

from agents.turns.roster import AGENTS
from guardrails.actions.registry import ACTIONS
from guardrails.contracts.cards import ApprovalCard
from guardrails.decide.conditions.vocabulary import BY_KIND
from integrations.models import Account
from knowledge.models import Item
from knowledge.sync import accounting
from tests.config.test_urls import OF_ALL, PARAMETER, model_of, patterns
from tests.rows import Rows

# For programs, whatever they answer.
NO_PAGES = ("/api/v1/", "/api/schema", "/webhooks/", "/health", "/ready", "/metrics", "/status")
# Inputs without a border: how a page looks that is not in the theme.
BARE_INPUTS = """
[...document.querySelectorAll(
  "#content-main form input:not([type=hidden], [type=checkbox], [type=radio], [type=file]),"
  + " #content-main form textarea, #content-main form select:not(.select2-hidden-accessible)"
)].filter((one) => one.offsetParent && one.name !== "q"
  && getComputedStyle(one).borderTopWidth === "0px").map((one) => one.name || one.outerHTML)
"""


# Set as code, typed, chosen from, or drawn.
NO_TEXT = re.compile(
    r"(?s)<(script|style|template|textarea|pre|code|option)\b.*?</\1>"
    r"|<span[^>]*material-symbols[^>]*>.*?</span>"
)
TAG = re.compile(r"<[^>]*>")
INDEXED = re.compile(r"\b[a-z_.]+\[\d+\]")
TWICE = re.compile(r"\boperator operator\b")
# Of the demo office: its scripted mails, who set it up, how its model ended.
OFFICE_CODES = ("html_only", "thread_update", "load_demo", "tool_calls")


class Pages:
    """The addresses of all pages, about what the demo office has, and about a row made up for a
    model of which it has none."""

    def __init__(self, card: ApprovalCard, action_id: UUID) -> None:
        self.card, self.action_id = card, action_id
        self.rows = Rows("rest")
        self.request = HttpRequest()
        self.request.user = User.objects.get(username="operator")
        for model in admin.site._registry:
            self.first(model)

    def first(self, model: type[Model]) -> Any:
        found = admin.site._registry[model].get_queryset(self.request).first()
        return found if found or model._meta.label in OF_ALL else self.rows.of(model)

    def addresses(self) -> Iterator[str]:
        for route, name in patterns():
            if route.startswith(NO_PAGES):
                continue
            address = self._filled(route)
            if address is not None:
                asked = self._asked(name)
                yield address + (f"?{urlencode(asked)}" if asked else "")

    def _filled(self, route: str) -> str | None:
        """None where there is no row of the kind that it is about."""
        names = [first or second for first, second in PARAMETER.findall(route)]
        if not names:
            return route
        if names[0] == "content_type_id":
            kind = ContentType.objects.get_for_model(Account)
            return f"/admin/r/{kind.pk}/{self.first(Account).pk}/"
        given = {
            "action_id": self.action_id,
            "approval_id": self.card.id,
            "item_id": self.first(Item).pk,
            "format": "csv",
            "app_label": "guardrails",
            "url": "nowhere",
        }
        if names[-1] in given:
            return PARAMETER.sub(str(given[names[-1]]), route)
        model = model_of(route)
        row = self.first(model) if model else None
        return PARAMETER.sub(str(row.pk), route) if row else None

    def _asked(self, name: str) -> dict[str, str]:
        """What a page asks for that shows more about an account, a card or an action."""
        account = str(self.card.account_id)
        return {
            "guardrails_policy_explain": {"account": account, "target": "ada@client.com"},
            "guardrails_policy_simulate": {"account": account, "action": "send_email"},
            "guardrails_policy_import": {"account": account, "preset": "careful-mailbox"},
            "guardrails_policy_shadow": {"account": account},
            "guardrails_approval_batch": {"ids": str(self.card.id)},
            "setup": {"account": account},
            "find": {"q": "invoice"},
        }.get(name, {})


def read_pages(client: Client, addresses: Iterable[str]) -> dict[str, str]:
    """Those of these addresses that lead to a page, with its text."""
    found = {address: read_page(client, address) for address in addresses}
    return {address: text for address, text in found.items() if text is not None}


def read_page(client: Client, address: str) -> str | None:
    """A whole page: no redirect to one, no part of one, no file, no form's end."""
    answer = client.get(address)
    kind = answer.headers.get("Content-Type", "")
    if answer.status_code != 200 or not kind.startswith("text/html"):
        return None
    page = answer.getvalue().decode().lstrip()
    return page if page[:9].lower() == "<!doctype" else None


def list_codes() -> frozenset[str]:
    """Names that programs use for actions, their arguments, conditions, reasons and agents."""
    names = {name for action in ACTIONS for name in (action.name, *action.takes)}
    names |= {name for action in ACTIONS for name in action.arguments.model_fields}
    names |= {*BY_KIND, *accounting.REASONS, *(agent.name for agent in AGENTS), *OFFICE_CODES}
    return frozenset(name for name in names if "_" in name)


CODE = re.compile("|".join(rf"\b{name}\b" for name in sorted(list_codes())), re.IGNORECASE)


def find_codes(page: str) -> set[str]:
    """What of a page's text only programs should read: codes, and places such as `to[0]`. What is
    set as code, typed into fields, or an icon's name is left out."""
    text = html.unescape(TAG.sub(" ", NO_TEXT.sub(" ", page)))
    return {*CODE.findall(text), *INDEXED.findall(text), *TWICE.findall(text)}
