"""What every writer has, whatever it writes and wherever."""

from integrations.contracts import AccountRef
from integrations.credentials import credentials


class AccountWriter:
    """The part of `integrations.ports.account.Writer` that needs no provider."""

    def __init__(self, account: AccountRef) -> None:
        self.request_id = ""
        self._account = account

    @property
    def credential(self) -> str:
        return credentials.fingerprint(self._account)
