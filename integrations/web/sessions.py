"""The sessions of who is logged in (`SESSION_ENGINE`): Django's in the database, in rows that say
whose they are, so that somebody can see where they are logged in, and end it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from integrations.models import Session

BROWSER, BEGAN, USED = "log_in_browser", "log_in_began", "log_in_used"
# The first that is in what a browser says of itself: others name their forebears too.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


class SessionStore(db.SessionStore):
    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast("Session", super().create_model_instance(data))
        row.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        row.browser = data.get(BROWSER, "")
        row.began_at, row.used_at = _moment(data, BEGAN), _moment(data, USED)
        return row


@dataclass(frozen=True, kw_only=True)
class LoggedIn:
    """One browser in which somebody is logged in. `id` names it and opens nothing."""

    id: str
    browser: str
    began_at: datetime | None
    used_at: datetime | None
    is_this: bool


class UseMiddleware:
    """Notes once an hour that a session is used."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        session = request.session
        if session.accessed and BEGAN in session and session.get(USED) != (hour := _hour()):
            session[USED] = hour
        return response


def begin(request: HttpRequest) -> None:
    """Somebody has just logged in: keep in which browser, and forget their sessions that ended."""
    session = request.session
    session[BROWSER] = name_browser(request.headers.get("User-Agent", ""))
    session[BEGAN], session[USED] = timezone.now().isoformat(), _hour()
    user: Any = request.user
    Session.objects.filter(user_id=user.pk, expire_date__lte=timezone.now()).delete()


def list_open(user: Any, here: SessionBase) -> tuple[LoggedIn, ...]:
    """Where somebody is logged in, `here` first, then what was used last. What ended is not among
    them, also by a new password."""
    rows = Session.objects.filter(user_id=user.pk, expire_date__gt=timezone.now())
    found = [
        LoggedIn(
            id=_id(row.session_key),
            browser=row.browser,
            began_at=row.began_at,
            used_at=row.used_at,
            is_this=row.session_key == here.session_key,
        )
        for row in rows.order_by("-used_at", "-began_at", "session_key")
        if _is_valid(row, user)
    ]
    return tuple(sorted(found, key=lambda one: not one.is_this))


def end_one(user: Any, id: str) -> tuple[str, ...]:
    """Log somebody out in this browser of theirs; the browsers where that was so."""
    return _end(row for row in _rows(user) if _id(row.session_key) == id)


def end_others(user: Any, here: SessionBase | None) -> tuple[str, ...]:
    """Log somebody out everywhere but here; the browsers where that was so."""
    key = here.session_key if here else None
    return _end(row for row in _rows(user) if row.session_key != key)


def name_browser(said: str) -> str:
    """In words, by what a browser says of itself, which nobody has to believe: “Firefox (Linux)”.
    Empty where it says nothing that is known. Pure."""
    browser = next((name for mark, name in BROWSERS if mark in said), "")
    system = next((name for mark, name in SYSTEMS if mark in said), "")
    return f"{browser} ({system})" if browser and system else browser or system


def _rows(user: Any) -> list[Session]:
    return list(Session.objects.filter(user_id=user.pk))


def _end(rows: Any) -> tuple[str, ...]:
    ended = list(rows)
    Session.objects.filter(session_key__in=[row.session_key for row in ended]).delete()
    return tuple(row.browser for row in ended)


def _is_valid(row: Session, user: Any) -> bool:
    data = SessionStore().decode(row.session_data)
    return constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())


def _id(session_key: str) -> str:
    return hashlib.sha256(session_key.encode()).hexdigest()


def _moment(data: dict[str, Any], name: str) -> datetime | None:
    return datetime.fromisoformat(data[name]) if name in data else None


def _hour() -> str:
    return timezone.now().replace(minute=0, second=0, microsecond=0).isoformat()
