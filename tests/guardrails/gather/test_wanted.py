"""What was refused is said in words, also where the guard looked at nothing to refuse it."""

from dataclasses import replace
from typing import Any

import pytest

from audit.ledger.selectors import recorded
from guardrails.contracts import ActionRequest
from guardrails.execute.executor import execute
from integrations.models import ProviderResource
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def refused(office: Office, request: ActionRequest, **fields: Any) -> str:
    """How the refusal describes what was wanted: the same to who asked and in the ledger. Nothing
    reaches the provider."""
    result = execute(replace(request, **fields))
    assert result.status == "refused"
    (row,) = recorded(request.action_id)
    assert row.payload.get("description", "") == result.description
    assert office.calls() == []
    return result.description


def name(office: Office, id: str, called: str) -> None:
    ProviderResource.objects.create(
        account=office.mailbox, resource_type="label", external_id=id, name=called
    )


def test_a_label_that_is_not_listed_is_named_beside_the_mail(office: Office) -> None:
    office.permit("classify")
    mail = office.receive(subject="Lunch")
    wish = {"email_id": mail, "label_id": "label_to_reply"}

    assert refused(office, office.request("classify", wish)) == "Label as To Reply: “Lunch”"


def test_where_nothing_is_read_names_are_those_that_are_known_here(office: Office) -> None:
    mail = office.receive(subject="Lunch")
    name(office, "label_x", "News\u202eletter")
    wish = office.request("classify", {"email_id": mail, "label_id": "label_x"})
    unknown = office.request("classify", {"email_id": mail, "label_id": "label_y"})

    assert (
        refused(office, wish, called="Lunch”, approved")
        == "Label as News⟨U+202E⟩letter: “Lunch', approved”"
    )
    assert refused(office, replace(office.request("classify", wish.arguments))) == (
        "Label a mail (News⟨U+202E⟩letter)"
    )
    assert refused(office, unknown) == "Label a mail"


@pytest.mark.parametrize(
    ("action_type", "arguments", "called", "line"),
    [
        ("archive", {"email_id": "no-such"}, "", "Archive a mail"),
        ("cancel_calendar_event", {"event_id": "e"}, "Lunch", "Cancel an event: “Lunch”"),
        ("trash_document", {"document_id": "d"}, "Plan", "Put into the trash: “Plan”"),
        (
            *("comment_jira_task", {"issue_key": "PROJ-1", "body": "Yes."}),
            *("", "Comment on PROJ-1: “PROJ-1”"),
        ),
        ("no_such_action", {}, "Lunch", ""),
        ("archive", {}, "Lunch", ""),
    ],
)
def test_every_kind_of_object_is_called_what_who_asked_calls_it(
    office: Office, action_type: str, arguments: dict[str, Any], called: str, line: str
) -> None:
    assert refused(office, office.request(action_type, arguments), called=called) == line
