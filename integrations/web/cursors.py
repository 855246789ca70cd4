"""Where a list that is read newest first goes on."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from rest_framework import exceptions, serializers

LIMIT, MOST = 50, 200


@dataclass(frozen=True, kw_only=True)
class Place:
    """The last row before it, by its moment and its id. As text in addresses."""

    at: datetime
    id: UUID

    def __str__(self) -> str:
        return f"{self.at.astimezone(UTC):%Y%m%dT%H%M%S.%f}_{self.id.hex}"

    @classmethod
    def parse(cls, text: str) -> "Place | None":
        at, _, id = text.partition("_")
        try:
            found = datetime.strptime(at, "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)
            return cls(at=found, id=UUID(id))
        except ValueError:
            return None

    def before(self, by: str, key: str = "pk") -> Q:
        """What is behind it, newest first by `by` and the id in `key`."""
        # Said twice: no index helps with an OR.
        return Q(**{f"{by}__lte": self.at}) & (
            Q(**{f"{by}__lt": self.at}) | Q(**{by: self.at, f"{key}__lt": self.id})
        )


class PageFields(serializers.Serializer[Any]):
    """What each list that goes on takes from its address; what else stands there is passed over."""

    @classmethod
    def read(cls, given: Any) -> dict[str, Any]:
        """The values of an address. Raises ValidationError."""
        fields = cls(data=given)
        fields.is_valid(raise_exception=True)
        return dict(fields.validated_data)

    cursor = serializers.CharField(
        required=False, max_length=100, help_text="`next_cursor` of the page before."
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST, default=LIMIT)


def page(rows: Any, chosen: Any, *, by: str, key: str = "pk") -> tuple[list[Any], str | None]:
    """One page of the rows, newest first by their moment `by`, and the cursor of the next one; None
    after the last. `key` is a UUID of theirs. `chosen`: values of PageFields. Raises
    ValidationError for a cursor of nobody's.
    """
    if text := chosen.get("cursor"):
        place = Place.parse(text)
        if place is None:
            raise exceptions.ValidationError({"cursor": ["Take it from `next_cursor`."]})
        rows = rows.filter(place.before(by, key))
    limit = chosen["limit"]
    found = list(rows.order_by(f"-{by}", f"-{key}")[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    after = str(Place(at=getattr(last, by), id=getattr(last, key))) if last else None
    return found[:limit], after
