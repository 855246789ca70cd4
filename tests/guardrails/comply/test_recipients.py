"""Checkpoints reach whom a compliance officer named, and who does not answer is reported."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from pytest_django.fixtures import Settings
from standardwebhooks.webhooks import Webhook

from audit.keeping import end
from audit.ledger.ledger import Ended
from audit.models import ExecutedAgentAction
from audit.seals import progress
from guardrails.comply import recipients
from guardrails.models import CheckpointRecipient
from integrations.models import Organisation
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.entries import append_action
from tests.webhook_schema import validate_sent

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)


@dataclass
class Receiver:
    """A real HTTP server that keeps what arrives and answers as told."""

    status: int = 204
    taken: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.OUTGOING_TO_PRIVATE = True
    told = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.taken.append(({name.lower(): text for name, text in self.headers.items()}, body))
            self.send_response(told.status)
            if told.status == 302:
                self.send_header("Location", f"{told.url}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}/checkpoints"
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def organisation() -> Organisation:
    made = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Acme\nLtd")
    append_action(tenant_id=made.id)
    sealed.seal(made.id)
    return made


def recipient(organisation: Organisation, address: str, kind: str = "webhook") -> Any:
    row = CheckpointRecipient(organisation=organisation, kind=kind, address=address)
    recipients.add(row, by="operator:olga")
    return row


def confirmed(organisation: Organisation, receiver: Receiver) -> CheckpointRecipient:
    row: CheckpointRecipient = recipient(organisation, receiver.url)
    assert recipients.send_code(row.id, now=NOW)
    code = json.loads(receiver.taken.pop()[1])["data"]["code"]
    assert recipients.confirm(row.id, code=code, by="operator:olga", now=NOW)
    return row


def recorded(organisation: Organisation, action_type: str) -> list[tuple[str, str]]:
    rows = ExecutedAgentAction.objects.filter(tenant_id=organisation.id, action_type=action_type)
    return list(rows.order_by("id").values_list("status", "error_code"))


def test_a_webhook_is_confirmed_and_receives_a_signed_checkpoint(
    organisation: Organisation, receiver: Receiver, tmp_path: Path
) -> None:
    row = confirmed(organisation, receiver)
    assert recipients.due(now=NOW) == [row.id]
    assert recipients.deliver(row.id, now=datetime.now(UTC)) is True  # what is old is refused
    ((headers, body),) = receiver.taken
    said = Webhook(recipients.secret(row)).verify(body, headers)
    newest = progress.find_newest_checkpoint(organisation.id)
    assert newest is not None
    assert said["type"] == "ledger.checkpoint"
    validate_sent(said)
    assert said["data"] == {
        "organisation": str(organisation.id),
        "size": 2,
        "note": newest.note,
        "verifier_key": sealed.key(organisation.id),
        "rotations": [],
    }
    assert recorded(organisation, recipients.DELIVERY) == [("succeeded", "")]
    assert recorded(organisation, recipients.CHANGE) == [("recorded", ""), ("recorded", "")]
    # What arrived is a kept checkpoint: it fits the ledger that goes on, and no other one.
    sealed.seal(organisation.id)
    data = bundles.make(organisation.id)
    assert bundles.check(tmp_path, data, sealed.key(organisation.id), said["data"]["note"]) == 0
    files = bundles.unpack(data)
    rows = bundles.lines(files, "ledger")
    rows[0]["status"] = "failed"
    bundles.put(files, "ledger", rows)
    bundles.sign_again(files, sealed.SIGNER)
    forged = bundles.pack(files)
    assert bundles.check(tmp_path, forged, sealed.key(organisation.id), said["data"]["note"]) == 1


def test_quiet_days_are_delivered_too_and_once_a_day(
    organisation: Organisation, receiver: Receiver
) -> None:
    row = confirmed(organisation, receiver)
    assert recipients.deliver(row.id, now=NOW) is True
    assert recipients.deliver(row.id, now=NOW + timedelta(hours=23)) is None
    assert recipients.due(now=NOW + timedelta(hours=23)) == []
    assert recipients.deliver(row.id, now=NOW + DAY) is True
    assert recipients.deliver(row.id, now=NOW + DAY) is None
    first, second = (headers["webhook-id"] for headers, _ in receiver.taken)
    assert first != second
    notes = {json.loads(body)["data"]["note"] for _, body in receiver.taken}
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((302, "rejected"), (404, "not_found"), (410, "not_found"), (429, "rate_limited")),
        *((500, "unavailable"), (403, "not_permitted")),
    ],
)
def test_what_does_not_arrive_is_recorded_and_tried_again_ever_later(
    organisation: Organisation, receiver: Receiver, status: int, code: str
) -> None:
    row, now, waits = confirmed(organisation, receiver), NOW, []
    receiver.status = status
    for _ in range(6):
        assert recipients.deliver(row.id, now=now) is False
        row.refresh_from_db()
        assert row.next_at is not None
        waits.append((row.next_at - now) // timedelta(minutes=1))
        now = row.next_at
    assert waits == [1, 5, 30, 120, 360, 360]
    assert recorded(organisation, recipients.DELIVERY) == [("failed", code)] * 6
    assert len(receiver.taken) == 6  # a redirect is not followed
    (sentence,) = recipients.problems(organisation.id, now=now)
    assert sentence == f"No checkpoint has reached {row.address} yet. Tried 6 times: {code}."
    receiver.status = 200
    assert recipients.deliver(row.id, now=now) is True
    assert recipients.problems(organisation.id, now=now) == []


def test_nobody_there_is_a_failure_and_silence_is_reported(
    organisation: Organisation, receiver: Receiver, settings: Settings
) -> None:
    row = confirmed(organisation, receiver)
    CheckpointRecipient.objects.filter(id=row.id).update(address="http://127.0.0.1:1/")
    assert recipients.deliver(row.id, now=NOW) is False
    assert recorded(organisation, recipients.DELIVERY) == [("failed", "unavailable")]
    CheckpointRecipient.objects.filter(id=row.id).update(
        failures=0, delivered_at=NOW - timedelta(days=3)
    )
    assert recipients.problems(organisation.id, now=NOW) == [
        "No checkpoint has reached http://127.0.0.1:1/ since 3 d."
    ]


def test_nothing_but_a_code_goes_to_an_address_that_is_not_confirmed(
    organisation: Organisation, receiver: Receiver
) -> None:
    row = recipient(organisation, receiver.url)
    assert recipients.due(now=NOW + DAY) == []
    assert recipients.deliver(row.id, now=NOW + DAY) is None
    assert receiver.taken == []
    assert recipients.problems(organisation.id, now=NOW) == [
        f"{receiver.url} receives nothing until its code is typed in."
    ]


def test_a_code_counts_for_a_week_five_tries_and_one_address(
    organisation: Organisation, receiver: Receiver
) -> None:
    row, other = recipient(organisation, receiver.url), recipient(organisation, f"{receiver.url}/b")

    def code() -> str:
        assert recipients.send_code(row.id, now=NOW)
        found: str = json.loads(receiver.taken.pop()[1])["data"]["code"]
        return found

    def confirm(given: str, *, now: datetime = NOW, to: Any = row) -> bool:
        return recipients.confirm(to.id, code=given, by="operator:olga", now=now)

    first = code()
    assert re.fullmatch("[A-Z2-9]{8}", first)
    assert not confirm(first, to=other)
    assert not confirm(first, now=NOW + timedelta(days=7))
    second = code()
    assert not confirm(first)
    for _ in range(4):
        assert not confirm("")
    assert not confirm(second)  # the sixth
    assert not CheckpointRecipient.objects.filter(confirmed_at__isnull=False).exists()
    third = code()
    assert confirm(f" {third.lower()[:4]} {third[4:]}")
    assert not confirm(third)
    assert recipients.send_code(row.id, now=NOW) is False


def test_mail_brings_the_checkpoint_as_a_file_byte_for_byte(
    organisation: Organisation, settings: Settings, tmp_path: Path
) -> None:
    settings.EMAIL_URL = "smtp://localhost"
    row = recipient(organisation, "auditor@example.com", kind="mail")
    assert recipients.send_code(row.id, now=NOW)
    (asked,) = mail.outbox
    (code,) = re.findall(r"who asked you: ([A-Z2-9]{8})\.", str(asked.body))
    assert recipients.confirm(row.id, code=code, by="operator:olga", now=NOW)
    assert recipients.deliver(row.id, now=NOW) is True
    sent = mail.outbox[-1]
    assert sent.to == ["auditor@example.com"]
    assert sent.subject == "Checkpoint of the ledger of Acme Ltd: 2 records"
    file: Any = sent.message().get_payload(1)
    content = file.get_payload(decode=True)
    newest = progress.find_newest_checkpoint(organisation.id)
    assert newest is not None
    assert content == newest.note.encode()
    kept = content.decode()
    data = bundles.make(organisation.id)
    assert bundles.check(tmp_path, data, sealed.key(organisation.id), kept) == 0


def test_mail_is_refused_where_it_is_not_set_up(organisation: Organisation) -> None:
    with pytest.raises(ValidationError, match="set EMAIL_URL"):
        recipient(organisation, "auditor@example.com", kind="mail")
    assert recorded(organisation, recipients.CHANGE) == []


def test_a_ledger_without_a_seal_has_nothing_to_deliver(receiver: Receiver) -> None:
    empty = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Empty")
    row = confirmed(empty, receiver)
    # Its own rows about the recipient are not sealed either.
    assert recipients.deliver(row.id, now=NOW) is None
    assert receiver.taken == []
    assert recipients.due(now=NOW + recipients.LEASE) == [row.id]


def test_of_two_workers_one_delivers(organisation: Organisation, receiver: Receiver) -> None:
    row = confirmed(organisation, receiver)
    receiver.status = 500
    assert recipients.deliver(row.id, now=NOW) is False
    assert recipients.deliver(row.id, now=NOW) is None
    assert len(receiver.taken) == 1


def test_a_removed_recipient_receives_nothing(
    organisation: Organisation, receiver: Receiver
) -> None:
    row = confirmed(organisation, receiver)
    wanted = row.id
    recipients.remove(row, by="operator:olga")
    assert recipients.deliver(wanted, now=NOW) is None
    assert receiver.taken == []
    assert len(recorded(organisation, recipients.CHANGE)) == 3


def test_after_the_end_of_an_organisation_its_last_checkpoint_arrives_once_a_day(
    organisation: Organisation, receiver: Receiver
) -> None:
    row = confirmed(organisation, receiver)
    sealed.seal(organisation.id)
    bundles.make(organisation.id)
    end.end(organisation.id, reason="contract 7 ended", actor_id="command:olga")
    sealed.seal(organisation.id)
    assert recipients.deliver(row.id, now=NOW) is True
    assert recipients.deliver(row.id, now=NOW + recipients.LEASE) is None
    newest = progress.find_newest_checkpoint(organisation.id)
    assert newest
    assert json.loads(receiver.taken[-1][1])["data"]["size"] == newest.size

    recipients.remove(row, by="operator:olga")
    assert not CheckpointRecipient.objects.filter(organisation=organisation).exists()
    with pytest.raises(Ended):
        recipient(organisation, receiver.url)
    assert not CheckpointRecipient.objects.filter(organisation=organisation).exists()
