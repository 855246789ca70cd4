"""Writes to a mailbox at Microsoft are done once, and what became of one is known or a person's."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.credentials import tokens
from integrations.exceptions import (
    Changed,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    SignInNeeded,
    Unavailable,
)
from integrations.models import Credential, MailWrite, Upstream
from integrations.network.gate import forget_slots
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.progress import NotSent
from tests.integrations.providers.google_mail.box import mail
from tests.integrations.providers.microsoft_mail.box import Box
from tests.microsoft_world import TOKEN, conflict
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db
TOM = "tom@elsewhere.test"


def at_sending(box: Box, happens: Callable[[], object]) -> None:
    """Between the draft of a mail and its sending."""
    box.outlook.before["POST send"] = happens


def later(**how_long: float) -> None:
    MailWrite.objects.update(changed_at=timezone.now() - timedelta(**how_long))


def unblock() -> None:
    """All who were asked to wait have waited."""
    Upstream.objects.all().delete()
    forget_slots()


def drafts(box: Box) -> list[str]:
    return [one.id for one in box.outlook.mails.values() if one.is_draft]


# --- sent once -------------------------------------------------------------------------


@pytest.mark.parametrize("keeps_marks", [True, False], ids=["mark", "message_id"])
def test_the_answer_to_a_sent_mail_is_lost_and_the_mail_is_found(
    box: Box, keeps_marks: bool
) -> None:
    box.outlook.keeps_marks = keeps_marks
    at_sending(box, lambda: setattr(box.outlook, "lose", 1))
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")

    found = box.reader.evidence("remit-1")

    assert isinstance(found, Performed)
    assert "SENT" in box.reader.email(found.response["id"]).labels
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")
    assert len(box.outlook.out) == 1


def test_a_mail_that_is_accepted_is_done_before_it_is_shown(box: Box) -> None:
    box.outlook.shows_sent = False

    said = box.writer.send_email(mail(), key="remit-1")

    assert box.writer.send_email(mail(), key="remit-1") == said
    assert said["message_id"] == "<remit-1@office.test>"
    assert len(box.outlook.out) == 1


def test_a_mail_that_was_accepted_unheard_is_waited_for_and_then_a_persons(box: Box) -> None:
    box.outlook.shows_sent = False
    at_sending(box, lambda: setattr(box.outlook, "lose", 1))
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")

    early = box.reader.evidence("remit-1")
    later(minutes=11)

    assert isinstance(early, CannotTell)
    assert early.ask_again_at is not None
    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)


@pytest.mark.parametrize(
    "said", [Refuse(502), Refuse(503, None, {"Retry-After": "1"})], ids=["502", "busy"]
)
def test_a_draft_that_is_still_there_after_a_while_was_not_sent_and_never_will_be(
    box: Box, said: Refuse
) -> None:
    at_sending(box, lambda: box.outlook.refuse.append(said))
    with pytest.raises(ProviderError) as lost:
        box.writer.send_email(mail(), key="remit-1")
    assert lost.value.outcome_unknown
    unblock()
    (draft,) = drafts(box)

    early = box.reader.evidence("remit-1")
    assert (type(early), drafts(box)) == (CannotTell, [draft])
    later(minutes=3)
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    assert (box.outlook.mails, box.outlook.out) == ({}, [])
    with pytest.raises(NotSent):
        box.writer.send_email(mail(), key="remit-1")
    assert box.outlook.out == []


def test_a_draft_that_goes_out_at_the_moment_it_is_to_be_deleted_stays_sent(box: Box) -> None:
    at_sending(box, lambda: box.outlook.refuse.append(Refuse(502)))
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")
    later(minutes=3)
    (draft,) = drafts(box)
    box.outlook.before["POST permanentDelete"] = lambda: box.outlook.go_out(
        box.outlook.mails[draft]
    )

    assert isinstance(box.reader.evidence("remit-1"), CannotTell)
    found = box.reader.evidence("remit-1")

    assert isinstance(found, Performed)
    assert len(box.outlook.out) == 1
    assert found.response["id"] in box.outlook.mails


def test_a_draft_that_a_person_threw_away_is_not_sent_any_more(box: Box) -> None:
    at_sending(box, lambda: box.outlook.refuse.append(Refuse(502)))
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")
    (draft,) = drafts(box)
    box.outlook.move(box.outlook.mails[draft], "deleteditems")
    later(minutes=3)

    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
    assert box.outlook.mails == {}


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (Refuse(400, {"error": {"code": "ErrorInvalidRecipients"}}), Rejected),
        (Refuse(403), NotPermitted),
        (conflict(), Changed),
    ],
    ids=["400", "403", "412"],
)
def test_a_mail_that_microsoft_refuses_leaves_no_draft(
    box: Box, said: Refuse, error: type[ProviderError]
) -> None:
    at_sending(box, lambda: box.outlook.refuse.append(said))

    with pytest.raises(error):
        box.writer.send_email(mail(), key="remit-1")

    assert (box.outlook.mails, box.outlook.out) == ({}, [])
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


def test_not_so_fast_leaves_nothing_sent_and_makes_every_process_wait(box: Box) -> None:
    at_sending(box, lambda: box.outlook.refuse.append(Refuse(429, None, {"Retry-After": "120"})))

    with pytest.raises(RateLimited) as slower:
        box.writer.send_email(mail(), key="remit-1")
    forget_slots()
    with pytest.raises(RateLimited):
        box.reader.labels()

    assert (slower.value.retry_after, slower.value.outcome_unknown) == (120, False)
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
    assert box.outlook.out == []


def test_a_sign_in_that_ends_in_the_middle_sends_nothing(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "access_token", lambda *_, **__: TOKEN)
    at_sending(box, lambda: box.outlook.refuse.extend([Refuse(401), Refuse(401)]))

    with pytest.raises(SignInNeeded):
        box.writer.send_email(mail(), key="remit-1")

    assert (box.outlook.mails, box.outlook.out) == ({}, [])
    assert Credential.objects.get().state == Credential.State.SIGN_IN
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


def test_what_was_called_off_before_is_not_sent(box: Box) -> None:
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    with pytest.raises(NotSent):
        box.writer.send_email(mail(), key="remit-1")

    assert (box.outlook.out, box.outlook.mails, box.outlook.writes) == ([], {}, [])


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

    assert (box.outlook.out, box.outlook.mails) == ([], {})


def test_a_mail_whose_draft_was_made_unheard_is_sent_once_and_leaves_none(box: Box) -> None:
    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="remit-1")
    assert (len(drafts(box)), box.outlook.out) == (1, [])

    box.writer.send_email(mail(), key="remit-1")

    assert (drafts(box), len(box.outlook.out)) == ([], 1)


# --- answers and what is sent on -------------------------------------------------------


def test_an_answer_says_what_was_decided_and_nothing_that_microsoft_proposes(box: Box) -> None:
    asked = box.outlook.receive("Plan", From="Tom <tom@elsewhere.test>")
    answer = mail(to=("ann@x.test",), subject="Re: Plan", body="<b>Yes</b>", reply_to_id=asked.id)

    said = box.writer.send_email(answer, key="remit-1")

    assert box.outlook.out == [(["ann@x.test"], "Re: Plan", "<b>Yes</b>")]
    sent = box.outlook.mails[said["id"]]
    assert (sent.thread, sent.mail["In-Reply-To"]) == (asked.thread, asked.mail["Message-ID"])
    assert sent.mail.get_content_type() == "text/plain"


def test_an_answer_that_cannot_be_finished_leaves_no_draft(box: Box) -> None:
    asked = box.outlook.receive("Plan")
    answer = mail(reply_to_id=asked.id)
    box.outlook.busy = Refuse(400)

    with pytest.raises(Rejected):
        box.writer.create_draft(answer, key="remit-1")
    assert drafts(box) == []
    with pytest.raises(NotFound):
        box.writer.create_draft(mail(reply_to_id="AAkALgAA1="), key="remit-2")
    assert drafts(box) == []


def test_words_above_a_mail_that_is_sent_on_are_words(box: Box) -> None:
    kept = box.outlook.receive("Lunch", "<!-- --><script>x</script>")
    on = mail(to=("ann@x.test",), body="See <i>below</i>.\nTom")

    said = box.writer.forward_email(kept.id, on, key="remit-1")

    sent = box.outlook.mails[said["id"]].mail.get_content()
    assert sent.startswith("<div>See &lt;i&gt;below&lt;/i&gt;.<br>\nTom</div>")
    assert "&lt;script&gt;" in sent
    assert [(to, subject) for to, subject, _ in box.outlook.out] == [(["ann@x.test"], "Fwd: Lunch")]


def test_no_mail_names_its_key_to_those_who_get_it_but_in_its_own_header(box: Box) -> None:
    said = box.writer.send_email(mail(bcc=("boss@x.test",)), key="remit-1")

    assert box.outlook.mails[said["id"]].mail["X-Remit-Action"] == "remit-1"
    assert {one.address for one in box.reader.correspondents(limit=5)} == {TOM, "boss@x.test"}


# --- drafts ----------------------------------------------------------------------------


def test_a_draft_whose_answer_is_lost_is_written_once(box: Box) -> None:
    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.create_draft(mail(), key="remit-1")

    found = box.reader.evidence("remit-1")
    again = box.writer.create_draft(mail(), key="remit-1")

    assert isinstance(found, Performed)
    assert found.response["id"] == again["id"]
    assert drafts(box) == [again["id"]]


def test_a_draft_that_was_not_written_is_said_so_only_after_a_while(box: Box) -> None:
    box.outlook.refuse.append(Refuse(502))
    with pytest.raises(Unavailable):
        box.writer.create_draft(mail(), key="remit-1")

    assert isinstance(box.reader.evidence("remit-1"), CannotTell)
    later(minutes=3)
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


def test_a_draft_of_a_new_mail_begins_a_thread_of_its_own_and_sends_nothing(box: Box) -> None:
    other = box.outlook.receive("Friday")

    made = box.writer.create_draft(mail(), key="remit-1")

    draft = box.reader.draft(made["id"])
    assert (draft.to, draft.subject, draft.body.strip()) == (
        ("tom@elsewhere.test",),
        "Friday",
        "See you on Friday.",
    )
    assert made["thread_id"] not in ("", box.reader.email(other.id).thread_id)
    assert box.outlook.out == []
    box.writer.delete_draft(made["id"], revision=draft.revision, key="remit-2")
    assert {*box.outlook.mails} == {other.id}


def test_a_draft_that_somebody_edited_or_sent_is_left_alone(box: Box) -> None:
    made = box.writer.create_draft(mail(), key="remit-1")
    kept = box.outlook.receive("Lunch")

    with pytest.raises(Changed):
        box.writer.delete_draft(made["id"], revision="another", key="remit-2")
    with pytest.raises(Changed):
        box.writer.delete_draft(kept.id, revision=None, key="remit-3")

    assert {*box.outlook.mails} == {made["id"], kept.id}


# --- marks, categories and folders -----------------------------------------------------


def test_what_a_person_does_at_the_same_moment_stays(box: Box) -> None:
    kept = box.outlook.receive("Lunch")
    box.outlook.before[f"PATCH {kept.id}"] = lambda: box.outlook.mark(kept, categories=["Red"])

    box.writer.change_labels(kept.id, add=["FYI"], remove=[], key="remit-1")

    assert kept.categories == ["Red", "FYI"]
    box.writer.change_labels(kept.id, add=["red"], remove=["fyi"], key="remit-2")
    assert kept.categories == ["Red"]
    assert isinstance(box.reader.evidence("remit-2"), Performed)


def test_a_mail_that_a_person_moves_at_the_same_moment_is_moved_from_there(box: Box) -> None:
    kept = box.outlook.receive("Lunch")
    name = box.outlook.make_folder("Clients")
    box.outlook.before["POST move"] = lambda: box.outlook.move(kept, name)

    box.writer.trash_email(kept.id, key="remit-1")
    assert box.outlook.held()["Lunch"] == {"TRASH", "UNREAD"}

    box.outlook.before["POST move"] = lambda: box.outlook.delete(kept)
    with pytest.raises(NotFound):
        box.writer.change_labels(kept.id, add=["INBOX"], remove=[], key="remit-2")


def test_a_mail_that_changes_all_the_time_is_left_to_be_asked_about(box: Box) -> None:
    kept = box.outlook.receive("Lunch")

    def change() -> None:
        box.outlook.mark(kept, starred=not kept.starred)
        box.outlook.before[f"PATCH {kept.id}"] = change

    change()
    with pytest.raises(Changed):
        box.writer.mark_read(kept.id, key="remit-1")
    assert not kept.is_read
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


@pytest.mark.parametrize("label", ["a,b", " ", "inbox", "x" * 101, "a\nb"])
def test_what_is_no_category_is_refused(box: Box, label: str) -> None:
    kept = box.outlook.receive("Lunch")

    with pytest.raises(Rejected):
        box.writer.change_labels(kept.id, add=[label], remove=[], key="remit-1")
    with pytest.raises(Rejected, match="stay what they are"):
        box.writer.change_labels(kept.id, add=["SENT"], remove=[], key="remit-2")

    assert box.outlook.writes == []


def test_a_change_whose_answer_is_lost_is_seen_at_the_mail(box: Box) -> None:
    kept = box.outlook.receive("Lunch")
    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.archive(kept.id, key="remit-1")

    assert isinstance(box.reader.evidence("remit-1"), Performed)
    box.outlook.move(kept, "inbox")
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
    box.outlook.delete(kept)
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


def test_what_microsoft_calls_its_last_request_is_known(box: Box) -> None:
    kept, writer = box.outlook.receive("Lunch"), box.writer

    writer.mark_read(kept.id, key="remit-1")

    assert writer.request_id.startswith("graph-")
