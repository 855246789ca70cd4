"""Change notifications of Microsoft Graph: Microsoft is asked to call Remit when something changes
at an account.

Each subscription calls an address of its own, under that of its account. The secret that Microsoft
sends with each call is drawn anew for each, and only its digest is kept.
"""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, Rejected
from integrations.models import Subscription
from integrations.network.answers import parse
from integrations.network.own_address import push_address
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.account_writer import AccountWriter
from integrations.providers.microsoft.answers import SubscriptionSaid, SubscriptionsSaid
from integrations.providers.microsoft.session import GraphSession, session_of
from integrations.providers.own_record import LATE

Answer = dict[str, Any]
# Microsoft's reference has had 4,230 and 10,080 minutes for mail and events, and 42,300 for files.
# What nobody can close any more, as the user disconnected, ends by itself after this.
LASTS = timedelta(days=2)
ANSWERED_FOR = timedelta(minutes=2)  # Microsoft waits for 10 seconds
PAGES = 5
NO_ADDRESS = "Nobody can call this installation: it has no PUBLIC_URL with https."


class SubscribingWriter(AccountWriter):
    """Satisfies `integrations.ports.pushes.PushWriter`. `resource` is what is watched."""

    resource: ClassVar[str]
    change_types: ClassVar[str] = "created,updated,deleted"

    def open_subscription(self, *, key: str) -> Answer:
        address = _address(self._account.id, key)
        if not address:
            raise Rejected(NO_ADDRESS)
        now, secret = timezone.now(), secrets.token_urlsafe(32)
        _begin(
            self._account,
            key,
            secret_digest=digest(secret),
            answered_until=now + ANSWERED_FOR,
        )
        body = {
            "resource": self.resource,
            "changeType": self.change_types,
            "notificationUrl": address,
            "lifecycleNotificationUrl": address,
            "clientState": secret,
            "expirationDateTime": _moment(now + LASTS),
        }
        return self._asked("POST", "/subscriptions", body)

    def renew_subscription(self, subscription_id: str, *, key: str) -> Answer:
        _begin(self._account, key)
        body = {"expirationDateTime": _moment(timezone.now() + LASTS)}
        return self._asked("PATCH", f"/subscriptions/{subscription_id}", body)

    def close_subscription(self, subscription_id: str, *, key: str) -> Answer:
        """One that Microsoft knows no more is closed."""
        _begin(self._account, key)
        session, _ = session_of(self._account)
        try:
            session.send("DELETE", f"/subscriptions/{subscription_id}")
        except NotFound:
            return {}
        finally:
            self.request_id = session.request_id
        return {}

    def _asked(self, method: str, path: str, body: dict[str, str]) -> Answer:
        session, _ = session_of(self._account)
        try:
            return _answer(parse(SubscriptionSaid, session.send(method, path, body)))
        finally:
            self.request_id = session.request_id


def find_evidence(account: AccountRef, key: str) -> Evidence | None:
    """What became of the request with this key, by what Microsoft lists. None: it is about no
    subscription. Raises ProviderError."""
    row = Subscription.objects.filter(account_id=account.id, write_key=key).first()
    if row is None:
        return None
    session, _ = session_of(account)
    found = _find(session, row)
    if found is None:
        done = row.step == Subscription.Step.CLOSE
    elif row.step == Subscription.Step.RENEW:
        done = row.expires_at is None or found.expires_at > row.expires_at
    else:
        done = row.step == Subscription.Step.OPEN
    now, at = timezone.now(), row.written_at or timezone.now()
    if done:
        return Performed(response=_answer(found) if found else {}, at=at)
    if now < at + LATE:
        return CannotTell(ask_again_at=at + LATE)
    return NotPerformed(proof="Microsoft's list of subscriptions is as it was before.")


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _find(session: GraphSession, row: Subscription) -> SubscriptionSaid | None:
    """The one with this name, or the one that was asked for by the request with this key."""
    address, path = _address(row.account_id, row.write_key), "/subscriptions"
    opens = row.step == Subscription.Step.OPEN
    for _ in range(PAGES):
        page = parse(SubscriptionsSaid, session.get(path))
        for one in page.value:
            if one.address == address if opens else one.id == row.external_id:
                return one
        if not page.next_link:
            return None
        path = session.path_of(page.next_link)
    return None


def _address(account_id: UUID, key: str) -> str:
    """Another for each subscription, so that its list tells them apart. Empty: there is none."""
    address = push_address(account_id)
    return f"{address}?{urlencode({'of': key})}" if address else ""


def _begin(account: AccountRef, key: str, **fields: Any) -> None:
    """Kept before Microsoft is called. Raises Rejected where nobody looks after the account."""
    rows = Subscription.objects.filter(account_id=account.id)
    if not rows.update(write_key=key, written_at=timezone.now(), **fields):
        raise Rejected("The account was disconnected meanwhile.")


def _answer(said: SubscriptionSaid) -> Answer:
    return {"id": said.id, "expires_at": said.expires_at.isoformat()}


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
