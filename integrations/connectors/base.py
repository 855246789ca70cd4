"""What a connector declares: its source, its kind of items and how they are listed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from integrations.contracts import AnyItem, Change, ContentType, Page, Source
from integrations.ports import Reader

Listing = Callable[[Reader, datetime, str | None, int], Page[AnyItem]]
History = Callable[[Reader, datetime, str | None, int], Page[Change]]


@dataclass(frozen=True, kw_only=True)
class Connector:
    """One source of items. `window` is how far back a first sync reads by default.

    `path` is where the data service keeps its items. `list_items` lists what lies in the window
    since a time, `list_changes` what was created or changed since; for most sources that is the
    same list. `history` reads what was changed there, oldest first. Without a list (None) nothing
    is read from the data service: items come in by an import. `starts_turns`: a new mail here is
    worked through by the agent.
    """

    source: Source
    label: str
    content_type: ContentType
    item_type: type[AnyItem]
    window: timedelta
    path: str = ""
    list_items: Listing | None = None
    list_changes: Listing | None = None
    history: History | None = None
    starts_turns: bool = False


def provided(
    *,
    source: Source,
    label: str,
    content_type: ContentType,
    item_type: type[AnyItem],
    window: timedelta,
) -> Connector:
    """A source of the data service that is read and never written to: its items have no paths of
    their own in the contract, and no action works on them."""

    def listed(reader: Reader, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        return reader.items(source=source, since=since, cursor=cursor, limit=limit)

    def history(reader: Reader, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        return reader.history(source=source, since=since, cursor=cursor, limit=limit)

    return Connector(
        source=source,
        label=label,
        content_type=content_type,
        item_type=item_type,
        window=window,
        path=f"/sources/{source}/items",
        list_items=listed,
        list_changes=listed,
        history=history,
    )
