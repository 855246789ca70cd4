"""Authorities give the ledger's root a time stamp every hour; when one does not, that is known,
and the ledger is sealed all the same."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from audit.contracts import LEDGER_TENANT
from audit.models import Anchor, AnchorToken, ExecutedAgentAction
from audit.seals import anchors
from guardrails.comply import time_stamps
from tests.audit import sealed, stamped
from tests.audit.entries import append_action
from tests.tsa import Authority, running_authority

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def authority(settings: Settings, tmp_path: Path) -> Iterator[Authority]:
    with running_authority(tmp_path / "tsa") as running:
        settings.LEDGER_TSA_URL = [running.url]
        yield running


@pytest.fixture
def anchor() -> Anchor:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    return stamped.anchor()


def failures() -> list[str]:
    rows = ExecutedAgentAction.objects.filter(
        tenant_id=LEDGER_TENANT, action_type=time_stamps.ACTION_TYPE
    )
    return list(rows.order_by("id").values_list("error_code", flat=True))


def test_an_authority_gives_the_root_a_time_stamp(authority: Authority, anchor: Anchor) -> None:
    assert time_stamps.due(now=anchor.made_at) == [(anchor.id, 0)]
    assert time_stamps.request_time_stamp(anchor.id, number=0) is True
    token = AnchorToken.objects.get(anchor_id=anchor.id)
    assert token.authority == authority.url
    assert abs(token.stamped_at - anchor.made_at) < timedelta(minutes=5)
    (asked,) = authority.asked
    assert bytes(anchor.root) in asked
    assert time_stamps.due(now=anchor.made_at) == []
    # Twice changes nothing.
    assert time_stamps.request_time_stamp(anchor.id, number=0) is True
    assert AnchorToken.objects.filter(anchor_id=anchor.id).count() == 1


def test_a_new_root_is_due_every_hour_and_what_failed_every_ten_minutes(
    authority: Authority, anchor: Anchor
) -> None:
    at = anchor.made_at
    asked = [minute for minute in range(60) if time_stamps.due(now=at + minute * MINUTE)]
    assert asked == [0, 10, 20, 30, 40, 50]
    assert anchors.find_newest() == anchor
    time_stamps.due(now=at + HOUR)
    newest = anchors.find_newest()
    assert newest is not None
    assert newest.id > anchor.id


def test_what_is_anchored_now_is_due_now(
    authority: Authority, anchor: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_stamps, "EVERY", timedelta())
    ((anchor_id, number),) = time_stamps.due(now=timezone.now())
    assert anchor_id > anchor.id
    assert number == 0


def test_without_authorities_nothing_is_anchored(settings: Settings, anchor: Anchor) -> None:
    settings.LEDGER_TSA_URL = []
    assert time_stamps.due(now=anchor.made_at + 9 * HOUR) == []
    assert anchors.find_newest() == anchor
    assert time_stamps.problems(now=anchor.made_at + 9 * HOUR) == []


@pytest.mark.parametrize(
    ("status", "answer", "code"),
    [
        (500, b"", "unavailable"),
        (403, b"", "not_permitted"),
        (302, b"", "rejected"),
        (200, b"", "rejected"),
        (200, b"<html>", "rejected"),
        (200, b"0" * (time_stamps.MAX_ANSWER_BYTES + 1), "malformed_answer"),
        # PKIStatusInfo: rejection.
        (200, bytes.fromhex("30053003020102"), "rejected"),
    ],
)
def test_a_failure_is_recorded_and_sealing_goes_on(
    authority: Authority, anchor: Anchor, status: int, answer: bytes, code: str
) -> None:
    before = len(failures())
    authority.status, authority.answer = status, answer
    assert time_stamps.request_time_stamp(anchor.id, number=0) is False
    assert failures()[before:] == [code]
    assert not AnchorToken.objects.filter(anchor_id=anchor.id).exists()
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)


def test_a_time_stamp_of_another_root_or_for_another_request_is_refused(
    authority: Authority, anchor: Anchor
) -> None:
    assert time_stamps.request_time_stamp(anchor.id, number=0)
    old = bytes(AnchorToken.objects.get(anchor_id=anchor.id).response)
    authority.answer, before = old, len(failures())
    assert time_stamps.request_time_stamp(anchor.id, number=0) is False  # the nonce is another
    append_action(tenant_id=(tenant_id := uuid4()))
    sealed.seal(tenant_id)
    assert time_stamps.request_time_stamp(stamped.anchor().id, number=0) is False
    assert failures()[before:] == ["rejected", "rejected"]


def test_with_certificates_only_what_is_signed_under_them_is_kept(
    authority: Authority, anchor: Anchor, settings: Settings, tmp_path: Path
) -> None:
    with running_authority(tmp_path / "other") as other:
        settings.LEDGER_TSA_CERTIFICATES = str(other.certificates)
        before = len(failures())
        assert time_stamps.request_time_stamp(anchor.id, number=0) is False
        assert failures()[before:] == ["rejected"]
        assert not AnchorToken.objects.filter(anchor_id=anchor.id).exists()
    settings.LEDGER_TSA_CERTIFICATES = str(authority.certificates)
    assert time_stamps.request_time_stamp(anchor.id, number=0) is True


def test_a_signature_that_cannot_be_checked_does_not_count(
    authority: Authority,
    anchor: Anchor,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(*arguments: object) -> bool:
        raise FileNotFoundError("openssl")

    settings.LEDGER_TSA_CERTIFICATES = str(authority.certificates)
    monkeypatch.setattr(time_stamps, "is_signed", missing)
    assert time_stamps.request_time_stamp(anchor.id, number=0) is False
    assert not AnchorToken.objects.filter(anchor_id=anchor.id).exists()


def test_nobody_there_is_reported_until_there_is_a_time_stamp(
    authority: Authority, anchor: Anchor, settings: Settings
) -> None:
    settings.LEDGER_TSA_URL = ["http://user:secret@127.0.0.1:1/tsr?key=secret", authority.url]
    assert time_stamps.due(now=anchor.made_at) == [(anchor.id, 0), (anchor.id, 1)]
    assert time_stamps.request_time_stamp(anchor.id, number=0) is False
    assert time_stamps.request_time_stamp(anchor.id, number=1) is True
    first = Anchor.objects.order_by("id").first()
    assert first is not None
    (sentence,) = time_stamps.problems(now=max(first.made_at + 3 * HOUR, anchor.made_at + HOUR))[:1]
    assert sentence == "No time stamp of http://127.0.0.1:1/tsr yet. The last failure: unavailable."
    later = time_stamps.problems(now=anchor.made_at + 4 * HOUR)
    assert len(later) == 2
    assert later[1].startswith(f"No time stamp of {authority.url} since 3 h.")
