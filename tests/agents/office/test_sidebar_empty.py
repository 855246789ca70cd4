"""What each list of the sidebar says while it has no rows."""

import pytest
from django.contrib import admin
from django.urls import reverse

from agents.office.sidebar import SIDEBAR
from tests.clients import log_in, read_page

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
LISTS = {(page.app, page.model) for _, pages in SIDEBAR for page in pages if not page.view}


def test_each_list_in_the_sidebar_says_what_it_is_for() -> None:
    silent = [
        model._meta.label
        for model, page in admin.site._registry.items()
        if (model._meta.app_label, model._meta.model_name) in LISTS
        and not getattr(page, "empty", "").endswith(".")
    ]

    assert silent == []


def test_an_empty_list_says_what_comes_there_and_a_search_that_nothing_matches() -> None:
    client = log_in("nobody-s-operator", "view_learnedpattern")
    patterns = reverse("admin:guardrails_learnedpattern_changelist")

    empty = read_page(client, patterns)

    assert "Nothing yet" in empty
    assert "a pattern is proposed here" in empty
    searched = read_page(client, patterns, q="invoice")
    assert "Nothing matches" in searched
    assert "a pattern is proposed here" not in searched
