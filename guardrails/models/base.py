"""What all policy rows share: nothing invalid is stored, whichever door it comes through."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self, TypeVar

from django.core.exceptions import ValidationError
from django.db import models

from guardrails import conditions
from guardrails.actions.base import Action

MAX_HOLD_SECONDS = 7 * 24 * 3600
M = TypeVar("M", bound=models.Model)


class ValidatedManager(models.Manager[M]):
    """Validates rows that are written in bulk, where `save()` is not called."""

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        rows = list(objs)
        for row in rows:
            row.full_clean()
        return super().bulk_create(rows, *args, **kwargs)

    def bulk_update(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> int:
        rows = list(objs)
        for row in rows:
            row.full_clean()
        return super().bulk_update(rows, *args, **kwargs)


class ValidatedModel(models.Model):
    """`save()` raises ValidationError instead of storing a row that is not valid."""

    objects: ClassVar[ValidatedManager[Self]] = ValidatedManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        super().save(*args, **kwargs)


class ConditionsField(models.JSONField):
    """A list of conditions. Parsed on the way into the database by every path of the ORM,
    fixtures and `update()` included, because each of them asks the field."""

    empty_values = [[]]  # nothing else stands for “no conditions”

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("help_text", None)  # names the kinds, and a new kind is no migration
        return name, path, args, kwargs

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        super().validate(value, model_instance)
        check_conditions(value)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        if not hasattr(value, "resolve_expression"):
            check_conditions(value)
        return super().get_db_prep_save(value, connection)


def check_conditions(value: Any) -> None:
    try:
        conditions.parse_all(value)
    except ValueError as error:
        raise ValidationError(str(error), code="invalid_conditions") from error


def check_fit(parsed: Iterable[conditions.Condition], actions: Sequence[Action[Any]]) -> None:
    """Refuses a condition that could never hold for one of these actions."""
    advice = "Take it out." if len(actions) == 1 else "Name an action that it fits."
    for one in parsed:
        for action in actions:
            if why := one.unfit(action):
                raise ValidationError(
                    {
                        "conditions": f"“{one.kind}” cannot be judged for “{action.title}”, so it "
                        f"would refuse everything: {why}. {advice}"
                    }
                )
