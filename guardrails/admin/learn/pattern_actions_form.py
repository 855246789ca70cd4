"""What a pattern does, filled in field by field: the arguments of each action, no JSON. A label or
folder is picked by its name, and the provider's id stands beside it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import BaseInlineFormSet

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.admin import schema_form
from guardrails.admin.policies.picker import Picker, name_of, offer
from guardrails.models import PatternAction
from guardrails.policies import picking
from guardrails.policies.picking import Picked, Use
from integrations.models import Account

PREFIX, ID = "argument-", "_id"
ACTIONS = tuple(action for action in registry.ACTIONS if action.in_patterns)
# What account has it, and what of it there is, by the argument that names it.
Lists = Mapping[str, tuple[Use, list[Picked]]]


def _fields_of(action: AnyAction) -> dict[str, forms.Field]:
    return schema_form.fields(action.arguments, prefix=PREFIX, without=(action.object_field or "",))


def _all_fields() -> dict[str, forms.Field]:
    """One field for each argument that any of the actions takes, saying which."""
    found: dict[str, forms.Field] = {}
    for action in ACTIONS:
        for name, field in _fields_of(action).items():
            field.required = False  # the chosen action says which it needs
            if kind := _kind_of(action, name):
                field.label, field.widget = kind.capitalize(), Picker()
            known = found.setdefault(name, field)
            before = f"{known.help_text}, " if known.help_text else "For: "
            known.help_text = f"{before}{action.title.lower()}"
    return found


def _kind_of(action: AnyAction, field: str) -> str:
    """Of what is picked from the account's lists in this field; else empty."""
    kind = field.removeprefix(PREFIX).removesuffix(ID)
    return kind if kind in action.takes else ""


def list_choices(account: Account) -> Lists:
    """What each argument that names something is picked from. One query."""
    uses = {
        name: Use(account=account, action=action, kind=kind)  # type: ignore[arg-type]  # it takes it
        for action in ACTIONS
        for name in _fields_of(action)
        if (kind := _kind_of(action, name))
    }
    found = picking.list_all(account, {use.listed for use in uses.values()})
    return {name: (use, found.get(use.listed, [])) for name, use in uses.items()}


ArgumentFields: Any = type("ArgumentFields", (forms.Form,), _all_fields())


class PatternActionForm(ArgumentFields, forms.ModelForm):  # type: ignore[misc,type-arg]
    class Meta:
        model = PatternAction
        fields = ("order", "action_type")

    def __init__(self, *args: Any, lists: Lists | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lists = lists or {}
        action = registry.BY_NAME.get(self.instance.action_type)
        if action:
            initial_values = schema_form.initial(action.arguments, self.instance.arguments)
            self.initial.update({PREFIX + name: value for name, value in initial_values.items()})
        for name, (_, choices) in self.lists.items():
            field, id = self.fields[name], self.initial.get(name, "")
            self.initial[name] = present = name_of(id, choices)
            typed = self.data.get(self.add_prefix(name), "")
            offer(field, choices, present=present, typed=typed, id=id)

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
        for name in own:
            cleaned[name] = self._resolve(name, cleaned.get(name))
        self.instance.arguments = schema_form.values(
            action.arguments, cleaned, prefix=PREFIX, without=(action.object_field or "",)
        )
        return cleaned

    def _resolve(self, name: str, typed: Any) -> Any:
        """The id of what was picked; what was there before stays, also where the provider has it no
        more."""
        if name not in self.lists or not typed:
            return typed
        use, choices = self.lists[name]
        before = self.instance.arguments.get(name.removeprefix(PREFIX), "")
        if typed in (before, name_of(before, choices)):
            return before
        try:
            return picking.resolve(use, typed).id
        except ValidationError as error:
            self.add_error(name, error)
            return None


class PatternActionFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """The actions of one pattern. The lists of its account are read once for all of them."""

    @cached_property
    def lists(self) -> Lists:
        return list_choices(self.instance.account) if self.instance.account_id else {}

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return {**super().get_form_kwargs(index), "lists": self.lists}
