"""A field in which people pick what an account has, by name: a list that is short is chosen from,
a long one is offered while somebody types. No script is needed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.template.loader import render_to_string
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from guardrails.facts.text import visible
from guardrails.policies.picking import Picked

MOST_SHOWN = 100  # of a list that is short enough to be chosen from


class Picker(UnfoldAdminTextInputWidget):  # type: ignore[misc]  # the theme is untyped
    """A field that offers names while somebody types. The browser does it, without a script."""

    choices: Sequence[Picked] = ()

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> str:
        offered = f"id_{name}_offered"
        field = super().render(name, value, {**(attrs or {}), "list": offered}, renderer)
        context = {"field": field, "id": offered, "offers": _offers(self.choices)}
        return render_to_string("guardrails/offered.html", context)


def offer(
    field: forms.Field, choices: Sequence[Picked], *, present: str, typed: str, id: str = ""
) -> None:
    """Have a field offer these; `present` is what is chosen now, also where the provider has it no
    more, with its `id` beside it, and `typed` what somebody has typed, which stays to be read."""
    offered = [
        (value, f"{title} ({value})" if title else _with(id, value, present))
        for value, title in _offers(choices)
    ]
    if present and present not in dict(offered):
        offered.insert(0, (present, visible(present)))
    offered.insert(0, ("", "Choose"))
    if 1 < len(offered) <= MOST_SHOWN and typed in dict(offered):
        attrs = {one: said for one, said in field.widget.attrs.items() if one == "aria-label"}
        field.widget = UnfoldAdminSelectWidget(attrs=attrs, choices=offered)
        return
    field.widget.choices = choices  # of a Picker


def _with(id: str, value: str, present: str) -> str:
    return f"{value} ({visible(id)})" if id and value == present else value


def name_of(id: str, choices: Sequence[Picked]) -> str:
    """As the field has it: the name, where that is plain and names it alone; else the id."""
    return next(
        (value for one, (value, _) in zip(choices, _offers(choices), strict=True) if one.id == id),
        id,
    )


def _offers(choices: Sequence[Picked]) -> Iterator[tuple[str, str]]:
    """Each by its name, where that is plain and names it alone; else by its id."""
    names = Counter(one.name.casefold() for one in choices)
    for one in choices:
        is_plain = one.title == one.name and names[one.name.casefold()] == 1
        yield (one.name, "") if is_plain else (one.id, one.title)
