"""One step of a look at such a mailbox."""

from dataclasses import dataclass

from integrations.contracts import AccountRef
from integrations.models import MailState
from integrations.providers import item_events


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One step: events, each with a name of its own that is the same however often it is seen. Keep
    what is seen in one transaction with them."""

    account: AccountRef
    state: str
    events: tuple[item_events.Event, ...] = ()

    def keep(self) -> None:
        MailState.objects.update_or_create(
            account_id=self.account.id, defaults={"state": self.state}
        )
