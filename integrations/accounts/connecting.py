"""Connecting and disconnecting accounts of somebody's own.

First a trial says what can be done there. What is offered then is a text that who asked keeps
until they confirm: signed, good for ten minutes and for them alone, with the secret sealed in it,
so that nothing is stored before and this process cannot open it.
"""

import base64
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.core import signing
from django.db import transaction

from integrations.accounts import connectables
from integrations.contracts import AccountRef, Source
from integrations.credentials import credentials
from integrations.credentials.sealing import Sealed
from integrations.exceptions import Rejected
from integrations.models import Account, Organisation, Subscription
from integrations.providers.imap import connection

GOOD_FOR = timedelta(minutes=10)
SALT = "integrations.accounts.connecting"
SOURCE: Source = "imap"  # where none is named


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Whose mailbox or calendars, and how they are called there. `time_zone` and `display_name` are
    those of a new account."""

    organisation_id: UUID
    user_id: str
    address: str
    user_name: str
    display_name: str = ""
    time_zone: str = "UTC"
    source: Source = SOURCE

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"organisation_id": str(self.organisation_id)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Wish":
        return cls(**data | {"organisation_id": UUID(data["organisation_id"])})


@dataclass(frozen=True, kw_only=True)
class Offer:
    """An account as it will be stored, its secret sealed for it. `servers` is for its provider."""

    wish: Wish
    account_id: UUID
    servers: dict[str, Any]
    sealed: Sealed


def check(wish: Wish) -> None:
    """Before a password goes anywhere. Raises Rejected for a mailbox that is connected for somebody
    else, and ValidationError for values that no account can have."""
    _check_owner(wish)
    if _find(wish) is None:
        _new(wish, uuid4()).full_clean()


def make_offer(wish: Wish, servers: dict[str, Any], *, secret: str) -> Offer:
    """Raises sealing.BadKey where this installation has no public key."""
    account = _find(wish)
    account_id = account.id if account else uuid4()
    sealed = credentials.seal(secret, account_id=account_id)
    return Offer(wish=wish, account_id=account_id, servers=servers, sealed=sealed)


def to_text(offer: Offer, *, by: str) -> str:
    """`by` names who may accept it."""
    return signing.dumps(
        {
            "by": by,
            "wish": offer.wish.to_json(),
            "account_id": str(offer.account_id),
            "servers": offer.servers,
            "sealed": base64.b64encode(offer.sealed.data).decode(),
            "key_id": offer.sealed.key_id,
        },
        salt=SALT,
    )


def from_text(text: str, *, by: str) -> Offer:
    """Raises Rejected for one that is too old, changed, or somebody else's."""
    try:
        found: dict[str, Any] = signing.loads(text, salt=SALT, max_age=GOOD_FOR)
    except signing.BadSignature as error:
        raise Rejected("This took longer than ten minutes. Give the password again.") from error
    if found["by"] != by:
        raise Rejected("Somebody else tried this account. Give the password yourself.")
    return Offer(
        wish=Wish.from_json(found["wish"]),
        account_id=UUID(found["account_id"]),
        servers=found["servers"],
        sealed=Sealed(key_id=found["key_id"], data=base64.b64decode(found["sealed"])),
    )


def accept(offer: Offer) -> Account:
    """Store the account with its sealed secret, or the new secret of an account that is there.
    Nothing is allowed for a new one: it is read alone. Raises Rejected, and ValidationError for
    values that no account can have."""
    wish = offer.wish
    with transaction.atomic():
        # One after the other: two of one address would be two accounts.
        Organisation.objects.select_for_update().get(id=wish.organisation_id)
        _check_owner(wish)
        account = _find(wish)
        if account is None:
            account = _new(wish, offer.account_id)
            account.full_clean()
            account.save(force_insert=True)
        elif account.id != offer.account_id:
            raise Rejected("It was connected meanwhile. Give the password again.")
        credentials.keep(
            account_id=account.id,
            user_name=wish.user_name,
            servers=offer.servers,
            sealed=offer.sealed,
        )
    return account


def change(account: Account, *, bcc_self: bool) -> None:
    """Whether its user gets a blind copy of what goes out. Raises ValidationError for an account
    that sends nothing over SMTP."""
    account.bcc_self = bcc_self
    account.full_clean()
    account.save(update_fields=["bcc_self"])


def disconnect(account: AccountRef) -> None:
    """Its secret is gone: nothing is read or changed there any more. What was read in, what its
    agent may do, and the ledger stay."""
    credentials.forget(account.id)
    # What goes on calling Remit about it is a stranger from here on.
    Subscription.objects.filter(account_id=account.id).delete()
    connection.close_idle(account.id)


def _find(wish: Wish) -> Account | None:
    return Account.objects.filter(
        organisation_id=wish.organisation_id,
        external_user_id=wish.user_id,
        source=wish.source,
        address__iexact=wish.address,
    ).first()


def _new(wish: Wish, account_id: UUID) -> Account:
    return Account(
        id=account_id,
        organisation_id=wish.organisation_id,
        external_user_id=wish.user_id,
        source=wish.source,
        address=wish.address,
        display_name=wish.display_name,
        time_zone=wish.time_zone,
    )


def _check_owner(wish: Wish) -> None:
    """A mailbox with two agents would be answered twice."""
    connected = Account.objects.filter(
        organisation_id=wish.organisation_id,
        source__in=_same(wish.source),
        address__iexact=wish.address,
        credential__isnull=False,
    )
    what = connectables.of(wish.source).what
    if connected.exclude(external_user_id=wish.user_id).exists():
        raise Rejected(f"This {what} is connected for somebody else. Disconnect it there first.")
    other = connected.exclude(source=wish.source).first()
    if other is not None:
        over = connectables.of(other.source).over
        raise Rejected(
            f"This {what} is connected over {over}. To change that, disconnect it first."
        )


def _same(source: Source) -> tuple[Source, ...]:
    """Two accounts of one mailbox would answer it twice, whatever each of them speaks."""
    if connectables.of(source).what != "mailbox":
        return (source,)
    return tuple(name for name, one in connectables.ALL.items() if one.what == "mailbox")


def is_connected(wish: Wish) -> bool:
    """Whether this user's mailbox is connected in this very way."""
    found = _find(wish)
    return found is not None and hasattr(found, "credential")
