"""Which key signs the ledger, and how it is changed.

The first key is the one that sealed the first row. Every other is named by a rotation: a note
that the key before it and the new one have signed. Nothing else makes a key count: other rows of
the table are passed over, and `manage.py verify_ledger` reports them.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connections

from audit.contracts import LEDGER_TENANT
from audit.ledger import events
from audit.ledger.ids import uuid7
from audit.ledger.routing import LEDGER
from audit.seals import notes
from audit.seals.notes import NotANote, Rotation, Signer

ACTION_TYPE = "ledger.key_rotation"
KEYS = "SELECT public, statement FROM audit_signing_key ORDER BY number"
NAME = "INSERT INTO audit_signing_key (public, statement) VALUES (%s, %s)"
FIRST = """
INSERT INTO audit_signing_key (public, statement)
SELECT %s, '' WHERE NOT EXISTS (SELECT FROM audit_signing_key)
"""


class CannotSeal(Exception):
    """The ledger cannot be sealed as it stands. The message says why and what to do."""


class CannotRotate(Exception):
    """The key was not changed. The message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys that count, oldest first, with the notes that name all but the first one.
    `strays` counts rows that name a key without the word of the one before."""

    publics: tuple[bytes, ...] = ()
    rotations: tuple[str, ...] = ()
    strays: int = 0

    @property
    def in_force(self) -> bytes | None:
        """The one that signs now; None before the first seal."""
        return self.publics[-1] if self.publics else None


def name() -> str:
    return notes.rotations_name(settings.LEDGER_ORIGIN)


def load_keys() -> Keys:
    """Those that the ledger names, followed from the first one."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(KEYS)
        rows = cursor.fetchall()
    publics, rotations, strays = list[bytes](), list[str](), 0
    for public, statement in rows:
        if not publics and not statement:
            publics.append(bytes(public))
        elif follows(publics, bytes(public), statement):
            publics.append(bytes(public))
            rotations.append(statement)
        else:
            strays += 1
    return Keys(publics=tuple(publics), rotations=tuple(rotations), strays=strays)


def follows(publics: list[bytes], public: bytes, statement: str) -> bool:
    try:
        rotation = notes.read_rotation(statement, name=name())
    except NotANote:
        return False
    return publics[-1:] == [rotation.old] and rotation.new == public and rotation.new not in publics


def signer_in_force(signers: Sequence[Signer]) -> Signer:
    """The one of these that the ledger names; the first of them while it names none.

    Raises CannotSeal when it names another: everybody who verifies would refuse what an
    unannounced key signs.
    """
    named = load_keys().in_force
    if named is None:
        return signers[0]
    for signer in signers:
        if signer.public == named:
            return signer
    raise CannotSeal(
        f"LEDGER_SIGNING_KEY is another key than the one that the ledger names, {encode(named)}. "
        "Give the sealer that key, or name the new one with both keys: manage.py "
        "rotate_signing_key"
    )


def confirm(cursor: Any, signer: Signer) -> None:
    """In the transaction of a seal: that this key signs now. The first key is named by this.

    Raises CannotSeal, as `signer_in_force`.
    """
    signer_in_force([signer])
    cursor.execute(FIRST, [signer.public])


def rotate(signers: Sequence[Signer], *, actor_id: str, now: datetime) -> Rotation:
    """Name the other one of two signers, whose first or second is in force. Recorded in the
    ledger before and after; from its next seal on the sealer signs with the new key.

    Raises CannotRotate, and audit.contracts.LedgerError when it is not recorded.
    """
    before = load_keys()
    old = next((one for one in signers if one.public == before.in_force), None)
    new = next((one for one in signers if one.public not in before.publics), None)
    if old is None or new is None:
        raise CannotRotate(
            "LEDGER_SIGNING_KEY must hold two keys with a comma between: the one that the ledger "
            f"names ({encode(before.in_force)}) and one that it never named."
        )
    rotation = Rotation(name=name(), old=old.public, new=new.public, at=now)
    statement = f"{old.sign(rotation)}{new.signature(rotation)}"
    action_id = uuid7()
    payload = {
        "old_key": encode(old.public),
        "new_key": encode(new.public),
        "statement": statement,
    }
    about: dict[str, Any] = {
        "tenant_id": LEDGER_TENANT,
        "action_id": action_id,
        "actor_type": "admin",
        "actor_id": actor_id,
        "payload": payload,
    }
    events.record(ACTION_TYPE, status="pending", **about)
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(NAME, [new.public, statement])
    if load_keys().in_force != new.public:
        events.record(ACTION_TYPE, status="failed", error_code="changed_meanwhile", **about)
        raise CannotRotate("Somebody else changed the key meanwhile. Check which one is valid now.")
    events.record(ACTION_TYPE, status="succeeded", **about)
    return rotation


def encode(public: bytes | None) -> str:
    """A public key for people and in rows."""
    return base64.b64encode(public).decode() if public else "none yet"
