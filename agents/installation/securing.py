"""Trials of what is kept secret: passwords, what a token may see, and where Remit connects to."""

import base64
from datetime import timedelta
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.utils import timezone

from agents.installation.arriving import read, token
from agents.installation.guarantees import Broken, expect
from agents.installation.office import Office, found
from agents.models import Conversation
from integrations.credentials import credentials, sealing
from integrations.exceptions import NotPermitted
from integrations.models import Credential
from integrations.network import outgoing

SECRET = "correct horse battery staple"  # noqa: S105  # of the trial
INSIDE = (
    "https://127.0.0.1/",
    "https://10.1.2.3/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://[::ffff:10.1.2.3]/",
    "https://[64:ff9b::a01:203]/",
    "https://localhost/",
    "http://example.org/",
    "https://user:pass@example.org/",
)
OUTSIDE = ("https://9.9.9.9/", "https://[2620:fe::fe]/", "https://[64:ff9b::909:909]/")


def password_is_sealed(office: Office) -> None:
    """An account's password stands nowhere in the database, opens for its own account alone, and
    not at all in a process without the key."""
    private = X25519PrivateKey.generate()
    keys = {
        "CREDENTIALS_PUBLIC_KEY": sealing.to_text(private.public_key()),
        "CREDENTIALS_PRIVATE_KEY": base64.b64encode(private.private_bytes_raw()).decode(),
        "CREDENTIALS_PRIVATE_KEY_BEFORE": "",
    }
    mine, other = office.accounts["mail"], office.accounts["files"]
    with override_settings(**keys):
        sealed = credentials.seal(SECRET, account_id=mine.id)
        for account in (mine, other):
            credentials.keep(account_id=account.id, user_name="ada", servers={}, sealed=sealed)
        expect("It opens as", credentials.open_sign_in(mine.ref()).secret, SECRET)
        row = Credential.objects.get(account=mine)
        if SECRET.encode() in bytes(row.sealed) or SECRET in str(vars(row)):
            raise Broken("It stands in the database.")
        if _opens(other.ref()):
            raise Broken("It opens for another account.")
    with override_settings(**keys | {"CREDENTIALS_PRIVATE_KEY": ""}):
        if _opens(mine.ref()):
            raise Broken("It opens without the key.")
    with override_settings(**keys):
        credentials.ask_to_sign_in(mine.id)
        if _opens(mine.ref()):
            raise Broken("It opens although its user has to sign in again.")
        credentials.forget(mine.id)
        expect("Left after it is forgotten", Credential.objects.filter(account=mine).count(), 0)


def own_network_is_closed(office: Office) -> None:
    """What Remit sends to an address that people entered never goes to its own network, and does
    go to a public one."""
    with override_settings(OUTGOING_TO_PRIVATE=False):
        for url in INSIDE:
            try:
                outgoing.public_address(url)
            except outgoing.Forbidden:
                continue
            raise Broken(f"It would go to {url}")
        for url in OUTSIDE:
            outgoing.check_form(url)  # raises, and asks nobody


def token_of_one_person(office: Office) -> None:
    """To a token of one person the conversations of another do not exist."""
    session = Conversation.objects.create(
        organisation=office.organisation, external_user_id=office.user_id
    )
    path = f"/api/v1/conversations/{session.id}"
    row, plain = token(office, "chat")
    row.user_ids = ["somebody-else"]
    row.save()
    expect("Asked for their own user", read(plain, "somebody-else").status_code, 200)
    expect("Asked for the other", read(plain, office.user_id).status_code, 404)
    hidden = read(plain, "somebody-else", path)
    unknown = read(plain, "somebody-else", f"/api/v1/conversations/{uuid4()}")
    expect("The other's conversation", hidden.status_code, 404)
    expect("What it says", hidden.content, unknown.content)


def token_that_ended(office: Office) -> None:
    """A token that expired or was revoked opens nothing."""
    for ended in ("expires_at", "revoked_at"):
        row, plain = token(office, "chat")
        expect("Before", read(plain, office.user_id).status_code, 200)
        setattr(row, ended, timezone.now() - timedelta(seconds=1))
        row.save()
        expect(f"After {ended}", read(plain, office.user_id).status_code, 401)


def log_in_beside_a_token(office: Office) -> None:
    """A token that opens nothing opens nothing either for who is logged in beside it."""
    row, plain = token(office, "chat")
    browser = Client()
    person = User.objects.create_superuser(f"trial-{uuid4().hex[:8]}")
    browser.force_login(person)

    def ask(**headers: str) -> int:
        named = {"X-Remit-Organisation": office.organisation.slug} | headers
        query = {"user_id": office.user_id}
        return browser.get("/api/v1/conversations", query, headers=named).status_code

    with override_settings(SECOND_FACTOR=False):
        expect("Logged in", ask(), 200)
        expect("With a token too", ask(Authorization=f"Bearer {plain}"), 200)
        row.delete()
        expect("With a revoked one", ask(Authorization=f"Bearer {plain}"), 401)


def token_without_the_scope(office: Office) -> None:
    """A token opens what it is for and nothing else."""
    _, plain = token(office, "sync")
    expect("Conversations", read(plain, office.user_id).status_code, 403)
    expect("The ledger", read(plain, office.user_id, "/api/v1/ledger").status_code, 403)


def ledger_of_another_organisation(office: Office) -> None:
    """To an auditor of another organisation no row of the ledger exists."""
    office.permit("archive")
    action_id = office.do("archive", email_id=office.receive()).action_id
    _, own = token(office, "audit:read")
    _, others = token(found(office.site), "audit:read")
    for path in ("/api/v1/ledger", f"/api/v1/ledger/{action_id}"):
        if str(action_id) not in read(own, office.user_id, path).content.decode():
            raise Broken("Its own auditor does not see it.")
        if str(action_id) in read(others, office.user_id, path).content.decode():
            raise Broken("Another organisation's auditor sees it.")


def token_is_not_kept(office: Office) -> None:
    """The text of a token stands nowhere in the database, nor does the key of a data service."""
    row, plain = token(office, "chat")
    if plain in str(vars(row)):
        raise Broken("A token stands in the database.")
    expect("The digest's length", len(row.digest) >= 32, True)
    if settings.DATA_SERVICE_KEYS[office.organisation.slug] in str(vars(office.organisation)):
        raise Broken("A key stands in the database.")


def _opens(account: object) -> bool:
    try:
        credentials.open_sign_in(account)  # type: ignore[arg-type]
    except NotPermitted:
        return False
    return True


TRIALS = (
    password_is_sealed,
    own_network_is_closed,
    token_of_one_person,
    token_that_ended,
    log_in_beside_a_token,
    token_without_the_scope,
    ledger_of_another_organisation,
    token_is_not_kept,
)
