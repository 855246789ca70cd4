"""What the task cluster runs of approvals' news. A second run sends another trial, nothing else."""

from uuid import UUID

from django.utils import timezone
from django_q.tasks import async_task

from guardrails.approve.news import news


def queue_trial(recipient_id: UUID) -> None:
    """Have a trial sent there: the web process cannot open a webhook's address."""
    async_task(send_trial, str(recipient_id))


def send_trial(recipient_id: str) -> None:
    news.try_out(UUID(recipient_id), now=timezone.now())
