"""The page of one pattern, for those who approve it."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from guardrails.models import LearnedPattern, PatternAction, PatternEvidence
from tests.agents.pages import mailbox
from tests.clients import log_in, read_page

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
AT = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
ACTIONS: dict[str, dict[str, str]] = {
    "archive": {},
    "mark_read": {},
    "classify": {"label_id": "Label_3"},
}


def count_queries(client: Client, address: str, titles: int) -> int:
    with CaptureQueriesContext(connection) as asked:
        page = read_page(client, address)
    assert page.count(": refused.") == titles
    return len(asked)


def test_a_page_asks_as_often_for_a_pattern_of_three_actions_as_for_one() -> None:
    row = LearnedPattern.objects.create(account=mailbox("maya"), name="News", list_id="news")
    PatternEvidence.objects.create(pattern=row, item_id="m1", side="supporting", occurred_at=AT)
    PatternAction.objects.create(
        pattern=row, order=0, action_type="classify", arguments=ACTIONS["classify"]
    )
    client = log_in("olga", "view_learnedpattern")
    address = reverse("admin:guardrails_learnedpattern_change", args=[row.pk])
    count_queries(client, address, 1)  # and what is asked once a process

    few = count_queries(client, address, 1)
    PatternAction.objects.all().delete()
    for order, (name, given) in enumerate(ACTIONS.items()):
        PatternAction.objects.create(pattern=row, order=order, action_type=name, arguments=given)

    assert count_queries(client, address, len(ACTIONS)) == few <= 15


def test_the_form_asks_no_more_often_for_what_its_labels_and_folders_are_called() -> None:
    account = mailbox("maya")
    row = LearnedPattern.objects.create(account=account, name="News", list_id="news")
    PatternEvidence.objects.create(pattern=row, item_id="m1", side="supporting", occurred_at=AT)
    for order in range(3):
        PatternAction.objects.create(
            pattern=row, order=order, action_type="classify", arguments=ACTIONS["classify"]
        )
    account.resources.create(resource_type="label", external_id="Label_3", name="Newsletter")
    actions = (f"{verb}_patternaction" for verb in ("view", "add", "change", "delete"))
    client = log_in("olga", "view_learnedpattern", "change_learnedpattern", *actions)
    address = reverse("admin:guardrails_learnedpattern_change", args=[row.pk])
    client.get(address)  # and what is asked once a process

    with CaptureQueriesContext(connection) as asked:
        page = client.get(address).content.decode()

    assert len(asked) <= 15
    assert page.count('<option value="Newsletter" selected>Newsletter (Label_3)</option>') == 3


def test_what_it_does_is_said_with_the_name_of_the_label() -> None:
    account = mailbox("maya")
    row = LearnedPattern.objects.create(account=account, name="News", list_id="news")
    PatternAction.objects.create(
        pattern=row, action_type="classify", arguments={"label_id": "Label_3"}
    )
    account.resources.create(resource_type="label", external_id="Label_3", name="Newsletter")
    client = log_in("olga", "view_learnedpattern")

    page = read_page(client, reverse("admin:guardrails_learnedpattern_change", args=[row.pk]))

    assert "<strong>Label a mail</strong> (label: Newsletter): refused." in page
    assert "label id: Label_3" not in page
