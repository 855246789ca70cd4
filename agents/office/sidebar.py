"""The admin's sidebar: the dozen pages that people come for, and the rest under “Advanced”."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from agents.office import console_access, first_page


@dataclass(frozen=True)
class Page:
    """One entry of the sidebar: model, title, icon of the theme. It leads to the model's list,
    or to `view` for those who may see the model."""

    app: str
    model: str
    title: str
    icon: str
    view: str = ""


def _page(title: str, icon: str, view: str) -> Page:
    """A page about policy as a whole, for those who may see allowed actions."""
    return Page("guardrails", "allowedaction", title, icon, view=view)


def _proof(title: str, icon: str, view: str) -> Page:
    """A page about the ledger as a whole, for those who may see it."""
    return Page("audit", "executedagentaction", title, icon, view=view)


# What people come for day by day.
MAIN = (
    Page("guardrails", "approval", "Approvals", "how_to_reg"),
    Page("guardrails", "changerequest", "Change requests", "edit_note"),
    Page("agents", "escalation", "Handed to a person", "support_agent"),
    Page("guardrails", "assistantdraft", "Drafts", "drafts"),
    _page("Set up", "rocket_launch", "setup"),
    _page("What may it do?", "help", "admin:guardrails_policy_explain"),
    Page("guardrails", "killswitch", "Stop", "power_settings_new"),
    Page("guardrails", "person", "People", "contacts"),
    Page("audit", "executedagentaction", "Ledger", "verified"),
    _proof("For auditors", "fact_check", "admin:guardrails_ledger_auditor"),
)
# The rest, which operators look up.
ADVANCED = (
    (
        "Work",
        (
            Page("agents", "turn", "Dashboard", "space_dashboard", view="admin:agents_dashboard"),
            Page("agents", "turn", "A user's day", "today", view="day"),
            Page("agents", "turn", "Turns", "forum"),
            Page("agents", "conversation", "Conversations", "chat"),
            Page("guardrails", "heldsend", "Held sends", "hourglass_top"),
            Page("guardrails", "undo", "Undone", "undo"),
            Page("guardrails", "approvalrecipient", "Who hears of approvals", "notifications"),
            Page("integrations", "delivery", "Deliveries", "inbox"),
            Page("agents", "customagent", "Custom agents", "smart_toy"),
            Page("agents", "suggestion", "Suggestions", "lightbulb"),
            Page("agents", "pastrun", "Past mail", "history_toggle_off"),
        ),
    ),
    (
        "Limits",
        (
            Page("guardrails", "ceilinglimit", "Ceiling", "vertical_align_top"),
            _page("Try an action", "science", "admin:guardrails_policy_simulate"),
            Page("guardrails", "allowedaction", "Allowed actions", "rule"),
            Page("guardrails", "allowedactionoption", "Targets", "target"),
            Page("guardrails", "targetgroup", "Groups", "category"),
            Page("guardrails", "learnedpattern", "Patterns", "pattern"),
            Page("guardrails", "skill", "Skills", "school"),
            Page("integrations", "mcpserver", "MCP servers", "dns"),
            Page("integrations", "mcptool", "MCP tools", "extension"),
            Page("integrations", "budget", "Budgets", "savings"),
            _page("History", "history", "admin:guardrails_policy_history"),
        ),
    ),
    (
        "Proof",
        (
            Page("guardrails", "checkpointrecipient", "Recipients", "outgoing_mail"),
            _proof("Reconciliation", "compare_arrows", "admin:guardrails_ledger_reconciliation"),
            _proof("Health report", "monitor_heart", "admin:guardrails_ledger_health"),
            Page("agents", "installationcheck", "Installation", "fact_check"),
            _proof("Keeping and erasing", "lock_clock", "admin:guardrails_ledger_erasure"),
        ),
    ),
    (
        "Data",
        (
            Page("knowledge", "item", "Items", "article"),
            Page("knowledge", "entity", "Entities", "hub"),
            Page("knowledge", "embeddingmodel", "Embedding models", "scatter_plot"),
            Page("knowledge", "syncrun", "Syncs", "sync"),
            Page("knowledge", "syncfailure", "Dead letters of syncs", "unsubscribe"),
            Page(
                "knowledge", "syncrun", "Accounting", "balance", view="admin:knowledge_accounting"
            ),
            Page("integrations", "providerresource", "Resources", "link"),
            Page("integrations", "upstream", "Data services", "cloud"),
            Page("integrations", "modelcall", "Model calls", "neurology"),
        ),
    ),
    (
        "People and access",
        (
            Page("integrations", "account", "Accounts", "account_circle"),
            Page("integrations", "userpreferences", "Preferences", "tune"),
            Page("guardrails", "directorysync", "Directory syncs", "cloud_sync"),
            Page("guardrails", "owndomain", "Own domains", "domain"),
            Page("integrations", "organisation", "Organisations", "apartment"),
            Page("integrations", "servicetoken", "Tokens", "key"),
            Page("auth", "user", "Users", "person"),
            Page("auth", "group", "Groups of users", "group"),
            Page("mfa", "authenticator", "Second factors", "password"),
        ),
    ),
    (
        "Queue",
        (
            Page("django_q", "ormq", "Waiting tasks", "pending_actions"),
            Page("django_q", "failure", "Failed tasks", "error"),
            Page("django_q", "schedule", "Schedules", "schedule"),
        ),
    ),
)
SIDEBAR = (("", MAIN), *ADVANCED)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar: what this person may see. What people come for is in the first group."""
    permitted = {
        (app["app_label"], model["object_name"].lower()): model["admin_url"]
        for app in admin.site.get_app_list(request)
        for model in app["models"]
    }
    groups: list[dict[str, Any]] = []
    for title, pages in SIDEBAR:
        items = [] if title else list(_start(request))
        items += [
            {
                "title": page.title,
                "icon": page.icon,
                "link": reverse(page.view) if page.view else permitted[page.app, page.model],
            }
            for page in pages
            if (page.app, page.model) in permitted
        ]
        if items:
            groups.append({"title": title, "items": items})
    here = _here(request.path, [item["link"] for group in groups for item in group["items"]])
    for group in groups:
        for item in group["items"]:
            item["active"] = item["link"] == here
    return groups


def _here(path: str, links: Iterable[str]) -> str:
    """The entry that a page belongs to: the one that leads nearest to it. The theme would mark
    every entry on the way."""
    start = reverse("admin:index")
    leading = (link for link in links if path.startswith(link) and link != start)
    return max(leading, key=len, default=start if path == start else "")


def _start(request: HttpRequest) -> Iterable[dict[str, str]]:
    if first_page.sees_activity(request.user):
        yield {"title": "Activity", "icon": "view_timeline", "link": reverse("admin:index")}
    if console_access.may_use(request.user):
        yield {"title": "Chat console", "icon": "terminal", "link": reverse("console")}
