"""Conditions as people fill them in: a list of small forms, one for each condition.

“Add” and “Remove” are buttons of the form itself: the server answers with the same form, so
it needs no script (one script helps the focus along). Nothing is saved before it is saved.
"""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.renderers import TemplatesSetting
from pydantic import ValidationError as Invalid
from pydantic_core import ErrorDetails
from unfold.widgets import UnfoldAdminSelectWidget

from guardrails.admin import schema_form
from guardrails.admin.policies.draft_form import DraftForm
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.base import Condition
from guardrails.facts.text import visible

MAX_CONDITIONS = 50
BUTTONS = ("add", "remove")
PLAIN = str.maketrans({"`": "", "\n": " ", "_": " "})


class ConditionForm(forms.Form):
    """The fields of one kind of condition."""

    def __init__(self, kind: type[Condition], prefix: str, **given: Any) -> None:
        super().__init__(prefix=prefix, use_required_attribute=False, **given)
        self.kind = kind
        self.fields |= schema_form.fields(kind, without=("kind",))

    def clean(self) -> dict[str, Any]:
        """What is wrong stands at the field that it is about."""
        raw = self.raw()
        try:
            self.kind.model_validate(raw)
        except Invalid as error:
            for one in error.errors():
                name = str(one["loc"][0]) if one["loc"] else ""
                if name not in self.errors:
                    self.add_error(name if name in self.fields else None, _explain(one))
        return raw

    def raw(self) -> dict[str, Any]:
        """The condition as it is stored. Needs cleaned data."""
        return {
            "kind": kind_of(self.kind),
            **schema_form.values(self.kind, self.cleaned_data, without=("kind",)),
        }


@dataclass(frozen=True, kw_only=True)
class Item:
    """One condition of the list. Without a form it cannot be read, and can only be removed."""

    number: int
    kind: str = ""
    form: ConditionForm | None = None
    stored: Any = None
    is_new: bool = False

    @property
    def title(self) -> str:
        return self.form.kind.title if self.form else "A condition that cannot be read"

    @property
    def about(self) -> str:
        return about(self.form.kind) if self.form else ""

    @property
    def stored_text(self) -> str:
        return visible(_json(self.stored))

    @property
    def stored_json(self) -> str:
        return _json(self.stored)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The list as it was sent; `edited` by a button of the list, so that nothing is checked."""

    items: tuple[Item, ...]
    edited: bool


def kind_of(condition: type[Condition]) -> str:
    return next(kind for kind, one in conditions.BY_KIND.items() if one is condition)


def about(condition: type[Condition]) -> str:
    """What the condition promises, from its contract."""
    return (inspect.getdoc(condition) or "").split("\n\n")[0].translate(PLAIN)


class ConditionsWidget(forms.Widget):
    """The list of conditions, with a choice of kinds to add."""

    template_name = "guardrails/conditions.html"
    use_fieldset = True

    class Media:
        js = ("remit/conditions.js",)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Sent:
        """The conditions that were sent, after the button that was pressed."""
        numbers = [int(one) for one in data.getlist(name) if one.isdecimal()][:MAX_CONDITIONS]
        editing = is_editing(data, name)
        items = [
            _sent(data, name, number, editing=editing)
            for number in numbers
            if str(number) != data.get(f"{name}-remove")
        ]
        kind = data.get(f"{name}-kind", "")
        if f"{name}-add" in data and kind in conditions.BY_KIND:
            items.append(_create(name, max(numbers, default=-1) + 1, kind=kind, is_new=True))
        return Sent(items=tuple(items), edited=editing)

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False

    def id_for_label(self, id_: str) -> str:
        return ""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        sent = value if isinstance(value, Sent) else _stored(name, value)
        choices = [(kind, one.title) for kind, one in conditions.BY_KIND.items()]
        select = UnfoldAdminSelectWidget(choices=[("", "Choose what it is about"), *choices])
        chooser = select.render(
            f"{name}-kind",
            "",
            {
                "id": f"id_{name}-kind",
                "aria-describedby": f"id_{name}_helptext",
                "autofocus": sent.edited and not any(item.is_new for item in sent.items),
            },
        )
        return super().get_context(name, value, attrs) | {
            "name": name,
            "items": sent.items,
            "chooser": chooser,
        }

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        return super().render(name, value, attrs, TemplatesSetting())


class ConditionsFormField(forms.Field):
    """A list of conditions. What is cleaned is exactly what is stored."""

    widget = ConditionsWidget

    def clean(self, value: Sent) -> list[Any]:
        """Raises ValidationError where a condition is not whole; it says why at its field."""
        if any(item.form and not item.form.is_valid() for item in value.items):
            raise ValidationError("Correct the conditions that are marked.")
        if any(item.form is None for item in value.items):
            raise ValidationError("Remove what cannot be read: it refuses everything.")
        return [item.form.raw() for item in value.items if item.form]

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return self.clean(data) != (initial or [])
        except ValidationError:
            return True


class WithConditions(DraftForm):
    """A row with conditions. While somebody adds or removes one, nothing is checked or saved."""

    conditions = ConditionsFormField(required=False, label="Conditions")

    def clean_conditions(self) -> list[Any]:
        """A condition that means the same stays as it was written."""
        found: list[Any] = self.cleaned_data["conditions"]
        stored = self.initial.get("conditions") or []
        before = [(conditions.read(raw), raw) for raw in stored]
        return [
            next((raw for one, raw in before if one == conditions.read(new)), new) for new in found
        ]

    @property
    def is_unchecked(self) -> bool:
        return is_editing(self.data, "conditions")


def _explain(error: ErrorDetails) -> str:
    sentence = error["msg"].removeprefix("Value error, ")
    if error["type"] == "value_error" and error["loc"]:
        return f"“{visible(str(error['input']))}” {sentence}."
    return f"{sentence[:1].upper()}{sentence[1:]}."


def is_editing(data: Mapping[str, Any], name: str) -> bool:
    """Whether a button of the list was pressed, and not one that saves."""
    return "_back" in data or any(f"{name}-{button}" in data for button in BUTTONS)


def _stored(name: str, raw: Any) -> Sent:
    """Items for what the database has. Anything but a list is one that cannot be read."""
    found = raw if isinstance(raw, list) else [] if raw is None else [raw]
    items = (
        _create(name, number, kind=one["kind"], raw=one)
        if isinstance(conditions.read(one), Condition)
        else Item(number=number, stored=one)
        for number, one in enumerate(found)
    )
    return Sent(items=tuple(items), edited=False)


def _sent(data: Any, name: str, number: int, *, editing: bool) -> Item:
    """One condition as it was sent. While the list is edited it is not checked."""
    prefix = f"{name}-{number}"
    kind = data.get(f"{prefix}-kind", "")
    if kind not in conditions.BY_KIND:
        return Item(number=number, stored=_loaded(data.get(f"{prefix}-stored", "")))
    form = ConditionForm(conditions.BY_KIND[kind], prefix, data=data)
    if editing:
        given = {bound.name: bound.data for bound in form}
        form = ConditionForm(conditions.BY_KIND[kind], prefix, initial=given)
    return Item(number=number, kind=kind, form=form)


def _create(
    name: str, number: int, *, kind: str, raw: Mapping[str, Any] | None = None, is_new: bool = False
) -> Item:
    model = conditions.BY_KIND[kind]
    initial = schema_form.initial(model, raw or {})
    form = ConditionForm(model, f"{name}-{number}", initial=initial)
    return Item(number=number, kind=kind, form=form, is_new=is_new)


def _json(raw: Any) -> str:
    return json.dumps(raw, ensure_ascii=False)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
