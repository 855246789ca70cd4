"""A form for the arguments of every action, and the arguments it gives back."""

from typing import Any

import pytest
from django import forms

from guardrails import registry
from guardrails.actions.base import Action
from guardrails.admin import schema_form


@pytest.mark.parametrize("action", registry.ACTIONS, ids=lambda action: action.name)
def test_every_argument_has_a_field(action: Action[Any]) -> None:
    fields = schema_form.fields(action)
    assert list(fields) == [f"argument-{name}" for name in action.arguments.model_fields]
    required = {name for name, one in action.arguments.model_fields.items() if one.is_required()}
    assert {name.removeprefix("argument-") for name, one in fields.items() if one.required} == (
        required
    )


def test_lists_are_lines_and_what_is_empty_is_not_given() -> None:
    cleaned = {
        "argument-to": "ada@client.com\r\n\r\n bob@client.com ",
        "argument-cc": "",
        "argument-subject": "Hello",
        "argument-body": "One\r\nTwo",
    }
    assert schema_form.arguments(registry.BY_NAME["send_email"], cleaned) == {
        "to": ["ada@client.com", "bob@client.com"],
        "subject": "Hello",
        "body": "One\nTwo",
    }


def test_a_closed_choice_is_a_choice() -> None:
    field = schema_form.fields(registry.BY_NAME["create_jira_task"])["argument-type"]
    assert isinstance(field, forms.ChoiceField)
    assert all(field.valid_value(one) for one in ("task", "bug", "story", "epic"))
    assert not field.valid_value("invented")
