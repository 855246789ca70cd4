"""A form for the arguments of every action, and the arguments it gives back."""

import pytest
from django import forms

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.admin import schema_form


@pytest.mark.parametrize("action", registry.ACTIONS, ids=lambda action: action.name)
def test_every_argument_has_a_field(action: AnyAction) -> None:
    fields = schema_form.fields(action.arguments, prefix="argument-")
    assert list(fields) == [f"argument-{name}" for name in action.arguments.model_fields]
    for name, one in action.arguments.model_fields.items():
        assert fields[f"argument-{name}"].required == bool(one.is_required() or one.default)


def test_lists_are_lines_and_what_is_empty_is_not_given() -> None:
    cleaned = {
        "to": "ada@client.com\r\n\r\n bob@client.com ",
        "cc": "",
        "subject": "Hello",
        "body": "One\r\nTwo",
    }
    assert schema_form.values(registry.BY_NAME["send_email"].arguments, cleaned) == {
        "to": ["ada@client.com", "bob@client.com"],
        "subject": "Hello",
        "body": "One\nTwo",
    }


def test_a_closed_choice_is_a_choice() -> None:
    field = schema_form.fields(registry.BY_NAME["create_jira_task"].arguments)["type"]
    assert isinstance(field, forms.ChoiceField)
    assert all(field.valid_value(one) for one in ("task", "bug", "story", "epic"))
    assert not field.valid_value("invented")
