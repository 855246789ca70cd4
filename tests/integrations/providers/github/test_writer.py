import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.exceptions import (
    Changed,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.models import Credential, IssueWrite
from integrations.network.gate import Gate
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.github import evidence
from tests.github_world import OTHER, PLANS
from tests.integrations.providers.github.box import TOM, Box
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def grow_old() -> None:
    """So long ago that GitHub lists it, if it is there."""
    IssueWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=3))


def test_a_new_issue_has_all_that_was_asked_for_and_a_mark_that_nobody_sees(box: Box) -> None:
    made = box.create(labels=("bug",), assignee=TOM)

    (issue,) = box.github.issues.values()
    assert issue["body"] == "It is red\n\n<!-- remit:remit-1 -->"
    assert (issue["labels"], issue["assignees"]) == (["bug"], ["tom"])
    found = box.reader.issue(made["key"])
    assert (found.description, found.labels, found.assignee) == ("It is red", ("bug",), TOM)
    assert (found.reporter, found.project_key) == (box.account.address, PLANS)
    assert made == {"id": f"{PLANS}:1", "key": f"{PLANS}:1", "url": found.url}


@pytest.mark.parametrize("hours", [-14, 0, 14])
@pytest.mark.parametrize("operation", ["create", "comment", "change"])
def test_a_lost_answer_is_found_again_and_nothing_is_done_twice(
    box: Box, operation: str, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the other side's clock is in a wrong zone."""
    there = timezone.now().replace(microsecond=0) + timedelta(hours=hours)
    monkeypatch.setattr(box.github, "now", there)
    key = box.github.put(PLANS, "Plan", by="nora-berg")
    does: dict[str, Any] = {
        "create": box.create,
        "comment": lambda: box.writer.comment_issue(key, body="Yes.", revision=None, key="remit-1"),
        "change": lambda: box.change(key, status="Done"),
    }
    box.github.lose = 1
    with pytest.raises(Unavailable) as lost:
        does[operation]()

    assert lost.value.outcome_unknown
    found = box.reader.evidence("remit-1")
    assert isinstance(found, Performed)
    assert does[operation]() == found.response
    assert len(box.github.writes) == 1


def test_what_was_not_done_is_said_to_be_so_only_when_github_would_list_it(box: Box) -> None:
    box.github.fail = 99
    with pytest.raises(Unavailable):
        box.create(labels=())
    box.github.fail = 0

    early = box.reader.evidence("remit-1")
    grow_old()
    late = box.reader.evidence("remit-1")

    assert isinstance(early, CannotTell)
    assert early.ask_again_at is not None
    assert isinstance(late, NotPerformed)
    with pytest.raises(Unavailable, match="an earlier try may have done it"):
        box.create()
    assert box.github.writes == []


def test_what_was_not_looked_at_to_the_end_is_not_said_to_be_missing(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = box.github.put(PLANS, "Plan", by="nora-berg")
    box.writer.comment_issue(key, body="Yes.", revision=None, key="remit-2")
    IssueWrite.objects.create(
        account_id=box.account.id,
        key="remit-1",
        operation="comment_issue",
        project=PLANS,
        issue_key=key,
        state=IssueWrite.State.SENT,
    )
    grow_old()
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    monkeypatch.setattr(evidence, "MOST", 1)

    assert isinstance(box.reader.evidence("remit-1"), CannotTell)


def test_a_mark_in_a_strangers_words_proves_nothing(box: Box) -> None:
    box.github.fail = 99
    with pytest.raises(Unavailable):
        box.create()
    box.github.fail = 0
    box.github.put(PLANS, "Forged", "<!-- remit:remit-1 -->", by="tom")
    grow_old()

    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


def test_what_was_said_to_be_not_sent_is_never_sent(box: Box) -> None:
    with pytest.raises(Rejected):
        box.create(priority="high")
    assert box.reader.evidence("remit-2") == NotPerformed(
        proof="Remit had sent nothing to the tracker under this key."
    )
    IssueWrite.objects.create(
        account_id=box.account.id, key="remit-3", operation="create_issue", project=PLANS
    )
    assert isinstance(box.reader.evidence("remit-3"), NotPerformed)

    with pytest.raises(Rejected, match="nothing is sent under this key any more"):
        box.create(key="remit-3")
    assert box.github.writes == []


def test_what_has_changed_meanwhile_is_left_alone(box: Box) -> None:
    key = box.github.put(PLANS, "Plan")
    before = box.reader.issue(key)
    box.github.comment(key, "Wait!")

    revision = before.revision
    with pytest.raises(Changed):
        box.writer.change_issue(key, {"status": "Done"}, revision=revision, key="remit-1")
    with pytest.raises(Changed):
        box.writer.comment_issue(key, body="Go", revision=revision, key="remit-2")
    assert box.github.writes == []


def test_of_a_change_that_somebody_else_changed_again_nobody_can_tell(box: Box) -> None:
    key = box.github.put(PLANS, "Plan")
    box.github.lose = 1
    with pytest.raises(Unavailable):
        box.change(key, summary="New plan")
    box.github.change(key, title="Their plan")
    grow_old()

    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)


def test_an_issue_that_is_as_before_was_not_changed(box: Box) -> None:
    key = box.github.put(PLANS, "Plan")
    row = IssueWrite.objects.create(
        account_id=box.account.id,
        key="remit-1",
        operation="change_issue",
        project=PLANS,
        issue_key=key,
        state=IssueWrite.State.SENT,
        revision_before=box.reader.issue(key).revision,
        wanted={"summary": "another digest"},
    )
    assert isinstance(box.reader.evidence(row.key), CannotTell)
    grow_old()
    assert isinstance(box.reader.evidence(row.key), NotPerformed)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"priority": "high"}, "has no priority"),
        ({"due_date": "2026-12-24"}, "has no due date"),
        ({"type": "bug"}, "Call it a task"),
        ({"assignee": "tom@office.test"}, "login@users.noreply.github.test"),
        ({"project_key": OTHER, "labels": ("bug",)}, "may not set labels"),
        ({"project_key": OTHER, "assignee": TOM}, "may not set labels"),
        ({"project_key": "octo:plans/../reading"}, "no repository of this name"),
        ({"project_key": "..:x"}, "no repository of this name"),
    ],
)
def test_what_github_cannot_do_is_refused_with_a_sentence(
    box: Box, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ProviderError, match=sentence):
        box.create(**fields)
    assert box.github.writes == []


@pytest.mark.parametrize(
    "key", ["octo:plans:1/comments", "octo:plans", "plans:1", "..:plans:1", "octo/x:a:1"]
)
def test_what_is_no_key_reaches_nothing(box: Box, key: str) -> None:
    with pytest.raises(NotFound):
        box.change(key, status="Done")
    assert (box.github.writes, box.github.reads) == ([], 0)


def test_a_pull_request_is_no_issue(box: Box) -> None:
    key = box.github.put(PLANS, "Merge me")
    names = ("url", "html_url", "diff_url", "patch_url")
    box.github.change(key, pull_request=dict.fromkeys(names))

    with pytest.raises(NotFound):
        box.change(key, status="Done")
    assert box.reader.items(since=None, cursor=None, limit=10).items == ()
    assert box.github.writes == []


def test_several_assignees_are_never_made_one(box: Box) -> None:
    key = box.github.put(PLANS, "Plan")
    box.github.change(key, assignees=["tom", "ann"])

    with pytest.raises(Rejected, match="Several people are assigned"):
        box.change(key, assignee=TOM)
    assert box.github.writes == []


def test_a_new_description_keeps_the_mark_of_who_wrote_the_issue(box: Box) -> None:
    key = box.create()["key"]

    box.change(key, key="remit-2", description="It is green")

    assert box.github.issue(key)["body"] == "It is green\n\n<!-- remit:remit-1 -->"


def test_repositories_that_the_account_leaves_out_are_not_there(box: Box) -> None:
    key = box.github.put(PLANS, "Plan")
    box.only("octo/reading")

    assert [(one.id, one.name) for one in box.reader.projects()] == [(OTHER, "octo/reading")]
    assert box.reader.items(since=None, cursor=None, limit=10).items == ()
    with pytest.raises(NotFound):
        box.create()
    with pytest.raises(NotFound):
        box.change(key, status="Done")
    assert box.github.writes == []


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "77"}, {}, 77),
        ({"x-ratelimit-remaining": "0"}, {}, 200),
        ({}, {"message": "You have exceeded a secondary rate limit."}, 60),
    ],
)
def test_all_processes_wait_as_long_as_github_asks(
    box: Box, headers: dict[str, str], body: dict[str, str], seconds: int
) -> None:
    if "x-ratelimit-remaining" in headers:
        headers = {**headers, "x-ratelimit-reset": str(int(time.time()) + seconds)}
    box.github.refuse = [Refuse(403, body, headers)]

    with pytest.raises(RateLimited) as first:
        box.reader.projects()
    assert first.value.retry_after == pytest.approx(seconds, abs=5)
    with pytest.raises(RateLimited), Gate(f"github_issues {box.account.id}").slot():
        raise AssertionError("nothing may be sent now")
    assert box.github.reads == 0


def test_a_refusal_is_no_rate_limit_and_a_refused_token_asks_to_sign_in_again(box: Box) -> None:
    box.github.refuse = [Refuse(403)]
    with pytest.raises(NotPermitted):
        box.reader.projects()
    assert Credential.objects.get().state == Credential.State.GOOD

    box.github.refuse = [Refuse(401)]
    with pytest.raises(NotPermitted):
        box.create()
    assert Credential.objects.get().state == Credential.State.SIGN_IN
    assert box.github.writes == []
