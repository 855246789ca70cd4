"""`manage.py loaddata`, which stores rows as they come: here policy has to be valid, and every
change of it is in the history."""

from contextlib import ExitStack
from typing import Any

from django.core.management.commands import loaddata
from django.db import models

from guardrails.models import LearnedPattern, PatternAction
from guardrails.models.base import ValidatedModel
from guardrails.policies import changes

AUTHOR = changes.Author(name="command", door="command")


class Command(loaddata.Command):
    """Django's, but every row of policy that a fixture brought is saved once more, as any other
    door would, and recorded. Raises ValidationError or audit.contracts.LedgerError, and nothing of
    the fixture is loaded."""

    def loaddata(self, fixture_labels: Any) -> None:
        self.brought: list[ValidatedModel] = []
        self.seen: set[tuple[type[models.Model], Any]] = set()
        with ExitStack() as self.recording:
            super().loaddata(fixture_labels)
            for row in self.brought:  # not before: they may refer to rows that came later
                row.save(using=self.using)

    def save_obj(self, obj: Any) -> bool:
        row = obj.object
        if isinstance(row, ValidatedModel):
            self.record(row)
        saved: bool = super().save_obj(obj)
        if saved and isinstance(row, ValidatedModel):
            self.brought.append(row)
        return saved

    def record(self, row: ValidatedModel) -> None:
        """What is there now, before the fixture changes it. A pattern's actions are part of it."""
        changed = (type(row), row.pk)
        if isinstance(row, PatternAction):
            changed = (LearnedPattern, row.pattern_id)
        if changed not in self.seen:
            self.seen.add(changed)
            model, key = changed
            self.recording.enter_context(changes.recording(model, [key], author=AUTHOR))
