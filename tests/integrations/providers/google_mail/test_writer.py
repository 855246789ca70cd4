"""Writes to a Gmail mailbox are done once, and what became of one is known or a person's."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.exceptions import Changed, NotFound, Rejected, Unavailable
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.progress import NotSent
from tests.integrations.providers.google_mail.box import Box, mail
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def at_sending(box: Box, happens: Callable[[], object]) -> None:
    """Between the draft of a mail and its sending."""
    box.gmail.before["POST /drafts/send"] = happens


def test_the_answer_to_a_sent_mail_is_lost_and_the_mail_is_found(box: Box) -> None:
    at_sending(box, lambda: setattr(box.gmail, "lose", 1))
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")

    found = box.reader.evidence("remit-1")
    assert isinstance(found, Performed)
    assert box.gmail.mails[found.response["id"]].labels == {"SENT"}
    assert len(box.gmail.out) == 1
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")
    assert len(box.gmail.out) == 1


def test_a_draft_that_is_still_there_was_not_sent_and_never_will_be(box: Box) -> None:
    at_sending(box, lambda: box.gmail.refuse.append(Refuse(502)))
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")
    assert len(box.gmail.drafts) == 1

    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    assert (box.gmail.drafts, box.gmail.out, box.gmail.mails) == ({}, [], {})
    with pytest.raises(NotSent):
        box.writer.send_email(mail(), key="remit-1")
    assert box.gmail.out == []


def test_a_draft_that_a_person_threw_away_is_a_persons_question(box: Box) -> None:
    at_sending(box, lambda: box.gmail.refuse.append(Refuse(502)))
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")
    (id,) = box.gmail.drafts
    box.gmail.delete(box.gmail.drafts.pop(id))

    early = box.reader.evidence("remit-1")
    MailWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=11))
    late = box.reader.evidence("remit-1")

    assert isinstance(early, CannotTell)
    assert early.ask_again_at is not None
    assert late == CannotTell(ask_again_at=None)


def test_a_mail_that_gmail_refuses_leaves_no_draft(box: Box) -> None:
    said = {"error": {"code": 400, "message": "Invalid To header"}}
    at_sending(box, lambda: box.gmail.refuse.append(Refuse(400, said)))

    with pytest.raises(Rejected):
        box.writer.send_email(mail(), key="remit-1")

    assert (box.gmail.drafts, box.gmail.out) == ({}, [])
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


def test_what_was_called_off_before_is_not_sent(box: Box) -> None:
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    with pytest.raises(NotSent):
        box.writer.send_email(mail(), key="remit-1")

    assert (box.gmail.out, box.gmail.drafts, box.gmail.writes) == ([], {}, [])


def test_a_mail_called_off_while_its_draft_is_written_leaves_none(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    aim = progress.aim

    def called_off(row: MailWrite, target: dict[str, Any]) -> None:
        if "draft_id" in target:
            assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
        aim(row, target)

    monkeypatch.setattr(progress, "aim", called_off)

    with pytest.raises(NotSent):
        box.writer.send_email(mail(), key="remit-1")

    assert (box.gmail.out, box.gmail.drafts) == ([], {})


def test_a_draft_whose_answer_is_lost_is_written_once(box: Box) -> None:
    box.gmail.lose = 1
    with pytest.raises(Unavailable):
        box.writer.create_draft(mail(), key="remit-1")

    found = box.reader.evidence("remit-1")
    again = box.writer.create_draft(mail(), key="remit-1")

    assert isinstance(found, Performed)
    assert found.response["id"] == again["id"]
    assert list(box.gmail.drafts) == [again["id"]]


def test_a_draft_that_was_not_written_is_said_so_only_after_a_while(box: Box) -> None:
    box.gmail.refuse.append(Refuse(502))
    with pytest.raises(Unavailable):
        box.writer.create_draft(mail(), key="remit-1")

    assert isinstance(box.reader.evidence("remit-1"), CannotTell)
    MailWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=3))
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


def test_a_draft_of_a_new_mail_begins_a_thread_of_its_own_and_sends_nothing(box: Box) -> None:
    other = box.gmail.receive("Friday")

    made = box.writer.create_draft(mail(), key="remit-1")

    draft = box.reader.draft(made["id"])
    assert (draft.to, draft.subject, draft.body.strip()) == (
        ("tom@elsewhere.test",),
        "Friday",
        "See you on Friday.",
    )
    assert made["thread_id"] not in ("", box.reader.email(other.id).thread_id)
    assert box.gmail.out == []
    box.writer.delete_draft(made["id"], revision=draft.revision, key="remit-2")
    assert box.gmail.drafts == {}


def test_a_draft_that_somebody_edited_is_left_alone(box: Box) -> None:
    made = box.writer.create_draft(mail(), key="remit-1")

    with pytest.raises(Changed):
        box.writer.delete_draft(made["id"], revision="another", key="remit-2")

    assert list(box.gmail.drafts) == [made["id"]]


def test_labels_that_no_user_made_and_those_of_gmail_alone_are_refused(box: Box) -> None:
    kept = box.gmail.receive("Lunch")

    with pytest.raises(NotFound, match="no such label"):
        box.writer.change_labels(kept.id, add=["Nowhere"], remove=[], key="remit-1")
    with pytest.raises(Rejected, match="stay what they are"):
        box.writer.change_labels(kept.id, add=["SENT"], remove=[], key="remit-2")

    assert box.gmail.writes == []


def test_a_change_whose_answer_is_lost_is_seen_at_the_mail(box: Box) -> None:
    kept = box.gmail.receive("Lunch")
    box.gmail.lose = 1
    with pytest.raises(Unavailable):
        box.writer.archive(kept.id, key="remit-1")

    assert isinstance(box.reader.evidence("remit-1"), Performed)
    box.gmail.mark(kept.id, add=("INBOX",))
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
