"""The history of policy: whichever door a change comes through, the ledger has it."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core import serializers
from django.core.management import call_command
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.contracts import Filters, Recorded
from audit.ledger import ledger
from audit.ledger.selectors import actions
from audit.ledger.sentences import say
from guardrails.models import (
    AllowedAction,
    CeilingLimit,
    LearnedPattern,
    PatternAction,
    Skill,
)
from guardrails.policies import changes
from guardrails.policies.changes import Author
from tests.guardrails.forms import allowed_action_form
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
OLGA = Author(name="operator:olga", door="admin")


def post(client: Client, address: str, /, *args: object, **data: Any) -> None:
    response = client.post(reverse(f"admin:guardrails_{address}", args=args), data, follow=True)
    assert response.status_code == 200


def history(office: Office) -> list[Recorded]:
    """Oldest first."""
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    return list(actions(filters=filters).rows)[::-1]


def told(office: Office) -> list[tuple[str, bool, bool]]:
    return [
        (row.payload["kind"], bool(row.payload["before"]), bool(row.payload["after"]))
        for row in history(office)
    ]


def test_an_allowed_action_that_is_added_changed_and_removed_in_the_admin(
    office: Office, client: Client
) -> None:
    form = allowed_action_form(office)
    post(client, "allowedaction_add", **form)
    key = AllowedAction.objects.get().pk
    post(client, "allowedaction_change", key, **(form | {"approval_mode": "auto"}))
    post(client, "allowedaction_change", key, **(form | {"approval_mode": "auto"}))
    post(client, "allowedaction_delete", key, post="yes")

    added, changed, removed = history(office)
    assert added.payload["before"] is None
    assert (changed.payload["before"]["approval_mode"], changed.payload["door"]) == ("ask", "admin")
    assert changed.payload["after"]["approval_mode"] == "auto"
    assert removed.payload["after"] is None
    for row in (added, changed, removed):
        assert (row.actor_type, row.actor_id) == ("admin", "operator:olga")
        assert (row.account_id, row.resource_id) == (office.mailbox.id, str(key))
        assert (row.phase, row.status) == ("control", "recorded")
    for row, verb in ((added, "added"), (changed, "changed"), (removed, "removed")):
        _, sentence = say(row.action_type, row.status, row.payload)
        assert sentence == f"Noted: {row.payload['name']} was {verb}."


def load(tmp_path: Path, *rows: Model, **fields: Any) -> None:
    """By `loaddata`, each row with other fields."""
    found = json.loads(serializers.serialize("json", rows))
    file = tmp_path / "policy.json"
    file.write_text(json.dumps([row | {"fields": row["fields"] | fields} for row in found]))
    call_command("loaddata", file, verbosity=0)


def test_what_a_fixture_adds_and_changes(office: Office, tmp_path: Path) -> None:
    row = office.permit("archive", mode="ask")
    load(tmp_path, row, approval_mode="auto")
    load(tmp_path, row, approval_mode="auto")
    AllowedAction.objects.all().delete()
    load(tmp_path, row)

    changed, added = history(office)
    assert (changed.payload["before"]["approval_mode"], changed.payload["door"]) == (
        "ask",
        "command",
    )
    assert changed.payload["after"]["approval_mode"] == "auto"
    assert (added.payload["before"], added.payload["after"]["approval_mode"]) == (None, "ask")
    assert {(one.actor_type, one.account_id) for one in (changed, added)} == {
        ("system", office.mailbox.id)
    }


def test_the_actions_of_a_pattern_in_a_fixture_are_part_of_it(
    office: Office, tmp_path: Path
) -> None:
    pattern = LearnedPattern.objects.create(account=office.mailbox, name="News", list_id="news")
    action = PatternAction.objects.create(pattern=pattern, action_type="archive")
    pattern.name = "More news"
    load(tmp_path, pattern, action)

    (changed,) = history(office)
    assert changed.payload["after"]["name"] == "More news"
    assert changed.payload["before"]["actions"] == [["archive", {}]]


def test_rows_that_are_removed_together_have_a_row_each(office: Office, client: Client) -> None:
    rows = [office.list_target("classify", "label", f"label_{number}") for number in range(3)]
    post(
        client,
        "allowedactionoption_changelist",
        action="delete_selected",
        post="yes",
        _selected_action=[row.pk for row in rows],
    )
    assert told(office) == [("allowedactionoption", True, False)] * 3


def test_a_pattern_with_its_actions_approved_and_suspended(office: Office, client: Client) -> None:
    row = LearnedPattern.objects.create(
        account=office.mailbox, name="Weekly", list_id="weekly", tried_at=timezone.now()
    )
    PatternAction.objects.create(pattern=row, action_type="archive")
    for action in ("approve", "approve", "suspend"):
        post(client, "learnedpattern_changelist", action=action, _selected_action=[row.pk])

    approved, renewed, suspended = history(office)
    assert renewed.payload["before"]["expires_at"] < renewed.payload["after"]["expires_at"]
    assert approved.payload["after"]["approved_by"] == "operator:olga"
    assert approved.payload["after"]["actions"] == [["archive", {}]]
    assert (suspended.payload["before"]["state"], suspended.payload["after"]["state"]) == (
        "approved",
        "suspended",
    )


def test_a_new_version_of_a_skill_and_a_ceiling_limit(office: Office, client: Client) -> None:
    skill = {"organisation": office.organisation.pk, "name": "visits", "description": "Visits."}
    post(client, "skill_add", **skill, content="Be kind.", enabled="on")
    post(
        client,
        "skill_change",
        Skill.objects.get().pk,
        description="Visits.",
        content="Be brief.",
        enabled="on",
    )
    post(
        client,
        "ceilinglimit_add",
        organisation=office.organisation.pk,
        action_type="",
        at_most="ask",
        hold_seconds=0,
        conditions="[]",
        note="",
    )
    assert CeilingLimit.objects.count() == 1
    assert told(office) == [("skill", False, True)] * 2 + [("ceilinglimit", False, True)]
    assert history(office)[1].payload["after"]["version"] == 2


def test_without_its_row_a_change_is_not_kept(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = office.permit("archive")

    def broken(entry: object) -> int:
        raise ledger.LedgerUnavailable

    monkeypatch.setattr(ledger, "append", broken)
    with (
        pytest.raises(ledger.LedgerUnavailable),
        changes.recording(AllowedAction, [row.pk], author=OLGA),
    ):
        AllowedAction.objects.update(approval_mode="never")
    row.refresh_from_db()
    assert row.approval_mode == "auto"


def test_a_change_that_fails_leaves_no_row(office: Office) -> None:
    row = office.permit("archive")

    def fail() -> None:
        with changes.recording(AllowedAction, [row.pk], author=OLGA):
            AllowedAction.objects.update(approval_mode="never")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    row.refresh_from_db()
    assert (row.approval_mode, history(office)) == ("auto", [])


def test_what_the_machine_counts_is_no_change(office: Office) -> None:
    row = LearnedPattern.objects.create(account=office.mailbox, name="Weekly", list_id="weekly")
    with changes.recording(LearnedPattern, [row.pk], author=OLGA):
        LearnedPattern.objects.update(hits=7)
    assert history(office) == []


def test_taken_over_names_are_changes(office: Office, client: Client) -> None:
    row = office.list_target("classify", "label", "label_fyi", "Old name")
    post(client, "allowedactionoption_changelist", action="refresh_names", _selected_action=row.pk)
    (change,) = history(office)
    assert change.payload["before"]["name"] == "Old name"
    assert change.payload["after"]["name"] == "FYI"
