"""What a connector declares: its source, its kind of items and how they are listed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from integrations.contracts import AnyItem, ContentType, Page, Source
from integrations.ports import Reader


@dataclass(frozen=True, kw_only=True)
class Connector:
    """One source of items. `window` is how far back a first sync reads by default."""

    source: Source
    label: str
    content_type: ContentType
    item_type: type[AnyItem]
    window: timedelta
    list_items: Callable[[Reader, datetime | None, str | None, int], Page[AnyItem]]
