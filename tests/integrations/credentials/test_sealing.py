"""Secrets that only the right key opens, for the right account."""

from uuid import uuid4

import pytest
from hypothesis import given, strategies as st

from integrations.credentials import sealing
from integrations.credentials.sealing import BadKey, CannotOpen, Sealed

PRIVATE = sealing.private_key("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=")
OTHER = sealing.private_key("ISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0A=")
ACCOUNT = uuid4()


@given(st.text())
def test_what_was_sealed_is_opened_with_the_private_key_alone(secret: str) -> None:
    sealed = sealing.seal(secret, account_id=ACCOUNT, key=PRIVATE.public_key())

    assert sealing.unseal(sealed, account_id=ACCOUNT, keys=[OTHER, PRIVATE]) == secret
    with pytest.raises(CannotOpen, match="no key"):
        sealing.unseal(sealed, account_id=ACCOUNT, keys=[OTHER])


def test_it_opens_for_its_own_account_alone() -> None:
    sealed = sealing.seal("secret", account_id=ACCOUNT, key=PRIVATE.public_key())

    with pytest.raises(CannotOpen, match="another account"):
        sealing.unseal(sealed, account_id=uuid4(), keys=[PRIVATE])


@given(st.data())
def test_no_changed_byte_goes_unnoticed(data: st.DataObject) -> None:
    sealed = sealing.seal("secret", account_id=ACCOUNT, key=PRIVATE.public_key())
    place = data.draw(st.integers(0, len(sealed.data) - 1))
    flipped = bytearray(sealed.data)
    flipped[place] ^= data.draw(st.integers(1, 255))

    with pytest.raises(CannotOpen):
        sealing.unseal(
            Sealed(key_id=sealed.key_id, data=bytes(flipped)), account_id=ACCOUNT, keys=[PRIVATE]
        )


def test_the_same_secret_is_never_sealed_the_same() -> None:
    one, other = (
        sealing.seal("secret", account_id=ACCOUNT, key=PRIVATE.public_key()) for _ in range(2)
    )
    assert one.data != other.data
    assert b"secret" not in one.data


@pytest.mark.parametrize("text", ["", "short", "AAAA", "ä", "AQID" * 40])
def test_what_is_no_key_is_said_to_be_none(text: str) -> None:
    for read in (sealing.public_key, sealing.private_key):
        with pytest.raises(BadKey):
            read(text)
