"""One item of a page, taken in."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import InterfaceError, OperationalError

from integrations.child import Ended, Unreadable
from integrations.contracts import AccountRef, AnyItem
from integrations.llm.completions import ModelError
from integrations.ports.account import Files
from knowledge.ingest.ingest import ingest
from knowledge.ingest.page import NO_LOOKUP, PageLookup

log = logging.getLogger(__name__)
TRIES = 2

Clock = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True)
class ItemResult:
    """What became of one item of a page. `passing`: the same try may succeed later."""

    source_id: str
    state: str
    reason: str = ""
    passing: bool = False


def take_item(
    account: AccountRef,
    item: AnyItem,
    *,
    clock: Clock,
    lookup: PageLookup = NO_LOOKUP,
    files: Files | None = None,
) -> ItemResult:
    """Ingest one item. A broken one is a value; a database that is away is raised."""
    reason, passing = "", False
    for _try in range(TRIES):
        try:
            outcome = ingest(
                account=account,
                source_id=item.id,
                item=item,
                now=clock(),
                lookup=lookup,
                files=files,
            )
            return ItemResult(source_id=item.id, state=outcome.state)
        except Unreadable as error:
            return ItemResult(source_id=item.id, state="failed", reason=error.reason)
        except Ended:
            reason, passing = "reader_ended", True
        except ModelError as error:
            reason, passing = f"model_{error.code}", error.may_pass
            if error.code == "out_of_time":
                break  # nobody waits for that twice
        except (OperationalError, InterfaceError):
            raise  # no fault of the item: the page is read again
        except Exception:  # one broken item must not stop the others
            log.exception("sync.item_failed", extra={"account": str(account.id)})
            reason, passing = "unexpected_error", False
    return ItemResult(source_id=item.id, state="failed", reason=reason, passing=passing)
