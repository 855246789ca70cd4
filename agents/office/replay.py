"""Real mail through Remit's front door: into a sandbox mailbox, then one signed webhook each.

Everything goes over HTTP to a running Remit, as a data service would do it. A webhook's id
comes from the message's own bytes, so that the same file again changes nothing.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import tenacity
from django.conf import settings
from standardwebhooks.webhooks import Webhook

from agents.office import sandbox
from agents.office.replay_report import Report, deliveries
from integrations import child
from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, NotPermitted, ProviderError
from integrations.imports import reading
from integrations.mail.files import RawMail, Unreadable
from integrations.mail.mail import wire
from integrations.models import Delivery
from integrations.network import http

SIDE_BY_SIDE = 8
BATCH_MAILS = 100
BATCH_BYTES = 8 * 1024 * 1024
CHUNK = 500  # ids in one query
POLL_SECONDS = 1.0
SAY_SECONDS = 10.0
RETRY_SECONDS = 120.0
UNFINISHED = (Delivery.State.QUEUED, Delivery.State.RUNNING)


class CannotGoOn(Exception):
    """The replay stopped before its end. The message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Push:
    """One webhook, and the mail that it brings."""

    webhook_id: str
    email: dict[str, Any]
    body: bytes


def replay(
    mails: Iterable[RawMail | Unreadable],
    *,
    account: AccountRef,
    url: str,
    patience: float,
    trusted_server: str | None = None,
    say: Callable[[str], None],
) -> Report:
    """Send every mail to the Remit at `url` and wait until all are finished.

    Gives up waiting when nothing was finished for `patience` seconds; the rest is counted
    as unfinished. `say` hears about the progress. Raises CannotGoOn when the sandbox or
    Remit is gone for good or refuses the signature.
    """
    report = Report()
    batches = prepare(mails, account=account, trusted_server=trusted_server, report=report)
    return deliver(batches, account=account, url=url, patience=patience, say=say, report=report)


def prepare(
    mails: Iterable[RawMail | Unreadable],
    *,
    account: AccountRef,
    trusted_server: str | None = None,
    report: Report,
) -> Iterator[Sequence[Push]]:
    """The webhooks of these mails, once the mails are in the sandbox's mailbox; what was read of
    them goes into the report. Raises CannotGoOn when the sandbox is gone for good."""
    for batch in _batches(_pushes(mails, account, trusted_server, report)):
        _fill_mailbox(account, batch)
        yield batch


def deliver(
    batches: Iterable[Sequence[Push]],
    *,
    account: AccountRef,
    url: str,
    patience: float,
    say: Callable[[str], None],
    report: Report,
) -> Report:
    """Send what was prepared, and wait, as `replay` does."""
    ids = dict[str, None]()
    began = time.monotonic()
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for batch in batches:
            for answer in pool.map(lambda push: _send(push, account=account, url=url), batch):
                report.count_answer(answer)
            ids.update(dict.fromkeys(push.webhook_id for push in batch))
            say(f"{report.accepted + report.duplicates:,} sent")
    chunks = [list(ids)[start : start + CHUNK] for start in range(0, len(ids), CHUNK)]
    _wait(chunks, account=account, patience=patience, say=say)
    report.seconds = time.monotonic() - began
    for chunk in chunks:
        report.count_outcomes(account, chunk)
    return report


def _pushes(
    mails: Iterable[RawMail | Unreadable],
    account: AccountRef,
    trusted_server: str | None,
    report: Report,
) -> Iterator[Push]:
    for mail in mails:
        report.read += 1
        if isinstance(mail, Unreadable):
            report.unreadable[mail.reason] += 1
            continue
        try:
            found = reading.read_mail(
                mail.raw, fallback_date=mail.date, trusted_server=trusted_server
            )
        except child.Unreadable as error:
            report.unreadable[error.reason] += 1
            continue
        report.remarks.update(found.notes)
        email = wire(found.email)
        event = {
            "user_id": account.external_user_id,
            "source": account.source,
            "source_id": found.email.id,
            "content_type": "email",
            "data": email | {"version": 1},
            "timestamp": datetime.now(UTC).isoformat(),
        }
        owner = f"{account.external_user_id}\n{found.email.id}"
        yield Push(
            webhook_id=f"replay-{hashlib.sha256(owner.encode()).hexdigest()[:40]}",
            email=email,
            body=json.dumps(event, ensure_ascii=False).encode(),
        )


def _batches(pushes: Iterable[Push]) -> Iterator[list[Push]]:
    batch: list[Push] = []
    size = 0
    for push in pushes:
        if batch and (len(batch) == BATCH_MAILS or size + len(push.body) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(push)
        size += len(push.body)
    if batch:
        yield batch


def _fill_mailbox(account: AccountRef, batch: Sequence[Push]) -> None:
    try:
        sandbox.add_mails(
            account.organisation_slug,
            external_user_id=account.external_user_id,
            mails=[push.email for push in batch],
        )
    except ProviderError as error:
        raise CannotGoOn(
            f"The sandbox data service did not take the mails ({error.code}). "
            "Check that `make run` is up and run the same command again."
        ) from error


def _send(push: Push, *, account: AccountRef, url: str) -> str:
    """Remit's answer: accepted, duplicate, or the code of its refusal."""
    slug = account.organisation_slug
    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_delay(RETRY_SECONDS),
        wait=tenacity.wait_random_exponential(multiplier=0.5, max=10.0),
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, ProviderError) and error.retryable
        ),
        reraise=True,
    )
    try:
        return str(retrying(_post, push, slug=slug, url=url)["status"])
    except (NotPermitted, NotFound) as error:
        raise CannotGoOn(
            f"{url} does not take webhooks for “{slug}” ({error.code}). Use the address and "
            "the WEBHOOK_SECRETS of the Remit that is running."
        ) from error
    except ProviderError as error:
        if error.retryable:
            raise CannotGoOn(
                f"{url} stopped answering. Start Remit and run the same command again: "
                "nothing is taken twice."
            ) from error
        return error.code


def _post(push: Push, *, slug: str, url: str) -> dict[str, Any]:
    now = datetime.now(UTC)
    signature = Webhook(settings.WEBHOOK_SECRETS[slug]).sign(
        push.webhook_id, now, push.body.decode()
    )
    answer: dict[str, Any] = http.request(
        http.client(url),
        "POST",
        f"/webhooks/{slug}/item-created",
        body=push.body,
        idempotency_key=push.webhook_id,
        headers={
            "webhook-id": push.webhook_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": signature,
        },
    )
    return answer


def _wait(
    chunks: Sequence[list[str]],
    *,
    account: AccountRef,
    patience: float,
    say: Callable[[str], None],
) -> None:
    waiting = list(chunks)
    left, changed, said = -1, time.monotonic(), 0.0
    while True:
        counts = [
            deliveries(account, chunk).filter(state__in=UNFINISHED).count() for chunk in waiting
        ]
        waiting = [chunk for chunk, count in zip(waiting, counts, strict=True) if count]
        if not waiting:
            return
        if sum(counts) != left:
            left, changed = sum(counts), time.monotonic()
            if changed - said > SAY_SECONDS:
                say(f"{left:,} still to be finished")
                said = changed
        elif time.monotonic() - changed > patience:
            return
        time.sleep(POLL_SECONDS)
