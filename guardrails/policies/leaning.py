"""Allowed actions that were written as if receivers were all that matters. Pure."""

from collections.abc import Iterator
from typing import Literal

from guardrails.actions.base import AnyAction
from guardrails.decide.conditions.objects.named import Named
from guardrails.decide.conditions.objects.place import Place
from guardrails.decide.snapshot import AllowedAction

SENTENCE = (
    "It is not automatic for what the user did not name, or what the agent wrote: its conditions "
    "are about receivers alone. To let things of one place go, say where it lies."
)


def leans_on_receivers(
    allowed_action: AllowedAction, action: AnyAction
) -> Iterator[tuple[Literal["warning"], str]]:
    """Where it lets objects go unasked and says nothing of which."""
    says_which = any(isinstance(one, Named | Place) for one in allowed_action.conditions)
    if allowed_action.mode == "auto" and action.exposes_object and not says_which:
        yield "warning", SENTENCE
