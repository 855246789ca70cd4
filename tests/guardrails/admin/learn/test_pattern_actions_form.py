"""What a pattern does is filled in field by field."""

from typing import Any

import pytest

from guardrails.admin.learn.pattern_actions_form import ACTIONS, PatternActionForm, list_choices
from guardrails.models import LearnedPattern, PatternAction
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def pattern(office: Office) -> LearnedPattern:
    for id, called in (("Label_3", "News"), ("Label_4", "news"), ("Label_5", "Offers")):
        office.mailbox.resources.create(resource_type="label", external_id=id, name=called)
    return LearnedPattern.objects.create(account=office.mailbox, name="Weekly", list_id="weekly")


def form(pattern: LearnedPattern, **given: Any) -> PatternActionForm:
    return PatternActionForm(
        {"order": "0", **given},
        instance=PatternAction(pattern=pattern),
        lists=list_choices(pattern.account),
    )


def test_there_is_a_field_for_every_argument_that_a_pattern_gives() -> None:
    wanted = {
        f"argument-{name}"
        for action in ACTIONS
        for name in action.arguments.model_fields
        if name != action.object_field
    }
    found = {name for name in PatternActionForm.base_fields if name.startswith("argument-")}
    assert found == wanted == {"argument-label_id", "argument-folder_id"}
    assert PatternActionForm.base_fields["argument-label_id"].help_text == "For: label a mail"


def test_the_fields_of_the_chosen_action_become_its_arguments(pattern: LearnedPattern) -> None:
    filled = form(pattern, action_type="classify", **{"argument-label_id": "Label_3"})
    assert filled.is_valid(), filled.errors
    row = filled.save()
    row.refresh_from_db()
    assert row.arguments == {"label_id": "Label_3"}
    assert PatternActionForm(instance=row).initial["argument-label_id"] == "Label_3"


def test_a_label_is_picked_by_its_name_and_has_its_id_beside_it(pattern: LearnedPattern) -> None:
    filled = form(pattern, action_type="classify", **{"argument-label_id": "Offers"})
    assert filled.is_valid(), filled.errors
    row = filled.save()
    row.refresh_from_db()
    assert row.arguments == {"label_id": "Label_5"}

    again = PatternActionForm(instance=row, lists=list_choices(pattern.account))
    field = again.fields["argument-label_id"]
    assert (field.label, again.initial["argument-label_id"]) == ("Label", "Offers")
    assert field.help_text == "For: label a mail"
    # Of two like names each is known by its id.
    assert field.widget.choices == [
        ("", "Choose"),
        ("Label_3", "News (Label_3)"),
        ("Offers", "Offers (Label_5)"),
        ("Label_4", "news (Label_4)"),
    ]


def test_what_the_account_does_not_have_is_refused_and_what_was_there_stays(
    office: Office, pattern: LearnedPattern
) -> None:
    unknown = form(pattern, action_type="classify", **{"argument-label_id": "No such"})
    assert not unknown.is_valid()
    assert "“No such” is not among the labels" in str(unknown.errors["argument-label_id"])

    row = PatternAction.objects.create(
        pattern=pattern, order=0, action_type="classify", arguments={"label_id": "gone"}
    )
    same = PatternActionForm(
        {"order": "1", "action_type": "classify", "argument-label_id": "gone"},
        instance=row,
        lists=list_choices(pattern.account),
    )
    assert same.is_valid(), same.errors
    assert same.save().arguments == {"label_id": "gone"}
    assert office.calls() == []


def test_an_action_without_arguments_needs_none(pattern: LearnedPattern) -> None:
    filled = form(pattern, action_type="archive", **{"argument-label_id": ""})
    assert filled.is_valid(), filled.errors
    assert filled.save().arguments == {}


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        ({"action_type": "classify"}, "__all__", "label id: Field required."),
        (
            {"action_type": "archive", "argument-label_id": "Label_3"},
            "argument-label_id",
            "“Archive a mail” does not take this.",
        ),
        ({"action_type": "send_email"}, "action_type", "not one of the available choices"),
        ({"action_type": ""}, "action_type", "required"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(
    pattern: LearnedPattern, given: dict[str, str], field: str, sentence: str
) -> None:
    filled = form(pattern, **given)
    assert not filled.is_valid()
    assert sentence in " ".join(map(str, filled.errors[field]))
    assert not PatternAction.objects.filter(pattern=pattern).exists()
