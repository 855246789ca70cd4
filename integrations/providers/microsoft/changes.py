"""How far something at Microsoft was looked at: the link to what has changed since."""

from dataclasses import dataclass

from integrations.contracts import AccountRef
from integrations.models import MailFolderLink, MailState
from integrations.providers import item_events


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One page of one folder: keep how far it was looked at with its events, in one
    transaction."""

    account: AccountRef
    folder: str = ""
    link: str = ""
    events: tuple[item_events.Event, ...] = ()

    def keep(self) -> None:
        MailState.objects.get_or_create(account_id=self.account.id, defaults={"state": "graph"})
        if self.link:
            MailFolderLink.objects.update_or_create(
                account_id=self.account.id, folder=self.folder, defaults={"link": self.link}
            )
