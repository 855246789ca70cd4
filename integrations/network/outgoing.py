"""What Remit sends to addresses that people entered: signed webhooks and mail.

It goes to public addresses alone, and to the very address that was looked at: an entry that
points into our own network, or does so a moment later, reaches nothing there.
"""

import ipaddress
import json
import re
import smtplib
import socket
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from standardwebhooks.webhooks import Webhook

from integrations import exceptions
from integrations.network import http

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?")
NAT64 = ipaddress.ip_network("64:ff9b::/96")
# The server has said no, or there was none.
NOT_SENT = (smtplib.SMTPResponseException, ConnectionRefusedError, socket.gaierror)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Forbidden(exceptions.ProviderError):
    """An address that nothing is sent to. The message says why."""

    code = "address_forbidden"


@dataclass(frozen=True, kw_only=True)
class Attachment:
    name: str
    content: bytes


def check_form(url: str) -> None:
    """Raises Forbidden with a sentence for what is no address of a webhook."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Forbidden("This is not a web address.") from error
    schemes = ("https", "http") if settings.OUTGOING_TO_PRIVATE else ("https",)
    if parts.scheme not in schemes or not parts.hostname or port == 0:
        raise Forbidden("Use a web address that begins with https://.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Forbidden("Use a web address without user, password and #.")
    if not settings.OUTGOING_TO_PRIVATE and not _may_be_public(parts.hostname):
        raise Forbidden("This address is not public.")
    if not url.isascii() or any(sign <= " " or sign == "\\" for sign in url):
        raise Forbidden("Use a web address of plain characters; write an IDN as punycode.")


def check_url(url: str) -> str:
    """Raises NotPermitted for an address that nothing secret is to be sent to."""
    try:
        check_form(url)
    except Forbidden as error:
        raise exceptions.NotPermitted(str(error)) from error
    if urlsplit(url).scheme != "https":
        raise exceptions.NotPermitted("The server is to be reached over https:// alone.")
    return url


def segment(text: str) -> str:
    """One part of a path. Raises Rejected for what would be another path."""
    if text in ("", ".", ".."):
        raise exceptions.Rejected("this is no name")
    return quote(text, safe="")


def _may_be_public(host: str) -> bool:
    """Whether it is a public address, or a name, whose addresses are looked up when it is used."""
    try:
        return is_public(ipaddress.ip_address(host))
    except ValueError:
        return True


def public_address(url: str) -> str:
    """The IP address to connect to. Raises Forbidden where any of the name's addresses is not
    public, and Unavailable when it has none."""
    check_form(url)
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        return str(_addresses(str(parts.hostname), port)[0])
    except OSError as error:
        raise exceptions.Unavailable("the name has no address") from error


def connect(host: str, port: int, *, seconds: float) -> socket.socket:
    """A connection to a server that is no web address, for a client that speaks to it.

    It goes to an address that was looked at, the first that answers, whatever the name resolves
    to by now. `seconds` is for each of them, and stays the socket's time-out. Raises Forbidden,
    and OSError where the name has no address or nobody answers.
    """
    if not _NAME.fullmatch(host):
        raise Forbidden("This is not the name of a server.")
    failure = OSError("the name has no address")
    for address in _addresses(host, port):
        try:
            return socket.create_connection((str(address), port), timeout=seconds)
        except OSError as error:
            failure = error
    raise failure


def _addresses(host: str, port: int) -> "list[Address]":
    """All of a name's, every one of them public. Raises Forbidden and OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(str(row[4][0]).partition("%")[0]) for row in found]
    if not settings.OUTGOING_TO_PRIVATE and not all(map(is_public, addresses)):
        raise Forbidden("The name leads to an address that is not public.")
    return addresses


def is_public(address: Address) -> bool:
    """Whether it lies in the public internet, and so does what it stands for."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address.teredo:
            inner = address.teredo[1]
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def send_webhook(url: str, *, secret: str, webhook_id: str, body: bytes, now: datetime) -> None:
    """One POST, signed as Standard Webhooks ask. Raises Forbidden or another ProviderError;
    any 2xx answer is a receipt."""
    headers = {"Content-Type": "application/json"} | signature(
        secret, webhook_id=webhook_id, body=body, now=now
    )
    http.post(url, body=body, headers=headers, address=public_address(url))


def send_json(url: str, said: Any) -> None:
    """One POST to an address that is itself the secret. Raises Forbidden or another ProviderError,
    none of which names it; redirects are refusals."""
    body = json.dumps(said, ensure_ascii=False).encode()
    http.post(
        url,
        body=body,
        headers={"Content-Type": "application/json"},
        address=public_address(url),
    )


def signature(secret: str, *, webhook_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers by which a receiver knows that a webhook is ours (Standard Webhooks)."""
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(webhook_id, now, body.decode()),
    }


def send_mail(to: str, *, subject: str, text: str, attachment: Attachment | None = None) -> None:
    """One mail of plain text. Raises Rejected or Unavailable."""
    message = EmailMessage(subject=" ".join(subject.split()), body=text, to=[to])
    if attachment:
        # As bytes: a signature covers every one of them.
        message.attach(attachment.name, attachment.content, "application/octet-stream")
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        raise exceptions.Rejected("the mail server refuses the address") from error
    except (smtplib.SMTPException, OSError) as error:
        away = exceptions.Unavailable(type(error).__name__)
        away.outcome_unknown = not isinstance(error, NOT_SENT)
        raise away from error
