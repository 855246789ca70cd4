"""Where somebody begins: the page of their role's work, by what they may do."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from agents.activity import page as activity
from agents.office import console_access

# The first that somebody may open. Who may see what came begins with the activity.
PAGES = (
    ("guardrails.change_approval", "admin:guardrails_approval_changelist", "?state__exact=pending"),
    ("guardrails.change_allowedaction", "admin:guardrails_policy_explain", ""),
    ("audit.view_executedagentaction", "admin:guardrails_ledger_auditor", ""),
)


def find(user: Any) -> str:
    """The address of somebody's first page; empty where it is the admin's own."""
    if sees_activity(user):
        return ""
    for right, name, query in PAGES:
        if user.has_perm(right):
            return reverse(name) + query
    return reverse("console") if console_access.may_use(user) else ""


def sees_activity(user: Any) -> bool:
    return bool(user.has_perms(activity.RIGHTS))


def view(request: HttpRequest) -> HttpResponseBase:
    """The admin's front door."""
    elsewhere = find(request.user)
    return redirect(elsewhere) if elsewhere else admin.site.index(request)
