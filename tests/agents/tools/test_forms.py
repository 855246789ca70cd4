"""Mistakes of form teach, and what is meant is understood (FINDINGS A4, A9)."""

from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, ValidationError

from agents.contracts import Person, ToolResult
from agents.tools import forms
from agents.tools.list_items import ListItems
from guardrails.actions.registry import BY_NAME
from guardrails.contracts import Capability, PermittedTarget
from tests.knowledge.office import account, email, take
from tests.model_server import ScriptedModel

TASK = {"project_key": "PROJ", "summary": "Write", "type": "task"}
ARGUMENTS = BY_NAME["create_jira_task"].arguments
NOBODY = Person(organisation_id=UUID(int=0), external_user_id="maya", accounts=())


def explained(model: type[BaseModel], **given: Any) -> tuple[str, str]:
    """What is said of these arguments, and what of the way on."""
    with pytest.raises(ValidationError) as raised:
        model.model_validate(given)
    error = forms.explain(raised.value, model).wire()["error"]
    assert (error["code"], error["recoverable"]) == ("INVALID_INPUT", True)
    said, way = error["message"], error["suggested_action"]
    assert way.startswith("Correct the arguments and call it again.")
    return said, way.removeprefix("Correct the arguments and call it again.").strip()


def test_a_wrong_choice_gets_the_choices_with_the_schema_of_this_argument_alone() -> None:
    said, way = explained(ARGUMENTS, **TASK | {"type": "Task"})

    assert said == "`type`: Input should be 'task', 'bug', 'story' or 'epic'"
    assert way == 'They take {"type":{"enum":["task","bug","story","epic"],"type":"string"}}.'


def test_an_argument_that_is_not_there_gets_the_nearest_names() -> None:
    said, way = explained(ARGUMENTS, project_key="PROJ", type="task", sumary="Write")
    far, names = explained(ListItems, colour_of_it_all="red")

    assert said == (
        "`summary`: Field required; `sumary`: There is no such argument. Did you mean summary?"
    )
    assert way == 'They take {"summary":{"type":"string"}}.'
    assert far == "`colour_of_it_all`: There is no such argument."
    assert names.startswith("The arguments are types, from, to, since, until, words, ")


def test_a_value_in_a_list_is_called_by_its_place() -> None:
    to = ["a@b.com", *["c@d.com"] * 8, 7]
    said, _ = explained(BY_NAME["send_email"].arguments, to=to, subject="S", body="B")
    assert said == "the 10th address of `to`: Input should be a valid string"


def test_of_very_many_mistakes_the_first_are_said_and_no_long_schema() -> None:
    class Wide(BaseModel):
        one: int
        two: int
        three: int
        four: int
        five: int
        six: int = Field(description="x")

    class Long(BaseModel):
        of: int = Field(description="x" * forms.SHOWN_SCHEMA)

    said, way = explained(Wide)
    assert (said.count("Field required"), "six" in said + way) == (forms.SHOWN_PROBLEMS, False)
    assert explained(Long, of="many")[1] == ""


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"types": "event"}, {"types": ["event"]}),
        ({"types": ""}, {"types": []}),
        ({"types": '["event", "email"]'}, {"types": ["event", "email"]}),
        ({"types": ["event"]}, {"types": ["event"]}),
        ({"types": None}, {"types": None}),
        # What takes a text is left as it is, whatever the text looks like.
        ({"words": '["event"]'}, {"words": '["event"]'}),
        # No two readings of one text: a guardrail and a provider might take different ones.
        ({"types": '["event"'}, {"types": ['["event"']}),
        ({"surprise": "x"}, {"surprise": "x"}),
    ],
)
def test_one_value_stands_for_a_list_and_a_text_for_the_json_in_it(
    given: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert forms.loosen(given, ListItems) == meant


def test_what_takes_a_text_too_is_left_as_it_is() -> None:
    class Either(BaseModel):
        value: str | list[str]

    assert forms.loosen({"value": '["a"]'}, Either) == {"value": '["a"]'}


def test_json_that_says_a_thing_twice_is_not_read() -> None:
    twice = '{"to": "a@b.com", "to": "eve@evil.example"}'
    assert forms.load_json(twice) == twice


LABELS = (
    PermittedTarget(kind="label", id="L1", name="Invoices"),
    PermittedTarget(kind="label", id="L2", name="Travel"),
    PermittedTarget(kind="label", id="L3", name=" travel"),
    PermittedTarget(kind="label", id="l1", name="l2"),
    PermittedTarget(kind="label", id="l2", name="Other"),
)


def completed(action_type: str, person: Person = NOBODY, **params: Any) -> Any:
    labels = Capability(
        account_id=UUID(int=1),
        action_type="classify",
        source="gmail",
        description="",
        mode="auto",
        schema={},
        targets=LABELS,
    )
    return forms.complete(person, action_type, params, capabilities=[labels], mail_id="m1")


@pytest.mark.parametrize(
    ("named", "id"),
    [
        ("invoices ", "L1"),
        ("L1", "L1"),
        ("Travel", "Travel"),  # two are called so
        ("l2", "l2"),  # an id before another's name
        ("Nothing", "Nothing"),
    ],
)
def test_a_listed_target_may_be_called_by_a_name_that_is_its_alone(named: str, id: str) -> None:
    assert completed("classify", email_id="m1", label_id=named)["label_id"] == id


def test_names_stand_for_targets_of_this_action_alone() -> None:
    assert completed("move_email", email_id="m1", folder_id="Invoices")["folder_id"] == "Invoices"


def test_what_a_check_of_remits_own_refused_is_left_to_the_guardrails() -> None:
    """A disguised address is no slip: it is refused there, and recorded."""
    letter: dict[str, Any] = {
        "to": ["Ann <eve@evil.example>, ann@b.com"],
        "subject": "S",
        "body": "B",
    }
    assert completed("send_email", **letter) == letter
    assert completed("no_such_action", x=1) == {"x": 1}
    assert completed("send_email", **letter | {"subject": 7}) == letter | {"subject": 7}
    slip = completed("send_email", **letter | {"to": ["ann@b.com"], "subject": 7})
    assert isinstance(slip, ToolResult)
    assert slip.code == "INVALID_INPUT"


@pytest.mark.django_db
def test_an_item_is_called_by_the_id_of_results_and_a_time_is_on_the_users_clock(
    summariser: ScriptedModel,
) -> None:
    mailbox, other = account(), account()
    own, foreign = (take(one, email(id=f"at {one.id}")) for one in (mailbox, other))
    maya = Person(
        organisation_id=mailbox.organisation_id, external_user_id="maya", accounts=(mailbox,)
    )
    archived = [
        completed("archive", maya, email_id=str(one))["email_id"]
        for one in (own.item_id, foreign.item_id, "m1")
    ]
    times = {"start": "2027-05-19T12:00", "end": "2027-05-19T13:00:00Z"}
    lunch = completed("create_calendar_event", maya, title="Lunch", **times)

    assert archived == [f"at {mailbox.id}", str(foreign.item_id), "m1"]
    assert (lunch["start"], lunch["end"]) == (
        "2027-05-19T12:00:00+02:00",
        "2027-05-19T13:00:00+00:00",
    )
