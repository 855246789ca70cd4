"""Confirming in words, decisions that come too late, and Remit's own lines in the user's
language: through the API, with a scripted model."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.utils import timezone

from agents.models import Message, Turn
from audit.ledger.selectors import actions_of_run, recorded
from guardrails.models import AllowedAction, Approval
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import Frontend

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."


def prepare(maya: Frontend, *summaries: str, answer: str = "They wait for you.") -> dict[str, Any]:
    """A conversation in which these tasks wait."""
    tasks = (
        ("create_jira_task", {"project_key": "PROJ", "type": "task", "summary": summary})
        for summary in summaries
    )
    found, _ = maya.say({ORCHESTRATOR: [calls(*tasks), answer]}, message="Please prepare tasks.")
    assert len(found["pending_actions"]) == len(summaries)
    return found


def permit_words() -> None:
    AllowedAction.objects.filter(action_type="create_jira_task").update(confirm_in_words=True)


def test_a_yes_in_words_is_answered_with_the_buttons(office: Office) -> None:
    maya = Frontend(office)
    asked = prepare(maya, "A", "B", "C")
    before = office.calls()

    for message, head, line in (
        (
            "Yes, do all three",
            "This waits for you. Please decide with its button:",
            "- Create a task in PROJ: “B”",
        ),
        (
            "Yes, create all three",
            "This waits for you. Please decide with its button:",
            "- Create a task in PROJ: “B”",
        ),
        (
            "Ja, mach alle drei",
            "Das wartet auf dich. Bitte entscheide mit dem Knopf:",
            "- Eine Jira-Aufgabe anlegen: “B”",
        ),
    ):
        answer, model = maya.say({}, message=message, session_id=asked["session_id"])
        assert answer["response"].splitlines()[0] == head
        assert answer["response"].splitlines()[2] == line
        assert model.chats() == []
        assert [one["id"] for one in answer["pending_actions"]] == [
            one["id"] for one in asked["pending_actions"]
        ]

    assert office.calls() == before
    assert Approval.objects.count() == 3
    assert set(Approval.objects.values_list("state", flat=True)) == {"pending"}


def test_words_that_name_another_action_than_what_waits_confirm_nothing(office: Office) -> None:
    maya = Frontend(office)
    asked = prepare(maya, "A", "B")
    permit_words()
    before = office.calls()
    session = asked["session_id"]

    wrong, _ = maya.say({}, message="Yes, send both", session_id=session)
    assert wrong["response"].startswith("This waits for you. Please decide with its button:")
    assert office.calls() == before

    right, _ = maya.say({ORCHESTRATOR: ["Both."]}, message="Yes, create both", session_id=session)
    assert len(right["completed_actions"]) == 2


def test_a_conversation_waits_for_a_decision_until_somebody_has_decided(office: Office) -> None:
    maya = Frontend(office)

    def waits() -> dict[str, tuple[bool, bool]]:
        answer = httpx.get(
            f"{maya.address}/conversations", params={"user_id": "maya"}, headers=maya.headers
        )
        return {
            row["id"]: (row["waits_for_decision"], row["waits_for_person"])
            for row in answer.json()["items"]
        }

    first, other = prepare(maya, "A"), prepare(maya, "B")
    [card] = first["pending_actions"]
    assert waits() == {
        first["session_id"]: (True, False),
        other["session_id"]: (True, False),
    }

    maya.say(
        {ORCHESTRATOR: ["It is left."]},
        message="",
        session_id=first["session_id"],
        reject_actions=[card["id"]],
    )

    assert waits() == {
        first["session_id"]: (False, False),
        other["session_id"]: (True, False),
    }


def test_where_the_policy_permits_it_words_confirm_and_the_ledger_says_so(office: Office) -> None:
    maya = Frontend(office)
    asked = prepare(maya, "A", "B", "C")
    permit_words()
    session = asked["session_id"]
    before = len(office.calls())

    answer, model = maya.say({ORCHESTRATOR: ["Created."]}, message="2", session_id=session)

    assert [one["description"] for one in answer["completed_actions"]] == [
        "Create a task in PROJ: “B”"
    ]
    assert len(office.calls()) == before + 1
    (message,) = Message.objects.filter(turn=answer["turn_id"], role="user")
    row = Approval.objects.get(description="Create a task in PROJ: “B”")
    assert row.said_in == str(message.id)
    (approved,) = [
        phase for phase in recorded(row.action_id) if phase.decision_reason == "approved"
    ]
    assert approved.payload["confirmed"] == "in words"
    assert approved.payload["message_id"] == str(message.id)
    (handled,) = answer["handled_actions"]
    assert handled["handled"].startswith("Confirmed in words by Maya Lindqvist at 20")
    # The model learns of it as of any other decision.
    assert '"status":"succeeded"' in str(model.chats(ORCHESTRATOR)[0]["messages"])

    both, _ = maya.say({ORCHESTRATOR: ["Both."]}, message="Yes, both", session_id=session)

    assert len(both["completed_actions"]) == 2
    assert both["pending_actions"] == []
    assert len(office.calls()) == before + 3


def test_a_frontend_that_may_only_chat_decides_nothing(office: Office) -> None:
    chatting = Frontend(office, "chat")
    asked = prepare(chatting, "A")
    permit_words()
    before = office.calls()
    waiting = asked["pending_actions"][0]
    named = {"user_id": "maya", "message": "", "session_id": asked["session_id"]}

    for decision in (
        {"confirm_actions": [waiting["id"]]},
        {"reject_actions": [waiting["id"]]},
        {"edits": [{"id": waiting["id"], "params": {"summary": "B"}}]},
    ):
        refused = httpx.post(
            f"{chatting.address}/chat", json=named | decision, headers=chatting.headers
        )
        assert refused.status_code == 403
        assert "lacks the scope “approvals”" in refused.text
    answer, model = chatting.say({}, message="Yes, do it", session_id=asked["session_id"])

    assert answer["response"].startswith("This waits for you. Please decide with its button:")
    assert model.chats() == []
    assert office.calls() == before
    assert Approval.objects.get().state == "pending"


@pytest.mark.parametrize(
    "message",
    ["Yes, but call it D", "Should I say yes?", "He said “yes, do it”", "Yes, both of them and D"],
)
def test_what_is_more_than_a_confirmation_confirms_nothing(office: Office, message: str) -> None:
    maya = Frontend(office)
    asked = prepare(maya, "A", "B")
    permit_words()
    before = office.calls()

    answer, model = maya.say(
        {ORCHESTRATOR: ["Please use the button."]},
        message=message,
        session_id=asked["session_id"],
    )

    assert len(model.chats(ORCHESTRATOR)) == 1
    assert len(answer["pending_actions"]) == 2
    assert office.calls() == before


def test_words_count_in_their_own_conversation_and_not_as_an_answer_to_a_question(
    office: Office,
) -> None:
    maya = Frontend(office)
    permit_words()
    prepare(maya, "A")
    other, _ = maya.say({ORCHESTRATOR: ["Hello."]}, message="Hello there")
    before = office.calls()

    maya.say({ORCHESTRATOR: ["Yes?"]}, message="Yes", session_id=other["session_id"])
    asked = prepare(maya, "B", answer="It waits. Shall I also tell Anna?")
    maya.say({ORCHESTRATOR: ["I will."]}, message="Yes", session_id=asked["session_id"])

    assert office.calls() == before
    assert set(Approval.objects.values_list("state", flat=True)) == {"pending"}


def test_a_decision_that_comes_too_late_is_answered_with_what_is_true(office: Office) -> None:
    maya = Frontend(office)
    asked = prepare(maya, "A", "B", "C", "D")
    ids = {one["description"]: one["id"] for one in asked["pending_actions"]}
    done, twice, expired, rejected = (ids[f"Create a task in PROJ: “{name}”"] for name in "ABCD")
    for id, word in ((done, "confirm"), (twice, "confirm"), (rejected, "reject")):
        maya.ask("POST", f"/approvals/{id}/decide", {"user_id": "maya", "decision": word})
    past = timezone.now() - timedelta(minutes=1)
    Approval.objects.filter(id=expired).update(expires_at=past)
    before = len(office.calls())

    answer, model = maya.say(
        {ORCHESTRATOR: ["All four are as you wished."]},
        message="",
        session_id=asked["session_id"],
        reject_actions=[done],
        confirm_actions=[twice, expired, rejected],
    )

    assert len(office.calls()) == before
    said = answer["response"].splitlines()
    at = said.index("What you decided came too late:")
    lines = {line.split("“")[1][0]: line for line in said[at + 1 : at + 5]}
    assert lines["A"].startswith(
        "- Create a task in PROJ: “A”: done. Confirmed by Maya Lindqvist at 20"
    )
    assert lines["B"].startswith(
        "- Create a task in PROJ: “B”: done. Confirmed by Maya Lindqvist at 20"
    )
    assert lines["C"].startswith("- Create a task in PROJ: “C”: refused, not done. Expired at 20")
    assert lines["D"].startswith(
        "- Create a task in PROJ: “D”: refused, not done. Rejected by Maya Lindqvist at 20"
    )
    assert "From the records" not in answer["response"]
    # The model hears it too.
    assert str(model.chats(ORCHESTRATOR)[0]["messages"]).count('"late":true') == 4


def test_words_after_the_end_say_what_is_true(office: Office) -> None:
    maya = Frontend(office)
    asked = prepare(maya, "A")
    permit_words()
    past = timezone.now() - timedelta(minutes=1)
    Approval.objects.update(expires_at=past)
    before = len(office.calls())

    answer, _ = maya.say(
        {ORCHESTRATOR: ["Done."]}, message="Yes, do it", session_id=asked["session_id"]
    )

    assert len(office.calls()) == before
    assert "- Create a task in PROJ: “A”: refused, not done. Expired at 20" in answer["response"]


def test_remits_own_lines_are_in_the_users_language_and_the_ledger_stays_english(
    office: Office,
) -> None:
    maya = Frontend(office)
    task = {"project_key": "OPS", "type": "task", "summary": "Angebot prüfen"}
    answer, _ = maya.say(
        {ORCHESTRATOR: [calls(("create_jira_task", task)), "Ich habe die Aufgabe erstellt."]},
        message="Bitte lege eine Aufgabe an, damit ich das Angebot prüfe.",
    )

    assert Turn.objects.get(id=answer["turn_id"]).language == "de"
    lines = answer["response"].splitlines()
    assert lines[0] == "Ich habe die Aufgabe erstellt."
    assert lines[2] == "Berichtigung aus dem Protokoll:"
    assert lines[3].startswith(
        "- Eine Jira-Aufgabe anlegen: “Angebot prüfen”: abgelehnt, nicht erledigt. "
        "Ein Ziel ist nicht unter denen, die ein Betreiber aufgeführt hat."
    )
    assert answer["record"] == "Aktionen: 1 abgelehnt."
    (refused,) = answer["refused_actions"]
    assert refused["sentence"].startswith("Ein Ziel ist nicht unter denen")
    organisation: UUID = office.organisation.id
    (row,) = actions_of_run(tenant_id=organisation, run_id=answer["turn_id"])
    (block,) = recorded(row.action_id)
    assert block.payload["sentence"].startswith("A target is not among those")

    maya.prefer(language="fr-CH")
    stopped, _ = maya.say({ORCHESTRATOR: [""]}, message="Und jetzt auf Deutsch, bitte.")

    assert stopped["response"].startswith("Le modèle n'a pas répondu.")
    assert stopped["record"] == "Aucune action n'a été exécutée."
