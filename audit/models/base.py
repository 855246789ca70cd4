"""What all tables of the ledger share: they only take rows."""

from typing import Any, NoReturn

from django.db import models


class AppendOnly(RuntimeError):
    """Raised by every way of the ORM to write: the ledger only inserts."""

    def __init__(self) -> None:
        super().__init__("The ledger only inserts, and only through audit.ledger.ledger.append().")


def refuse(*args: object, **kwargs: object) -> NoReturn:
    raise AppendOnly


class AppendOnlyQuerySet(models.QuerySet[Any]):
    create = get_or_create = update_or_create = bulk_create = refuse
    update = bulk_update = delete = refuse
    acreate = aget_or_create = aupdate_or_create = abulk_create = refuse
    aupdate = abulk_update = adelete = refuse


class AppendOnlyModel(models.Model):
    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    save = delete = asave = adelete = refuse


def choices(kind: Any) -> list[tuple[str, str]]:
    return [(value, value) for value in kind.__args__]
