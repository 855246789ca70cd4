"""How an account of somebody's own is doing, in words."""

from datetime import datetime, timedelta

from integrations.accounts import connectables, subscriptions
from integrations.models import Account, Credential, Delivery, Subscription
from integrations.ports.registry import BY_SOURCE

LATE = timedelta(minutes=10)
MINUTE, HOUR, DAY = 60, 3600, 86400
TROUBLE = {"rate_limited": "The server asked Remit to wait."}


def in_words(account: Account, *, now: datetime) -> str:
    """Whether it is signed in, when it was looked at, and when something last changed there."""
    row = Credential.objects.filter(account_id=account.id).first()
    if row is None:
        return (
            "Not connected. Nothing is read or changed there. What was read in before can still "
            "be searched."
        )
    if row.state == Credential.State.SIGN_IN:
        return (
            f"Sign in again: the server refused the sign-in {_ago(row.changed_at, now)}. Nothing "
            "is read or changed there meanwhile, and nothing is lost: what arrives is looked for "
            "afterwards."
        )
    words = ["Signed in.", *_ending(row, now)]
    if row.failed_at and (row.seen_at is None or row.failed_at > row.seen_at):
        known = {**TROUBLE, **connectables.ALL[account.source].trouble}
        words.append(known.get(row.failure, "The server does not answer."))
    if row.seen_at is None:
        words.append("It has not been looked at yet.")
    else:
        words.append(f"Looked at {_ago(row.seen_at, now)}.")
        latest = _last_change(account)
        if row.watched_until and row.watched_until > now:
            words.append("Its server says at once when something changes.")
        words += _pushes(account, now)
        words.append(
            f"Last change {_ago(latest, now)}." if latest else "Nothing has changed since then."
        )
        if now - row.seen_at > LATE and not row.failed_at:
            words.append("That is long: does `manage.py qcluster` run?")
    return " ".join(words)


def state_of(account: Account) -> str:
    """`good`, `sign_in`, or `not_connected`."""
    row = Credential.objects.filter(account_id=account.id).first()
    return row.state if row else "not_connected"


def is_pushed(account: Account, *, now: datetime) -> bool:
    """Whether the other side calls Remit when something changes there: once somebody has set that
    up, or while a subscription lasts."""
    connector = BY_SOURCE[account.source]
    if not connector.subscribes:
        return connector.news == "pushed"
    rows = Subscription.objects.filter(account_id=account.id, expires_at__gt=now)
    return rows.exclude(external_id="").exists()


def _pushes(account: Account, now: datetime) -> list[str]:
    """How a provider that Remit may ask to call it does so."""
    if not BY_SOURCE[account.source].subscribes:
        return []
    by = connectables.of(account.source).calls
    if is_pushed(account, now=now):
        return [f"{by} says at once when something changes."]
    if not subscriptions.can_be_called():
        return [
            f"{by} cannot say at once when something changes: this installation has no public "
            "address with https (PUBLIC_URL). Remit looks from time to time."
        ]
    row = Subscription.objects.filter(account_id=account.id).first()
    if row is not None and row.failure and row.failure not in subscriptions.PASSING:
        return [
            f"{by} does not say at once when something changes: it was asked to, and said no. "
            "Remit looks from time to time, and asks again each day."
        ]
    return []


def _ending(row: Credential, now: datetime) -> list[str]:
    """When a consent that was given for a time ends."""
    if not (said := row.servers.get("ends_at")):
        return []
    left = datetime.fromisoformat(said) - now
    days = max(0, left.days)
    return [
        f"The consent ends in {days} day{'' if days == 1 else 's'}: then its user signs in again."
    ]


def _last_change(account: Account) -> datetime | None:
    newest = Delivery.objects.filter(account_id=account.id).order_by("-received_at").first()
    return newest.received_at if newest else None


def _ago(at: datetime, now: datetime) -> str:
    seconds = max(0, int((now - at).total_seconds()))
    for size, unit in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} seconds ago"
