"""A name that two colleagues have: the user presses which one is meant, through the API."""

from typing import Any

import pytest

from audit.ledger.selectors import actions_of_run
from guardrails.models import AllowedAction, AllowedActionOption, Person
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import Frontend

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
PEOPLE = {"marco@company.com": "Marco Bianchi", "m.rossi@company.com": "Marco Rossi"}


def tell(to: str) -> Any:
    text = {"subject": "Lunch", "body": "Lunch is at noon."}
    return calls(("send_email", {"to": [to], **text}))


@pytest.mark.parametrize(
    ("words", "question"),
    [
        ("Please tell Marco that lunch is at noon.", "Who do you mean by “Marco”?"),
        ("Bitte sag Marco, dass es um zwölf Essen gibt.", "Wen meinst du mit „Marco“?"),
    ],
)
def test_the_user_is_asked_which_one_and_the_pressed_one_is_written_to(
    office: Office, words: str, question: str
) -> None:
    maya = Frontend(office)
    organisation = office.account("maya", "gmail").organisation_id
    for address, name in PEOPLE.items():
        Person.objects.create(organisation_id=organisation, address=address, name=name)
    AllowedAction.objects.filter(
        account__external_user_id="maya", action_type="send_email"
    ).delete()
    AllowedAction.objects.create(
        account_id=office.account("maya", "gmail").id,
        action_type="send_email",
        approval_mode="auto",
        conditions=[
            {"kind": "recipient", "relation": ["typed", "named"]},
            {"kind": "text", "written_by": "agent"},
        ],
    )
    AllowedActionOption.objects.filter(action_type="send_email").delete()
    before = office.calls()

    asked, model = maya.say({ORCHESTRATOR: [tell("m.rossi@company.com")]}, message=words)

    assert asked["needs_clarification"] is True
    assert asked["clarification"] == {
        "question": question,
        "options": ["Marco Rossi <m.rossi@company.com>", "Marco Bianchi <marco@company.com>"],
        "required_for": "",
    }
    assert asked["response"] == question
    assert len(model.chats(ORCHESTRATOR)) == 1
    session: dict[str, Any] = {"message": "", "session_id": asked["session_id"]}
    # The other one is not written to: the user is asked again.
    again, _ = maya.say({ORCHESTRATOR: [tell("marco@company.com")]}, **session, option=0)
    assert again["clarification"]["options"] == asked["clarification"]["options"]
    assert office.calls() == before

    done, _ = maya.say({ORCHESTRATOR: [tell("m.rossi@company.com"), "Done."]}, **session, option=0)

    assert done["response"].startswith("Done.")
    assert [call["body"]["to"] for call in office.calls()[len(before) :]] == [
        ["m.rossi@company.com"]
    ]
    rows = actions_of_run(tenant_id=organisation, run_id=done["turn_id"])
    assert [row.status for row in rows] == ["succeeded"]
