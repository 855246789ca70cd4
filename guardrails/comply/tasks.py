"""What the task cluster runs of `guardrails`. Tasks carry ids; a second run changes nothing."""

from datetime import datetime
from uuid import UUID

from django.utils import timezone
from django_q.tasks import async_task

from guardrails.comply import recipients, time_stamps


def queue_code(recipient_id: UUID) -> None:
    """Have a code sent to this address, once the caller's transaction is committed."""
    async_task(send_code, str(recipient_id))


def queue_checkpoints(*, now: datetime) -> int:
    """Queue each delivery of a checkpoint that is due; how many. Run it every minute."""
    found = recipients.due(now=now)
    for recipient_id in found:
        async_task(deliver_checkpoint, str(recipient_id))
    return len(found)


def queue_time_stamps(*, now: datetime) -> int:
    """Queue each time stamp that is due; how many. Run it every minute."""
    found = time_stamps.due(now=now)
    for anchor_id, number in found:
        async_task(request_time_stamp, anchor_id, number)
    return len(found)


def request_time_stamp(anchor_id: int, number: int) -> None:
    time_stamps.request_time_stamp(anchor_id, number=number)


def send_code(recipient_id: str) -> None:
    recipients.send_code(UUID(recipient_id), now=timezone.now())


def deliver_checkpoint(recipient_id: str) -> None:
    recipients.deliver(UUID(recipient_id), now=timezone.now())
