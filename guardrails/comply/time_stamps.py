"""Has the ledger's hourly root time stamped by authorities outside (RFC 3161), where
LEDGER_TSA_URL names some. A failure is recorded and tried again; sealing never waits for it.

A request is some fixed DER around digest and nonce, and of the answer only digest, nonce and
time are read: the libraries for it hold `cryptography` to old versions or are not kept. Whether
the authority signed it is checked by openssl where LEDGER_TSA_CERTIFICATES is set, and in any
case by who verifies a bundle, with certificates of their own.
"""

import logging
import secrets
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from audit.bundle.stamps import UNREADABLE, is_signed, read_time_stamp
from audit.contracts import LEDGER_TENANT
from audit.ledger import events
from audit.models import Anchor, AnchorToken, ExecutedAgentAction
from audit.seals import anchors, progress
from integrations import exceptions
from integrations.network import http

ACTION_TYPE = "ledger.time_stamp"
EVERY = timedelta(hours=1)
AGAIN = timedelta(minutes=10)
LATE = timedelta(hours=2)
MAX_ANSWER_BYTES = 64 * 1024
NONCE_BYTES = 8
# TimeStampReq { version 1, { { sha256, NULL }, digest }, nonce, certReq TRUE }
REQUEST = bytes.fromhex("3043 020101 3031 300d 0609 608648016503040201 0500 0420")

log = logging.getLogger(__name__)


def due(*, now: datetime) -> list[tuple[int, int]]:
    """What should be stamped by now: anchors, each with the number of an authority in the
    settings. Makes the hour's anchor. Asked every minute: what failed is due every ten."""
    if not settings.LEDGER_TSA_URL:
        return []
    anchor = anchors.find_newest()
    if anchor is None or now - anchor.made_at >= EVERY:
        anchor = anchors.make_anchor()
    if anchor is None:
        return []
    age = max(now - anchor.made_at, timedelta())  # by another clock, and made a moment ago
    if age % AGAIN >= timedelta(minutes=1):
        return []
    done = AnchorToken.objects.filter(anchor_id=anchor.id).values_list("authority", flat=True)
    urls = settings.LEDGER_TSA_URL
    return [
        (anchor.id, index) for index, url in enumerate(urls) if name_authority(url) not in set(done)
    ]


def request_time_stamp(anchor_id: int, *, number: int) -> bool:
    """Ask one authority for a time stamp of an anchor. Whether it gave one; if not, that is
    recorded. Raises audit.contracts.LedgerError when it can't be."""
    anchor: Anchor = Anchor.objects.get(id=anchor_id)
    url = settings.LEDGER_TSA_URL[number]
    nonce = bytes([secrets.randbelow(127) + 1]) + secrets.token_bytes(NONCE_BYTES - 1)
    root = bytes(anchor.root)
    try:
        response = http.post(
            url,
            body=request(root, nonce),
            headers={"Content-Type": "application/timestamp-query"},
            most_bytes=MAX_ANSWER_BYTES,
        )
        at = read(response, root=root, nonce=nonce)
    except exceptions.ProviderError as error:
        log.warning(
            "anchor.not_stamped", extra={"code": error.code, "authority": name_authority(url)}
        )
        events.record(
            ACTION_TYPE,
            tenant_id=LEDGER_TENANT,
            status="failed",
            error_code=error.code,
            payload={"authority": name_authority(url), "root": root.hex()},
        )
        return False
    anchors.store_token(anchor_id, authority=name_authority(url), response=response, stamped_at=at)
    return True


def request(digest: bytes, nonce: bytes) -> bytes:
    """The DER of a TimeStampReq that asks for the certificate as well. `nonce` is a positive
    integer of NONCE_BYTES bytes."""
    return REQUEST + digest + b"\x02" + bytes([len(nonce)]) + nonce + bytes.fromhex("0101ff")


def read(response: bytes, *, root: bytes, nonce: bytes) -> datetime:
    """When the root got its time. Raises Rejected unless the answer is a time stamp of it for this
    very request, signed under LEDGER_TSA_CERTIFICATES where they are set."""
    try:
        digest, at, fields = read_time_stamp(response)
    except UNREADABLE as error:
        raise exceptions.Rejected("the answer is no time stamp") from error
    if digest != root or nonce not in fields[5:]:
        raise exceptions.Rejected("the time stamp is about something else")
    trusted = settings.LEDGER_TSA_CERTIFICATES
    try:
        if trusted and not is_signed(response, digest, at, Path(trusted)):
            raise exceptions.Rejected("the time stamp is not signed under the certificates")
    except OSError as error:  # no openssl
        raise exceptions.Rejected("the signature cannot be checked") from error
    return at


def name_authority(url: str) -> str:
    """An authority's name: its address without what could be a secret in it."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def problems(*, now: datetime) -> list[str]:
    """A sentence for each authority whose last time stamp is more than two hours old."""
    first = Anchor.objects.order_by("id").first() if settings.LEDGER_TSA_URL else None
    found = []
    for url in settings.LEDGER_TSA_URL if first else []:
        token = AnchorToken.objects.filter(authority=name_authority(url)).order_by("-id").first()
        last = token.kept_at if token else None
        if first and now - (last or first.made_at) > LATE:
            since = f"since {progress.format_age(last, now=now)}" if last else "yet"
            failed = ExecutedAgentAction.objects.filter(
                tenant_id=LEDGER_TENANT, action_type=ACTION_TYPE, status="failed"
            )
            code = failed.order_by("-id").values_list("error_code", flat=True).first()
            why = f" The last failure: {code}." if code else ""
            found.append(f"No time stamp of {name_authority(url)} {since}.{why}")
    return found
