"""What a pattern does, filled in field by field: the arguments of each action, no JSON."""

from typing import Any

from django import forms

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.admin import schema_form
from guardrails.models import PatternAction

PREFIX = "argument-"
ACTIONS = tuple(action for action in registry.ACTIONS if action.in_patterns)


def _fields_of(action: AnyAction) -> dict[str, forms.Field]:
    return schema_form.fields(action.arguments, prefix=PREFIX, without=(action.object_field or "",))


def _all_fields() -> dict[str, forms.Field]:
    """One field for each argument that any of the actions takes, saying which."""
    found: dict[str, forms.Field] = {}
    for action in ACTIONS:
        for name, field in _fields_of(action).items():
            field.required = False  # the chosen action says which it needs
            known = found.setdefault(name, field)
            before = f"{known.help_text}, " if known.help_text else "For: "
            known.help_text = f"{before}{action.title.lower()}"
    return found


ArgumentFields: Any = type("ArgumentFields", (forms.Form,), _all_fields())


class PatternActionForm(ArgumentFields, forms.ModelForm):  # type: ignore[misc,type-arg]
    class Meta:
        model = PatternAction
        fields = ("order", "action_type")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        action = registry.BY_NAME.get(self.instance.action_type)
        if action:
            initial_values = schema_form.initial(action.arguments, self.instance.arguments)
            self.initial.update({PREFIX + name: value for name, value in initial_values.items()})

    def clean(self) -> dict[str, Any]:
        """The arguments of the chosen action; the model says whether they fit it."""
        cleaned: dict[str, Any] = super().clean() or {}
        action = registry.BY_NAME.get(cleaned.get("action_type", ""))
        if action is None:
            return cleaned
        own = _fields_of(action)
        for name, value in list(cleaned.items()):
            if name.startswith(PREFIX) and name not in own and value:
                self.add_error(name, f"“{action.title}” does not take this.")
        self.instance.arguments = schema_form.values(
            action.arguments, cleaned, prefix=PREFIX, without=(action.object_field or "",)
        )
        return cleaned
