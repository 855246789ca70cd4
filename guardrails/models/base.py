"""What all policy rows share: nothing invalid is stored, whichever door it comes through."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self, TypeVar

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Value

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.base import Condition

MAX_HOLD_SECONDS = 7 * 24 * 3600
FITTING = {"action_type", "conditions"}  # what decides whether a condition fits
M = TypeVar("M", bound=models.Model)


class ValidatedQuerySet(models.QuerySet[M]):
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

    def update(self, **kwargs: Any) -> int:
        """A condition that does not fit its action stays out here too; nothing is updated then."""
        if not (kwargs.keys() & FITTING and hasattr(self.model, "conditions")):
            return super().update(**kwargs)
        with transaction.atomic(using=self.db):
            keys = list(self.values_list("pk", flat=True))
            count = super().update(**kwargs)
            for row in self.model._base_manager.using(self.db).filter(pk__in=keys):
                fit(row)
        return count


class ValidatedManager(models.Manager[M]):
    """Rows come from a queryset that validates what is written in bulk, in migrations too."""

    use_in_migrations = True

    def get_queryset(self) -> ValidatedQuerySet[M]:
        return ValidatedQuerySet(self.model, using=self._db)


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
    fixtures, `update()` and migrations included, because each of them asks the field. Whether
    they fit the row's action is asked with the row: by `save()`, by the queryset, and by
    `loaddata` (guardrails.management), because a fixture's rows come without either."""

    empty_values = [[]]  # nothing else stands for “no conditions”

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("help_text", None)  # names the kinds, and a new kind is no migration
        return name, path, args, kwargs

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        super().validate(value, model_instance)
        check_conditions(value)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        fit(model_instance)
        return super().pre_save(model_instance, add)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        if isinstance(value, Value):
            check_conditions(value.value)
        elif not hasattr(value, "resolve_expression"):
            check_conditions(value)
        return super().get_db_prep_save(value, connection)


def check_conditions(value: Any) -> None:
    try:
        conditions.parse_all(value)
    except ValueError as error:
        raise ValidationError(str(error), code="invalid_conditions") from error


def fit(row: Any) -> None:
    """Refuses conditions that could never hold for the row's action; all actions, where it
    names none."""
    action = registry.BY_NAME.get(row.action_type)
    actions = [action] if action else [] if row.action_type else registry.ACTIONS
    try:
        parsed = conditions.parse_all(row.conditions)
    except ValueError:
        return  # whatever parses them says so
    check_fit(parsed, actions)


def check_fit(parsed: Iterable[Condition], actions: Sequence[AnyAction]) -> None:
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
