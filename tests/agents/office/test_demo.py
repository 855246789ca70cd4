"""`manage.py load_demo` through the real command, database and sandbox."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from agents.office import demo
from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.learn import patterns, skills
from guardrails.models import AllowedAction, AllowedActionOption, LearnedPattern, Skill
from guardrails.policies.capabilities import find_capabilities
from guardrails.policies.thread_states import FOLLOW_UP, THREAD_STATUS
from integrations.models import Account, Organisation
from tests.sandbox_server import RunningSandbox

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture(autouse=True)
def state_folder(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.STATE_DIR = tmp_path
    settings.DATA_SERVICES = {}
    monkeypatch.setenv("OPERATOR_PASSWORD", "first-password")


def everything() -> dict[str, list[Any]]:
    rows: dict[str, Any] = {
        model.__name__: model._default_manager.order_by("pk").values_list()
        for model in (Organisation, Account, AllowedAction, AllowedActionOption, LearnedPattern)
    }
    return {name: list(values) for name, values in rows.items()}


def targets(user: str, source: str, action_type: str) -> dict[str, str]:
    account = Account.objects.select_related("organisation").get(
        external_user_id=user, source=source
    )
    found = find_capabilities([account.ref()])[account.id]
    return {
        target.id: target.name
        for capability in found
        if capability.action_type == action_type
        for target in capability.targets
    }


def test_the_office_has_its_users_and_their_limits() -> None:
    call_command("load_demo")

    assert sorted(Account.objects.values_list("external_user_id", "source")) == [
        *[("maya", name) for name in ("calendar", "gdrive", "github", "gmail", "jira", "slack")],
        *[("omar", name) for name in ("calendar", "gdrive", "github", "gmail", "jira")],
        *[("omar", name) for name in ("outlook", "slack")],
        ("replay", "gmail"),
    ]
    assert targets("maya", "jira", "create_jira_task") == {"PROJ": "Customer Portal"}
    assert targets("maya", "gmail", "send_email") == {
        "client.com": "Anyone at client.com",
        "company.com": "Anyone at company.com",
    }
    assert targets("maya", "calendar", "create_calendar_event") == {
        "client.com": "Anyone at client.com",
        "company.com": "Anyone at company.com",
    }
    for action_type in ("create_document", "move_document"):
        assert targets("maya", "gdrive", action_type) == {
            "drive_meetings": "/Meetings",
            "drive_research": "/Product/Research",
        }
    assert targets("omar", "gmail", "send_email") == {}
    assert sorted(targets("omar", "gmail", "classify").values()) == sorted(THREAD_STATUS)
    assert len(targets("replay", "gmail", "classify")) == 9


def test_the_thread_status_is_one_at_a_time_and_topics_are_not() -> None:
    call_command("load_demo")

    options = AllowedActionOption.objects.filter(
        account__external_user_id="maya", action_type="classify"
    )
    assert set(options.filter(group__cardinality="single").values_list("name", flat=True)) == {
        *THREAD_STATUS,
        FOLLOW_UP,
    }
    assert options.filter(group__cardinality="multi").count() == 4


def test_labels_are_named_as_the_office_names_them(sandbox: RunningSandbox) -> None:
    call_command("load_demo")

    for user in ("maya", "replay"):
        answer = httpx.get(f"{sandbox.url}/users/{user}/labels", headers=sandbox.headers)
        assert targets(user, "gmail", "classify") == {
            label["id"]: label["name"] for label in answer.json()["items"]
        }


def test_one_pattern_acts_and_one_waits_for_approval() -> None:
    call_command("load_demo")

    mailbox = Account.objects.get(external_user_id="maya", source="gmail")
    [pattern] = patterns.approved_patterns(mailbox.ref(), now=timezone.now())
    assert pattern.list_id == "<weekly.productweekly.example>"
    assert pattern.actions == (("classify", {"label_id": "label_newsletter"}), ("archive", {}))
    assert [p.name for p in LearnedPattern.objects.filter(state="proposed")] == [
        "CloudNest invoices"
    ]
    assert [skill.name for skill in skills.list_offered(mailbox.ref())] == [
        "invoices",
        "meeting-requests",
    ]


def test_loading_again_changes_nothing_that_operators_changed() -> None:
    call_command("load_demo")
    AllowedAction.objects.filter(action_type="archive").update(enabled=False)
    Skill.objects.all().delete()
    Organisation.objects.update(name="Our try-out")
    before = everything()

    call_command("load_demo")

    assert everything() == before
    assert not Skill.objects.exists()


def test_somebody_elses_organisation_is_not_touched() -> None:
    own = Organisation.objects.create(slug="default", name="A real office")

    with pytest.raises(CommandError, match="is not the demo's, so nothing was loaded"):
        call_command("load_demo")

    assert list(Organisation.objects.all()) == [own]
    assert not Account.objects.exists()
    assert not User.objects.exists()


def test_the_operator_logs_in_with_the_password_of_the_environment() -> None:
    call_command("load_demo")

    operator = User.objects.get()
    assert (operator.username, operator.is_superuser, operator.is_staff) == ("operator", True, True)
    assert operator.check_password("first-password")


def test_a_password_chosen_in_the_admin_stays_until_the_environment_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    call_command("load_demo")
    operator = User.objects.get()
    operator.set_password("chosen by the operator")
    operator.save()

    call_command("load_demo")
    operator.refresh_from_db()
    assert operator.check_password("chosen by the operator")

    monkeypatch.setenv("OPERATOR_PASSWORD", "second-password")
    call_command("load_demo")
    operator.refresh_from_db()
    assert operator.check_password("second-password")
    kept = tmp_path / "operator-password"
    assert kept.stat().st_mode & 0o077 == 0
    assert "second-password" not in kept.read_text(encoding="ascii")


def test_without_a_password_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPERATOR_PASSWORD")

    with pytest.raises(CommandError, match="Set OPERATOR_PASSWORD"):
        call_command("load_demo")

    assert not Organisation.objects.exists()


def test_a_sandbox_that_does_not_answer_is_named(settings: Any) -> None:
    settings.SANDBOX_PORT = 9  # nobody listens there
    settings.DATA_SERVICES = {"default": "http://127.0.0.1:9/v1/data"}
    settings.DATA_SERVICE_KEYS = {"default": "key"}
    settings.DATA_SERVICE_ATTEMPTS = 1

    with pytest.raises(CommandError, match="sandbox data service does not answer"):
        call_command("load_demo")


def test_the_demos_policy_is_in_the_history() -> None:
    demo.load()
    filters = Filters(tenant_id=demo.ORGANISATION_ID, action_type="policy.change")
    rows = actions(filters=filters, limit=1000).rows
    told = {row.resource_id for row in rows if row.payload["door"] == "load_demo"}
    assert {
        str(key)
        for model in (AllowedAction, AllowedActionOption, LearnedPattern, Skill)
        for key in model._default_manager.values_list("pk", flat=True)
    } <= told
