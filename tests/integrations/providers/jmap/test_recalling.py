"""Mail that a real server holds back, and what becomes of calling it back: done, too late, or with
the answer lost. What Cyrus does not do (it forgets a submission that is over) is answered as RFC
8621 says."""

from typing import Any
from unittest import mock

import pytest

from integrations.exceptions import TooLate, Unavailable
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.jmap.answers import Answers, Call
from integrations.providers.jmap.session import JmapSession
from tests.cyrus_world import needs_cyrus
from tests.integrations.providers.jmap.box import Box, mail
from tests.integrations.providers.jmap.test_evidence import Where, cut

pytestmark = [needs_cyrus, pytest.mark.django_db]

DRAFT = {"Drafts": [("Friday", (b"\\Draft", b"\\Seen"))]}
SENT = {"Sent": [("Friday", (b"\\Seen",))]}


@pytest.fixture
def held(box: Box, settings: Any) -> dict[str, Any]:
    """A mail that the server holds back for an hour."""
    settings.JMAP_RECALL_SECONDS = 3600
    return box.writer.send_email(mail(), key="k1")


def recall(box: Box, answer: dict[str, Any], *, key: str = "k2") -> dict[str, Any]:
    return box.writer.recall_email(answer["id"], submission_id=answer["submission_id"], key=key)


def test_what_is_recalled_is_a_draft_again_and_goes_to_nobody(
    box: Box, held: dict[str, Any]
) -> None:
    assert held["held_until"].endswith(" UTC")
    assert box.held() == SENT

    assert recall(box, held) == {"id": held["id"]}
    assert recall(box, held) == {"id": held["id"]}

    assert box.held() == DRAFT
    assert recall(box, held, key="k3") == {"id": held["id"]}  # it is one already
    assert box.world.sink.of(box.address) == []


@pytest.mark.parametrize("seconds", [0, -1])
def test_where_nothing_is_to_be_held_back_mail_goes_out_at_once(
    box: Box, settings: Any, seconds: int
) -> None:
    settings.JMAP_RECALL_SECONDS = seconds

    answer = box.writer.send_email(mail(), key="k1")

    assert answer.keys() == {"id", "thread_id", "message_id"}
    assert len(box.world.sink.of(box.address)) == 1


def test_what_has_gone_out_is_not_recalled(box: Box) -> None:
    answer = box.writer.send_email(mail(), key="k1")

    with pytest.raises(TooLate):
        recall(box, answer | {"submission_id": "S1"})

    assert box.held() == SENT
    assert isinstance(box.reader.evidence("k2"), NotPerformed)


@pytest.mark.parametrize(("where", "kind"), [("before", NotPerformed), ("after", Performed)])
def test_after_a_lost_answer_the_server_is_asked(
    box: Box, held: dict[str, Any], where: Where, kind: type[Evidence]
) -> None:
    with cut(where), pytest.raises(Unavailable):
        recall(box, held)

    assert isinstance(box.reader.evidence("k2"), kind)

    recall(box, held)
    assert box.held() == DRAFT


def test_a_mail_that_went_out_while_its_recall_was_under_way_is_left_to_a_person(
    box: Box, held: dict[str, Any]
) -> None:
    with cut("before"), pytest.raises(Unavailable):
        recall(box, held)
    known = "integrations.providers.jmap.recalling._status"

    with mock.patch(known, return_value=""):
        assert box.reader.evidence("k2") == CannotTell(ask_again_at=None)


def test_a_held_mail_whose_answer_was_lost_can_be_recalled(box: Box, settings: Any) -> None:
    settings.JMAP_RECALL_SECONDS = 3600
    with cut("after"), pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")

    found = box.reader.evidence("k1")

    assert isinstance(found, Performed)
    recall(box, found.response)
    assert box.held() == DRAFT


def answering(*, refusal: str, status: str) -> Any:
    """A server that keeps its submissions, as the RFC has it."""
    really_change, really_ask = JmapSession.change, JmapSession.ask

    def change(self: JmapSession, *calls: Call) -> Answers:
        ((name, said),) = calls
        if name != "EmailSubmission/set":
            return really_change(self, *calls)
        refused = {id: {"type": refusal} for id in said["update"]}
        return Answers([("EmailSubmission/set", {"notUpdated": refused}, "0")])

    def ask(self: JmapSession, *calls: Call) -> Answers:
        if calls[0][0] != "EmailSubmission/get":
            return really_ask(self, *calls)
        found = [{"id": id, "undoStatus": status} for id in calls[0][1]["ids"]]
        return Answers([("EmailSubmission/get", {"list": found}, "0")])

    return mock.patch.multiple(JmapSession, change=change, ask=ask)


@pytest.mark.parametrize(
    ("refusal", "status"),
    [("cannotUnsend", "pending"), ("cannotUnsend", "final"), ("serverFail", "final")],
)
def test_a_server_that_cannot_unsend_says_so(
    box: Box, held: dict[str, Any], refusal: str, status: str
) -> None:
    with answering(refusal=refusal, status=status), pytest.raises(TooLate):
        recall(box, held)

    assert isinstance(box.reader.evidence("k2"), NotPerformed)
    assert box.held() == SENT


def test_what_is_canceled_already_becomes_a_draft(box: Box, held: dict[str, Any]) -> None:
    with answering(refusal="cannotUnsend", status="canceled"):
        recall(box, held)

    assert box.held() == DRAFT


def test_a_refusal_that_says_nothing_of_the_mail_is_no_end(box: Box, held: dict[str, Any]) -> None:
    with answering(refusal="serverFail", status="pending"):
        with pytest.raises(Unavailable):
            recall(box, held)
        assert isinstance(box.reader.evidence("k2"), NotPerformed)

    recall(box, held)
    assert box.held() == DRAFT
