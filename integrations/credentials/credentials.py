"""Keeping, opening and forgetting the sign-ins of accounts."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.credentials import sealing
from integrations.exceptions import NotPermitted, SignInNeeded
from integrations.models import Credential, Outage

RESEALED_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class SignIn:
    """What a provider is called with. `fingerprint` changes with the secret and tells nothing."""

    user_name: str
    servers: dict[str, Any]
    secret: str = field(repr=False)
    fingerprint: str


def seal(secret: str, *, account_id: UUID) -> sealing.Sealed:
    """For this account alone, which need not be there yet. Raises sealing.BadKey where this
    installation has no public key."""
    return sealing.seal(secret, account_id=account_id, key=_public_key())


def keep(
    *, account_id: UUID, user_name: str, servers: dict[str, Any], sealed: sealing.Sealed
) -> Credential:
    """Store it, in place of one from before. What waits for a sign-in goes on."""
    row, _ = Credential.objects.update_or_create(
        account_id=account_id,
        defaults={
            "user_name": user_name,
            "servers": servers,
            "sealed": sealed.data,
            "key_id": sealed.key_id,
            "state": Credential.State.GOOD,
            "refreshing_until": None,
            "looked_at": None,
            "failure": "",
            "failed_at": None,
        },
    )
    Outage.objects.filter(account_id=account_id).update(due_at=timezone.now())
    return row


def open_sign_in(account: AccountRef) -> SignIn:
    """Raises NotPermitted where there is none, where it has to be given again, and where this
    process is not one that may open it."""
    row = _signed_in(account)
    return SignIn(
        user_name=row.user_name,
        servers=row.servers,
        secret=_unseal(row),
        fingerprint=fingerprint_of(row),
    )


def open_sealed(account: AccountRef) -> tuple[str, sealing.Sealed]:
    """The secret, and as it is stored. Raises what `open_sign_in` raises."""
    row = _signed_in(account)
    return _unseal(row), sealing.Sealed(key_id=row.key_id, data=bytes(row.sealed))


def fingerprint(account: AccountRef) -> str:
    """What `SignIn` calls so, without opening it; empty where there is none."""
    row = _find(account)
    return fingerprint_of(row) if row else ""


def ask_to_sign_in(account_id: UUID, *, sealed: sealing.Sealed | None = None) -> bool:
    """The provider refuses it: nothing more is tried with it. Everything else stays as it is. Only
    where it is `sealed` still, if that is given; whether it was."""
    rows = Credential.objects.filter(account_id=account_id)
    if sealed is not None:
        rows = rows.filter(sealed=sealed.data)
    now = timezone.now()
    waiting = {"state": Credential.State.SIGN_IN, "changed_at": now, "refreshing_until": None}
    return rows.update(**waiting) == 1


def note_look(account_id: UUID, *, began_at: datetime, failure: str = "") -> None:
    """All that was new until then has been seen, or the provider could not be asked."""
    rows = Credential.objects.filter(account_id=account_id)
    if failure:
        rows.update(failure=failure, failed_at=timezone.now())
    else:
        rows.update(seen_at=began_at, failure="", failed_at=None)


def forget(account_id: UUID) -> None:
    """The secret is gone. What was read in and the ledger stay."""
    Credential.objects.filter(account_id=account_id).delete()


def unseal(sealed: sealing.Sealed, *, account_id: UUID) -> str:
    """What `seal` sealed. Raises NotPermitted where no key of this process opens it."""
    try:
        return sealing.unseal(sealed, account_id=account_id, keys=_private_keys())
    except (sealing.CannotOpen, sealing.BadKey) as error:
        raise NotPermitted(str(error)) from error


def reseal(rows: "QuerySet[Any]") -> int:
    """Seal with the present public key what was sealed with another; how many. `rows` have
    `sealed` and `key_id`, and are bound to their own key. Raises sealing.CannotOpen for one that
    no key at hand opens."""
    public, keys = _public_key(), _private_keys()
    waiting = rows.exclude(key_id__in=["", sealing.key_id(public)])
    count = 0
    for row in waiting.iterator(chunk_size=RESEALED_AT_ONCE):
        old = sealing.Sealed(key_id=row.key_id, data=bytes(row.sealed))
        secret = sealing.unseal(old, account_id=row.pk, keys=keys)
        new = sealing.seal(secret, account_id=row.pk, key=public)
        # Who has signed in again meanwhile has another secret by now.
        count += rows.filter(pk=row.pk, sealed=row.sealed).update(
            sealed=new.data, key_id=new.key_id
        )
    return count


def _signed_in(account: AccountRef) -> Credential:
    row = _find(account)
    if row is None:
        raise NotPermitted("this account is not connected")
    if row.state == Credential.State.SIGN_IN:
        raise SignInNeeded("its user has to sign in again")
    return row


def _unseal(row: Credential) -> str:
    sealed = sealing.Sealed(key_id=row.key_id, data=bytes(row.sealed))
    return unseal(sealed, account_id=row.account_id)


def _find(account: AccountRef) -> Credential | None:
    return Credential.objects.filter(
        account_id=account.id, account__organisation_id=account.organisation_id
    ).first()


def fingerprint_of(row: Credential) -> str:
    """What `SignIn` calls so."""
    return f"{row.key_id} {row.changed_at.isoformat()}"


def _public_key() -> X25519PublicKey:
    """A process with the private key needs no other."""
    if settings.CREDENTIALS_PRIVATE_KEY and not settings.CREDENTIALS_PUBLIC_KEY:
        return sealing.private_key(settings.CREDENTIALS_PRIVATE_KEY).public_key()
    return sealing.public_key(settings.CREDENTIALS_PUBLIC_KEY)


def _private_keys() -> list[X25519PrivateKey]:
    given = (settings.CREDENTIALS_PRIVATE_KEY, settings.CREDENTIALS_PRIVATE_KEY_BEFORE)
    return [sealing.private_key(text) for text in given if text]
