"""What a connector declares: its source, its kind of items and how they are listed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from integrations.contracts import AnyItem, Change, ContentType, Page, Source
from integrations.ports import Reader

Listing = Callable[[Reader, datetime, str | None, int], Page[AnyItem]]


@dataclass(frozen=True, kw_only=True)
class Connector:
    """One source of items. `window` is how far back a first sync reads by default.

    `list_items` lists what lies in the window since a time, `list_changes` what was created or
    changed since; for most sources that is the same list. `history` reads what was changed
    there, oldest first; None says that the source keeps no history.
    """

    source: Source
    label: str
    content_type: ContentType
    item_type: type[AnyItem]
    window: timedelta
    list_items: Listing
    list_changes: Listing
    history: Callable[[Reader, datetime, str | None, int], Page[Change]] | None
