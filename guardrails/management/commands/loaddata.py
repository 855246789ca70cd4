"""`manage.py loaddata`, which stores rows as they come: here policy has to be valid too."""

from typing import Any

from django.core.management.commands import loaddata

from guardrails.models.base import ValidatedModel


class Command(loaddata.Command):
    """Django's, but every row of policy that a fixture brought is saved once more, as any other
    door would. Raises ValidationError, and nothing of the fixture is loaded."""

    def loaddata(self, fixture_labels: Any) -> None:
        self.brought: list[ValidatedModel] = []
        super().loaddata(fixture_labels)
        for row in self.brought:  # not before: they may refer to rows that came later
            row.save(using=self.using)

    def save_obj(self, obj: Any) -> bool:
        saved: bool = super().save_obj(obj)
        if saved and isinstance(obj.object, ValidatedModel):
            self.brought.append(obj.object)
        return saved
