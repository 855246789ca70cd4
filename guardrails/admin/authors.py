"""How the ledger and the history of policy name the person at a page."""

from django.http import HttpRequest

from guardrails.policies.changes import Author


def operator(request: HttpRequest) -> str:
    return f"operator:{request.user.get_username()}"


def author(request: HttpRequest) -> Author:
    return Author(name=operator(request), door="admin")
