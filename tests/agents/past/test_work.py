"""Which mails of a run over past mail are worked through side by side."""

import pytest
from django.utils import timezone

from agents.models import PastMail, PastRun
from agents.past.work import list_next
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db


def test_of_a_thread_one_mail_at_a_time_the_oldest_that_is_to_come() -> None:
    run = PastRun.objects.create(account_id=account().id, last=9, is_trial=False)
    now = timezone.now()
    for position, thread_id in enumerate(("t", "t", "", "u", "", "t")):
        PastMail.objects.create(
            run=run,
            position=position,
            source_id=f"m{position}",
            thread_id=thread_id,
            occurred_at=now,
            state="done" if position == 0 else "queued",
        )

    assert [one.source_id for one in list_next(run.id)] == ["m1", "m2", "m3", "m4"]
