"""Crashes and failures between the ledger and the provider: never two effects, never a lie."""

from typing import Any

import pytest

from audit.ledger.selectors import recorded
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AssistantDraft
from integrations.exceptions import Unavailable
from integrations.providers.data_service.reader import DataServiceReader
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.office import Office, interrupted, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ISSUE = {"project_key": "PROJ", "summary": "Setup CI/CD", "type": "task"}


def test_a_crash_after_the_effect_is_settled_with_the_provider(office: Office) -> None:
    result = execute(interrupted(office))

    assert result.status == "succeeded"
    assert phases(result) == [
        ("attempt", "pending", "allowed"),
        ("outcome", "succeeded", "performed"),
    ]
    assert len(office.calls()) == 1


def test_a_crash_before_the_effect_is_tried_again_under_the_same_key(office: Office) -> None:
    result = execute(interrupted(office, after_effect=False))

    assert result.status == "succeeded"
    assert phases(result) == [
        ("attempt", "pending", "allowed"),
        ("outcome", "failed", "interrupted"),
        ("attempt", "pending", "allowed"),
        ("outcome", "succeeded", "performed"),
    ]
    assert len(office.calls()) == 1


def test_a_retry_after_a_crash_is_decided_again(office: Office) -> None:
    request = interrupted(office, after_effect=False)
    AllowedAction.objects.all().delete()

    result = execute(request)

    assert (result.status, result.reason) == ("refused", "not_permitted")
    assert office.calls() == []


def test_an_answer_lost_after_the_effect_is_found_at_the_provider(office: Office) -> None:
    office.permit("create_jira_task")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    office.faults(fail_after_perform_rate=1.0)

    result = execute(office.request("create_jira_task", ISSUE))

    assert result.status == "succeeded"
    assert set(result.result) == {"task_key", "url"}
    assert [call["performed"] for call in office.calls()] == [True]


def test_a_provider_that_refuses_the_call_is_a_failure(office: Office) -> None:
    email_id = office.receive()
    office.permit("classify")
    office.list_target("classify", "label", "label_fyi", "FYI")

    class Refusing(DataServiceWriter):
        def change_labels(self, email_id: str, **kwargs: Any) -> dict[str, Any]:
            return self._post("/emails/nowhere/labels", kwargs["key"], {"add": [], "remove": []})

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("integrations.accounts.writes.writer", Refusing)
        result = execute(
            office.request("classify", {"email_id": email_id, "label_id": "label_fyi"})
        )

    assert (result.status, result.reason) == ("failed", "provider_refused")
    row = recorded(result.action_id)[-1]
    assert (row.error_code, len(row.provider_request_id)) == ("not_found", 32)


@pytest.mark.parametrize("name", ["archive", "draft"])
def test_a_provider_that_was_never_reached_is_a_failure_at_once(
    office: Office, settings: Any, name: str
) -> None:
    office.permit(name)
    email_id = office.receive()
    wish = {
        "archive": {"email_id": email_id},
        "draft": {"reply_to_id": email_id, "to": ["ada@client.com"], "subject": "s", "body": "b"},
    }
    request = office.request(name, wish[name])
    writer = {"archive": "archive", "draft": "create_draft"}[name]
    call = getattr(DataServiceWriter, writer)

    def unplugged(self: DataServiceWriter, *args: Any, **fields: Any) -> Any:
        settings.DATA_SERVICES = {office.organisation.slug: "http://127.0.0.1:9/v1/data"}
        return call(DataServiceWriter(request.account), *args, **fields)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DataServiceWriter, writer, unplugged)
        result = execute(request)

    assert (result.status, result.reason) == ("failed", "provider_unavailable")
    assert [phase for phase, _, _ in phases(result)] == ["attempt", "outcome"]
    assert not AssistantDraft.objects.filter(account=office.mailbox).exists()


def test_what_nobody_can_find_out_stays_open_and_is_said_to_be_unknown(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    email_id = office.receive()
    office.permit("archive")

    def down(*args: Any, **kwargs: Any) -> None:
        raise Unavailable("timed out")

    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "archive", down)
        patched.setattr(DataServiceReader, "evidence", down)
        request = office.request("archive", {"email_id": email_id})
        result = execute(request)

    assert (result.status, result.reason) == ("unknown", "outcome_unknown")
    assert phases(result) == [("attempt", "pending", "allowed")]
    assert execute(request).status == "succeeded"


def test_attempts_end_after_three(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    email_id = office.receive()
    office.permit("archive")

    def timed_out(*args: Any, **kwargs: Any) -> None:
        raise Unavailable("timed out")

    monkeypatch.setattr(DataServiceWriter, "archive", timed_out)

    result = execute(office.request("archive", {"email_id": email_id}))

    assert (result.status, result.reason) == ("failed", "provider_unavailable")
    assert [phase for phase, _, _ in phases(result)] == ["attempt", "outcome"] * 3
