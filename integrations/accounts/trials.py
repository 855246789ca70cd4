"""Trying accounts of somebody's own for who asks over the web, before anything is stored: at ports
of their kind of server alone, four at once, and each within 20 seconds or so."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from integrations.credentials.oauth import Tokens
from integrations.database.pools import release_connections
from integrations.exceptions import RateLimited, Rejected
from integrations.ports.evidence import Ability
from integrations.providers.caldav import trial as calendars
from integrations.providers.github import trial as github
from integrations.providers.github.servers import read_server
from integrations.providers.google_mail import trial as gmail
from integrations.providers.imap import discovery, trial as mailbox
from integrations.providers.imap.servers import MailServers
from integrations.providers.jira import trial as jira
from integrations.providers.jira.servers import read_base
from integrations.providers.jmap import trial as jmap
from integrations.providers.trackers.trial import Tried
from integrations.providers.webdav import trial as files

# Where anybody may ask for a trial, Remit knocks at doors of such servers alone.
MAIL_PORTS = frozenset({25, 143, 465, 587, 993, 2525})
WEB_PORTS = frozenset({443, 8443})
_places = threading.BoundedSemaphore(4)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A sign-in that worked: at which host, what is there and what can be done. `mails` are those
    of an inbox, `calendars`, `folders` and `projects` names. `servers` is for the provider."""

    host: str
    abilities: tuple[Ability, ...]
    servers: dict[str, Any]
    mails: int | None = None
    calendars: tuple[str, ...] | None = None
    folders: tuple[str, ...] | None = None
    projects: tuple[str, ...] | None = None


def try_mailbox(address: str, named: MailServers | None, *, user_name: str, secret: str) -> Found:
    """At the servers that are `named`, or those of the address. Raises ProviderError with a
    sentence."""
    candidates = (named,) if named else discovery.find_servers(address)
    for servers in candidates:
        for one in (servers.imap, servers.smtp):
            if one is not None:
                _check_port(one.port, MAIL_PORTS, "mail", "connect_mailbox")
    with _place():
        tried = mailbox.try_servers(candidates, user_name=user_name, secret=secret)
    return Found(
        host=tried.servers.imap.host,
        abilities=tried.abilities,
        servers=tried.servers.to_json(),
        mails=tried.mails,
    )


def try_jmap(address: str, url: str, *, user_name: str, secret: str) -> Found:
    """At `url`, or where the address's domain has it (empty). Raises ProviderError with a
    sentence."""
    wanted = jmap.read_url(url) if url else jmap.find_url(address)
    _check_port(urlsplit(wanted).port or 443, WEB_PORTS, "mail", "connect_mailbox --jmap")
    with _place():
        tried = jmap.try_server(wanted, user_name=user_name, secret=secret)
    return Found(
        host=urlsplit(tried.server.session).hostname or "",
        abilities=tried.abilities,
        servers=tried.server.to_json(),
        mails=tried.mails,
    )


def try_google_mail(tokens: Tokens, address: str) -> Found:
    """With what a consent gave. Raises ProviderError with a sentence."""
    with _place():
        tried = gmail.try_account(tokens, address=address)
    return Found(
        host=gmail.HOST, abilities=tried.abilities, servers=tried.servers, mails=tried.mails
    )


def try_calendars(address: str, url: str, *, user_name: str, secret: str) -> Found:
    """At `url`, or where the address's calendars may be (empty). Raises ProviderError with a
    sentence."""
    urls = (calendars.read_url(url),) if url else calendars.find_urls(address)
    for one in urls:
        _check_port(urlsplit(one).port or 443, WEB_PORTS, "calendar", "connect_calendar")
    with _place():
        tried = calendars.try_urls(urls, user_name=user_name, secret=secret)
    return Found(
        host=urlsplit(tried.server.home).hostname or "",
        abilities=tried.abilities,
        servers=tried.server.to_json(),
        calendars=tuple(one.name or one.path for one in tried.calendars),
    )


def try_files(url: str, *, readers: Sequence[str] | None, user_name: str, secret: str) -> Found:
    """At `url`; `readers` is who else reads there, None where that is not said. Raises
    ProviderError with a sentence."""
    wanted = files.read_url(url)
    _check_port(urlsplit(wanted).port or 443, WEB_PORTS, "file", "connect_files")
    with _place():
        tried = files.try_url(wanted, user_name=user_name, secret=secret, readers=readers)
    return Found(
        host=urlsplit(tried.server.home).hostname or "",
        abilities=tried.abilities,
        servers=tried.server.to_json(),
        folders=tried.folders,
    )


def try_github(url: str, *, only: Sequence[str], secret: str) -> Found:
    """At `url`, or at github.com (empty); `only` in these repositories, or in all that the token
    shows. Raises ProviderError with a sentence."""
    server = read_server(url)
    _check_port(urlsplit(server.api).port or 443, WEB_PORTS, "web", "connect_issues")
    with _place():
        tried = github.try_server(server, secret=secret, only=only)
    return _found_issues(tried)


def try_jira(url: str, *, only: Sequence[str], user_name: str, secret: str) -> Found:
    """At `url`; `only` in these projects, or in all that the user sees. Raises ProviderError with a
    sentence."""
    _check_port(urlsplit(read_base(url)).port or 443, WEB_PORTS, "web", "connect_issues")
    with _place():
        tried = jira.try_server(url, user_name=user_name, secret=secret, only=only)
    return _found_issues(tried)


def _found_issues(tried: Tried) -> Found:
    return Found(
        host=tried.host,
        abilities=tried.abilities,
        servers=tried.server,
        projects=tried.projects,
    )


def _check_port(port: int, ports: frozenset[int], kind: str, command: str) -> None:
    if port not in ports and not settings.OUTGOING_TO_PRIVATE:
        raise Rejected(
            f"Port {port} is none of a {kind} server. An operator can connect it with "
            f"manage.py {command}."
        )


@contextmanager
def _place() -> Iterator[None]:
    if not _places.acquire(blocking=False):
        raise RateLimited("Others connect accounts at this moment. Try again in a minute.")
    try:
        release_connections()
        yield
    finally:
        _places.release()
