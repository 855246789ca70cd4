"""What a connector declares: its source, its kind of items and how they are listed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from integrations.contracts import AnyItem, Change, ContentType, Page, Source
from integrations.ports import Reader


@dataclass(frozen=True, kw_only=True)
class Connector:
    """One source of items. `window` is how far back a first sync reads by default. `history`
    reads what was changed there, oldest first; None says that the source keeps no history."""

    source: Source
    label: str
    content_type: ContentType
    item_type: type[AnyItem]
    window: timedelta
    list_items: Callable[[Reader, datetime | None, str | None, int], Page[AnyItem]]
    history: Callable[[Reader, datetime, str | None, int], Page[Change]] | None
