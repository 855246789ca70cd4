"""Sign-ins of accounts: kept sealed, opened by who may, sealed anew, forgotten."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.core.management.base import CommandError

from integrations.contracts import AccountRef
from integrations.credentials import credentials, sealing
from integrations.exceptions import NotPermitted
from integrations.models import Credential
from tests.commands import run_command
from tests.knowledge.office import account
from tests.own_accounts import PRIVATE

pytestmark = pytest.mark.django_db

OTHER = "ISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0A="


def public(private: str) -> str:
    return sealing.to_text(sealing.private_key(private).public_key())


def keep(account: AccountRef, secret: str, servers: dict[str, Any]) -> None:
    sealed = credentials.seal(secret, account_id=account.id)
    credentials.keep(account_id=account.id, user_name="maya", servers=servers, sealed=sealed)


@pytest.fixture
def kept(settings: Any) -> AccountRef:
    settings.CREDENTIALS_PUBLIC_KEY, settings.CREDENTIALS_PRIVATE_KEY = public(PRIVATE), PRIVATE
    found = account(source="imap")
    keep(found, "word", {"imap": 1})
    return found


def test_a_sign_in_is_opened_by_a_process_with_the_private_key(kept: AccountRef) -> None:
    found = credentials.open_sign_in(kept)

    assert (found.user_name, found.servers, found.secret) == ("maya", {"imap": 1}, "word")
    assert "word" not in repr(found)


def test_a_process_with_the_public_key_alone_stores_and_cannot_open(
    kept: AccountRef, settings: Any
) -> None:
    settings.CREDENTIALS_PRIVATE_KEY = ""

    keep(kept, "new", {})
    with pytest.raises(NotPermitted, match="no key"):
        credentials.open_sign_in(kept)


def test_a_row_that_was_copied_to_another_account_does_not_open(kept: AccountRef) -> None:
    thief = account(user="mallory", source="imap")
    row = Credential.objects.get(account_id=kept.id)
    row.account_id = thief.id
    row.save(force_insert=True)

    with pytest.raises(NotPermitted, match="another account"):
        credentials.open_sign_in(thief)


def test_another_organisations_account_of_this_id_opens_nothing(kept: AccountRef) -> None:
    other = account(source="imap")
    with pytest.raises(NotPermitted, match="not connected"):
        credentials.open_sign_in(replace(kept, organisation_id=other.organisation_id))


def test_a_new_secret_has_another_fingerprint_and_ends_the_wait_for_one(kept: AccountRef) -> None:
    before = credentials.open_sign_in(kept).fingerprint
    credentials.ask_to_sign_in(kept.id)
    with pytest.raises(NotPermitted, match="sign in again"):
        credentials.open_sign_in(kept)

    keep(kept, "new", {})

    assert credentials.open_sign_in(kept).fingerprint != before


def test_secrets_are_sealed_anew_with_a_new_key(kept: AccountRef, settings: Any) -> None:
    settings.CREDENTIALS_PUBLIC_KEY, settings.CREDENTIALS_PRIVATE_KEY = public(OTHER), OTHER
    settings.CREDENTIALS_PRIVATE_KEY_BEFORE = PRIVATE

    assert "Sealed anew: 1." in run_command("reseal_credentials")

    settings.CREDENTIALS_PRIVATE_KEY_BEFORE = ""
    assert credentials.open_sign_in(kept).secret == "word"
    assert "Sealed anew: 0." in run_command("reseal_credentials")


def test_without_the_old_key_nothing_is_sealed_anew(kept: AccountRef, settings: Any) -> None:
    settings.CREDENTIALS_PUBLIC_KEY, settings.CREDENTIALS_PRIVATE_KEY = public(OTHER), OTHER

    with pytest.raises(CommandError, match="CREDENTIALS_PRIVATE_KEY_BEFORE"):
        run_command("reseal_credentials")


def test_a_forgotten_sign_in_is_gone(kept: AccountRef) -> None:
    credentials.forget(kept.id)

    assert not Credential.objects.filter(account_id=kept.id).exists()


def test_a_new_pair_of_keys_fits(settings: Any) -> None:
    found = dict(re.findall(r"(\w+)=(\S+)", run_command("make_credential_keys")))

    assert public(found["CREDENTIALS_PRIVATE_KEY"]) == found["CREDENTIALS_PUBLIC_KEY"]
