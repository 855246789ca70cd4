"""Trials of what comes in: only what is signed and new, each once, each from its own organisation,
and nothing of it in a log."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from agents.inbound import claims
from agents.installation.guarantees import Broken, NotApplicable, expect
from agents.installation.office import Office, found
from agents.models import Conversation
from integrations.models import Delivery, Organisation, ServiceToken

log = logging.getLogger(__name__)
TAKEN = 202
WORDS = "purple-elephant-in-the-cellar"  # in no log, whatever happens to the mail that says it


def unsigned_webhook(office: Office) -> None:
    """A webhook without a signature, with another's, or about something else than was signed is
    turned away, is given the reason, and leaves nothing."""
    body = _event(office)
    unsigned = post(office, body, signature="")
    expect("Unsigned", unsigned.status_code, 401)
    expect("It says", json.loads(unsigned.content)["error"]["code"], "missing_signature")
    other = found(office.site).secret
    expect("By another", post(office, body, secret=other).status_code, 401)
    signature = _signature(office.secret, "msg", datetime.now(UTC), body)
    changed = post(office, body + b" ", id="msg", signature=signature)
    expect("Changed", changed.status_code, 401)
    expect("Deliveries", deliveries(office), 0)


def old_webhook(office: Office) -> None:
    """A webhook that was recorded and is sent again after five minutes is turned away."""
    at = datetime.now(UTC) - timedelta(minutes=6)
    expect("It was answered", post(office, _event(office), at=at).status_code, 401)
    expect("Deliveries", deliveries(office), 0)


def same_webhook_twice(office: Office) -> None:
    """A webhook that comes twice is taken once, and its sender hears that it was there."""
    body = _event(office)
    first, second = (post(office, body, id="msg_1") for _ in range(2))
    expect("They were answered", (first.status_code, second.status_code), (TAKEN, TAKEN))
    delivery = Delivery.objects.get(organisation=office.organisation)
    for answer, status in ((first, "accepted"), (second, "duplicate")):
        said = json.loads(answer.content)
        expect("It says", (said["status"], said["delivery_id"]), (status, str(delivery.id)))


def webhook_of_nobody(office: Office) -> None:
    """A webhook for an organisation that is gone is answered as one with a wrong signature."""
    forged = post(office, _event(office), secret=found(office.site).secret)
    Organisation.objects.filter(pk=office.organisation.pk).update(slug=f"gone-{uuid4().hex[:8]}")
    signed = post(office, _event(office))
    expect("It was answered", signed.status_code, 401)
    expect("It says", signed.content, forged.content)
    expect("Deliveries", deliveries(office), 0)


def delivery_in_one_hand(office: Office) -> None:
    """What arrived is worked on by one process at a time; another takes it up where that one died
    and no sooner."""
    post(office, _event(office))
    delivery = Delivery.objects.get(organisation=office.organisation)
    first = claims.claim(delivery.id)
    if first is None or claims.claim(delivery.id) is not None:
        raise Broken("Two had it at once, or nobody.")
    past = timezone.now() - timedelta(seconds=1)
    Delivery.objects.filter(id=delivery.id).update(lease_expires_at=past)
    second = claims.claim(delivery.id)
    expect("Tries", second and second.attempts, 2)
    claims.release(first, "late", timedelta())
    delivery.refresh_from_db()
    expect("After the first one's late word it is", delivery.state, Delivery.State.RUNNING)


def webhook_that_cannot_be_stored(office: Office) -> None:
    """Text that no database can hold is taken in a stored form or turned away with a sentence."""
    for text in ("\x00", "\ud800", "\U0001f600" * 999, "[" * 5000):
        answer = post(office, _event(office, subject=text))
        if answer.status_code >= 500:
            raise Broken(f"{text[:1]!r} was answered with {answer.status_code}.")
    deep = b'{"data":' + b"[" * 100_000
    expect("Depth was answered", post(office, deep).status_code, 400)


def webhook_that_is_too_large(office: Office) -> None:
    """A webhook above the limit is turned away: unread where its length is said, and unparsed
    where nobody says it."""
    length = settings.WEBHOOK_MAX_BYTES + 1
    unreadable: dict[str, Any] = {"wsgi.input": io.BytesIO()}
    unreadable["wsgi.input"].close()
    said = post(office, b" " * length, **unreadable)
    expect("It was answered", said.status_code, 413)
    unsaid = post(office, b" " * length, CONTENT_LENGTH=f"+{length}")  # as good as none
    expect("Without a length it was answered", unsaid.status_code, 413)
    expect("Deliveries", deliveries(office), 0)


def api_without_a_token(office: Office) -> None:
    """The API answers nobody without a token, with a wrong one or with a revoked one."""
    row, plain = token(office, "chat")
    expect("With one", read(plain, office.user_id).status_code, 200)
    expect("Without", read("", office.user_id).status_code, 401)
    wrong = plain[:-1] + ("B" if plain.endswith("A") else "A")
    expect("With a wrong one", read(wrong, office.user_id).status_code, 401)
    row.delete()
    expect("With a revoked one", read(plain, office.user_id).status_code, 401)


def api_of_another_organisation(office: Office) -> None:
    """To a token of another organisation a conversation does not exist."""
    session = Conversation.objects.create(
        organisation=office.organisation, external_user_id=office.user_id
    )
    path = f"/api/v1/conversations/{session.id}"
    _, own = token(office, "chat")
    _, others = token(found(office.site), "chat")
    expect("To its own", read(own, office.user_id, path).status_code, 200)
    unknown = read(others, office.user_id, f"/api/v1/conversations/{uuid4()}")
    hidden = read(others, office.user_id, path)
    expect("To another", hidden.status_code, 404)
    expect("What it says", hidden.content, unknown.content)


def chat_token_confirms_nothing(office: Office) -> None:
    """A token that may chat and no more cannot say yes for a person."""
    office.permit("archive", "ask")
    approval = office.ask("archive", email_id=office.receive())
    _, plain = token(office, "chat")
    answer = Client().post(
        f"/api/v1/approvals/{approval.id}/decide",
        data=json.dumps({"user_id": office.user_id, "decision": "confirm"}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {plain}"},
    )
    expect("It was answered", answer.status_code, 403)
    expect("Writes at the provider", len(office.writes()), 0)


def nothing_in_the_logs(office: Office) -> None:
    """Neither what strangers write nor a secret reaches a log line, also when things go wrong."""
    office.permit("archive")
    _, plain = token(office, "chat")
    with _logged() as lines:
        email_id = office.receive(subject=WORDS, body_text=WORDS)
        office.do("archive", email_id=email_id)
        office.do("archive", email_id=WORDS)
        office.strike(error_rate=1.0)
        office.do("archive", email_id=office.receive(subject=WORDS))
        office.strike()
        post(office, _event(office, subject=WORDS))
        post(office, WORDS.encode())
        read(plain, WORDS)
        log.info("trial.failed", extra={"error": ValueError(WORDS)})
    written = lines.getvalue()
    for what, text in (
        ("A stranger's words", WORDS),
        ("The data service's key", office.site.key),
        ("The webhook's secret", office.secret),
        ("A token", plain),
        ("A mail address", office.accounts["mail"].address),
    ):
        if text in written:
            raise Broken(f"{what} stands in a log line.")


def post(
    office: Office,
    body: bytes,
    *,
    id: str = "",
    at: datetime | None = None,
    secret: str = "",
    signature: str | None = None,
    **request: Any,
) -> HttpResponse:
    """A webhook to this office; signed by it, if nothing else is said. The rest is how the web
    server hands it on."""
    id, at = id or f"msg_{uuid4().hex}", at or datetime.now(UTC)
    if signature is None:
        signature = _signature(secret or office.secret, id, at, body)
    signed = {"webhook-id": id, "webhook-timestamp": str(int(at.timestamp()))}
    answer: Any = Client(raise_request_exception=False).post(
        f"/webhooks/{office.organisation.slug}/item-created",
        data=body,
        content_type="application/json",
        headers=signed | ({"webhook-signature": signature} if signature else {}),
        **request,
    )
    return answer  # type: ignore[no-any-return]


def deliveries(office: Office) -> int:
    return Delivery.objects.filter(organisation=office.organisation).count()


def _event(office: Office, **fields: Any) -> bytes:
    now = datetime.now(UTC).isoformat()
    mail = {"id": f"mail-{uuid4().hex[:8]}", "date": now, "subject": "Lunch?"} | fields
    event = {
        "user_id": office.user_id,
        "source": "gmail",
        "source_id": mail["id"],
        "content_type": "email",
        "data": mail,
        "timestamp": now,
    }
    return json.dumps(event).encode()


def _signature(secret: str, id: str, at: datetime, body: bytes) -> str:
    return str(Webhook(secret).sign(id, at, body.decode("latin-1")))


def token(office: Office, *scopes: str) -> tuple[ServiceToken, str]:
    return ServiceToken.issue(
        organisation=office.organisation, name=f"trial {uuid4().hex[:8]}", scopes=[*scopes]
    )


def read(plain: str, user_id: str, path: str = "/api/v1/conversations") -> HttpResponse:
    given = {"Authorization": f"Bearer {plain}"} if plain else {}
    answer: Any = Client(raise_request_exception=False).get(
        path, {"user_id": user_id}, headers=given
    )
    return answer  # type: ignore[no-any-return]


@contextmanager
def _logged() -> Iterator[io.StringIO]:
    """What this installation's own log lines say meanwhile, at every level."""
    root = logging.getLogger()
    if not root.handlers or root.handlers[0].formatter is None:
        raise NotApplicable("Nothing is logged by this process.")
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(root.handlers[0].formatter)
    handlers, level, disabled = root.handlers, root.level, root.manager.disable
    root.handlers = [handler]
    root.setLevel(logging.DEBUG)
    logging.disable(logging.NOTSET)
    try:
        yield lines
    finally:
        logging.disable(disabled)
        root.setLevel(level)
        root.handlers = handlers


TRIALS = (
    unsigned_webhook,
    old_webhook,
    same_webhook_twice,
    webhook_of_nobody,
    delivery_in_one_hand,
    webhook_that_cannot_be_stored,
    webhook_that_is_too_large,
    api_without_a_token,
    api_of_another_organisation,
    chat_token_confirms_nothing,
    nothing_in_the_logs,
)
