"""Retention: whole months leave when two people say so, and the rest still verifies."""

import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError
from django.db import ProgrammingError, connections
from django.utils import timezone
from pytest_django.fixtures import Settings

from audit.bundle import reading
from audit.bundle.extent import NothingSealed
from audit.contracts import LEDGER_TENANT
from audit.database import guards
from audit.formats import feed
from audit.keeping import erasure, retention
from audit.ledger import departures, events, ids, ledger, months, selectors
from audit.ledger.months import Month
from audit.models import ExecutedAgentAction, Leaf
from audit.verification.rows import Verification
from tests.audit import sealed
from tests.audit.bundle import files as bundles, leaving
from tests.audit.bundle.leaving import KEPT, OLD, OLDEST, append_of
from tests.audit.entries import append_action, entry
from tests.audit.tampering import tampered
from tests.commands import run_command

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
WHY: dict[str, Any] = {"reason": "case 3", "actor_id": "x:y"}


@pytest.fixture(autouse=True)
def months_of_long_ago(django_db_setup: None) -> Iterator[None]:
    with leaving.old_months():
        yield


@pytest.fixture
def tenant_id() -> UUID:
    return leaving.settle()


def propose(before: Month = KEPT, name: str = "olga") -> UUID:
    found = retention.plan(before, now=timezone.now())
    return retention.propose(found, reason="two years are over", actor_id=f"operator:{name}")


def confirm(proposal: UUID, name: str = "omar") -> retention.Plan:
    return retention.confirm(proposal, actor_id=f"operator:{name}", now=timezone.now())


def rows(tenant_id: UUID) -> int:
    return ExecutedAgentAction.objects.filter(tenant_id=tenant_id).count()


def old() -> list[Month]:
    return [month for month in months.list_months() if month < Month(date(2021, 1, 1))]


def test_a_plan_says_what_would_leave_and_changes_nothing(tenant_id: UUID) -> None:
    found = retention.plan(KEPT, now=timezone.now())
    leaves = [bytes(leaf.hash).hex() for leaf in Leaf.objects.filter(tenant_id=tenant_id)]
    (part,) = (part for part in found.parts if part.tenant_id == tenant_id)
    assert found.months == (OLDEST, OLD)
    assert (part.rows, part.first_place, part.last_place, part.size) == (6, 0, 5, 10)
    assert {part.first_leaf, part.last_leaf} <= set(leaves)
    assert part.places == [[0, 5]]
    assert (rows(tenant_id), old()) == (10, [OLDEST, OLD, KEPT])


def test_months_leave_when_another_person_confirms_and_the_rest_verifies(tenant_id: UUID) -> None:
    kept = list(ExecutedAgentAction.objects.filter(tenant_id=tenant_id).order_by("id")[6:].values())

    done = confirm(propose())

    assert done.months == (OLDEST, OLD)
    assert old() == [KEPT]
    after = list(ExecutedAgentAction.objects.filter(tenant_id=tenant_id).order_by("id").values())
    assert after[:4] == kept
    (record,) = after[4:]
    (said,) = selectors.recorded(record["action_id"])
    assert (said.phase, said.status, said.actor_id) == ("control", "succeeded", "operator:omar")
    assert said.payload["months"] == ["2020-01", "2020-02"]
    assert (said.payload["rows"], said.payload["places"]) == (6, [[0, 5]])
    assert said.payload["proposed_by"] == "operator:olga"
    sealed.seal(tenant_id)
    assert list(map(str, Verification(tenant_id=tenant_id))) == []
    left = departures.find_left(tenant_id)
    assert left
    assert left.rows == 6
    assert guards.find_problems() == []


def test_rows_in_between_stay_and_only_what_left_is_named(tenant_id: UUID) -> None:
    append_of(OLD, tenant_id)  # recorded behind younger ones
    sealed.seal(tenant_id)
    confirm(propose())
    sealed.seal(tenant_id)
    assert list(Verification(tenant_id=tenant_id)) == []
    left = departures.find_left(tenant_id)
    assert left
    assert left.places == [[0, 5], [10, 11]]


def test_a_row_that_vanished_beside_is_still_found(tenant_id: UUID) -> None:
    confirm(propose())
    sealed.seal(tenant_id)
    gone = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).earliest("id")
    with tampered("DELETE FROM audit_action WHERE id = %s", gone.id):
        found = [str(finding) for finding in Verification(tenant_id=tenant_id)]
    assert f"row {gone.id}: The row at place 6 was sealed and is gone." in found


def test_later_months_leave_later_and_everything_that_left_stays_named(tenant_id: UUID) -> None:
    confirm(propose(OLD))
    sealed.seal(tenant_id)
    sealed.seal(LEDGER_TENANT)
    confirm(propose(KEPT))
    sealed.seal(tenant_id)
    left = departures.find_left(tenant_id)
    assert left
    assert (left.before, left.places) == (KEPT, [[0, 5]])
    assert list(Verification(tenant_id=tenant_id)) == []


def test_the_same_person_cannot_confirm(tenant_id: UUID) -> None:
    proposal = propose()
    for origin, name in product(("operator", "command"), ("olga", "Olga ", "OLGA")):
        with pytest.raises(retention.CannotDrop, match="Another person"):
            retention.confirm(proposal, actor_id=f"{origin}:{name}", now=timezone.now())
    assert rows(tenant_id) == 10


def test_a_proposal_counts_once_and_for_seven_days(tenant_id: UUID) -> None:
    proposal = propose()
    late = timezone.now() + timedelta(days=7, minutes=1)
    with pytest.raises(retention.CannotDrop, match="no such proposal"):
        retention.confirm(proposal, actor_id="operator:omar", now=late)
    confirm(proposal)
    with pytest.raises(retention.CannotDrop, match="no such proposal"):
        confirm(proposal)
    with pytest.raises(retention.CannotDrop, match="no such proposal"):
        confirm(uuid4())


def test_what_changed_since_the_proposal_must_be_proposed_anew(tenant_id: UUID) -> None:
    proposal = propose()
    append_of(OLD, tenant_id)
    sealed.seal(tenant_id)
    with pytest.raises(retention.CannotDrop, match="has changed meanwhile"):
        confirm(proposal)
    assert rows(tenant_id) == 12


@pytest.mark.parametrize("held", ["", "maya"])
def test_a_legal_hold_keeps_its_months_and_all_later_ones(tenant_id: UUID, held: str) -> None:
    append_of(OLD, tenant_id, on_behalf_of="maya")
    sealed.seal(tenant_id)
    proposal = propose()
    legal_hold_id = erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of=held, **WHY)
    sealed.seal(tenant_id)
    found = retention.plan(KEPT, now=timezone.now())
    assert found.held == (OLD if held else OLDEST)
    assert found.months == ((OLDEST,) if held else ())
    with pytest.raises(retention.CannotDrop):
        confirm(proposal)
    assert old() == [OLDEST, OLD, KEPT]
    erasure.release_legal_hold(legal_hold_id, tenant_id=tenant_id, **WHY)
    confirm(proposal)
    assert old() == [KEPT]


def test_a_legal_hold_of_somebody_else_keeps_nothing(tenant_id: UUID) -> None:
    other = uuid4()
    append_action(tenant_id=other)
    for tenant, user in ((other, ""), (tenant_id, "maya")):
        legal_hold_id = erasure.set_legal_hold(tenant_id=tenant, on_behalf_of=user, **WHY)
        assert retention.plan(KEPT, now=timezone.now()).held is None
        erasure.release_legal_hold(legal_hold_id, tenant_id=tenant, **WHY)


def parts(found: retention.Plan) -> retention.Proposal:
    return retention.Proposal(
        id=ids.uuid7(),
        before=found.before,
        reason="",
        digest=found.digest,
        actor_id="operator:olga",
        at=timezone.now(),
    )


def test_the_database_itself_refuses_held_and_unsealed_months(tenant_id: UUID) -> None:
    found = retention.plan(KEPT, now=timezone.now())
    legal_hold_id = erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of="", **WHY)
    with pytest.raises(erasure.Held, match="A legal hold keeps rows from before 2020-03-01"):
        retention.drop(found, parts(found), actor_id="operator:omar")
    erasure.release_legal_hold(legal_hold_id, tenant_id=tenant_id, **WHY)
    append_of(OLD, uuid4())
    with pytest.raises(retention.CannotDrop, match="not sealed yet"):
        retention.drop(found, parts(found), actor_id="operator:omar")
    assert old() == [OLDEST, OLD, KEPT]


def test_a_legal_hold_that_is_set_while_months_leave_comes_afterwards(tenant_id: UUID) -> None:
    """The months are dropped already, and it is not committed yet."""
    found = retention.plan(KEPT, now=timezone.now())
    holder = in_thread(lambda: erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of="", **WHY))
    drop, waits = erasure.unless_held, threading.Event()

    @contextmanager
    def slowly() -> Iterator[Any]:
        with drop() as cursor:
            yield cursor
            holder.start()
            sealed.until(sealed.waits_for_months)
            waits.set()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(erasure, "unless_held", slowly)
        retention.drop(found, parts(found), actor_id="operator:omar")
    holder.join()

    assert waits.is_set()
    assert old() == [KEPT]
    (held,) = erasure.list_legal_holds(tenant_id)
    (left,) = selectors.about_ledger(tenant_id, retention.ACTION_TYPE)
    assert left.id < held.id


def test_a_legal_hold_that_is_being_set_keeps_the_months(tenant_id: UUID) -> None:
    """Who drops waits for it for two seconds, and is refused in either case."""
    found = retention.plan(KEPT, now=timezone.now())
    refused: list[str] = []

    def drop() -> None:
        try:
            retention.drop(found, parts(found), actor_id="operator:omar")
        except (erasure.Held, retention.CannotDrop) as error:
            refused.append(str(error))

    dropper = in_thread(drop)
    with erasure.no_erasure_meanwhile(tenant_id):
        dropper.start()
        sealed.until(lambda: sealed.waits_for_months() or bool(refused))
        events.record(
            erasure.LEGAL_HOLD, tenant_id=tenant_id, status="pending", payload={"reason": "case 3"}
        )
    dropper.join()

    assert refused in (
        ["A legal hold keeps rows from before 2020-03-01."],
        ["The ledger is being read or written too much just now. Try again."],
    )
    assert (rows(tenant_id), old()) == (11, [OLDEST, OLD, KEPT])


def in_thread(work: Callable[[], object]) -> threading.Thread:
    """A thread with database connections of its own."""

    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    return threading.Thread(target=run)


def test_the_database_refuses_a_record_that_does_not_name_what_leaves(tenant_id: UUID) -> None:
    found = retention.plan(KEPT, now=timezone.now())
    wrong = replace(found.parts[0], places=[[0, 1]])
    for made_up in (replace(found, parts=()), replace(found, parts=(wrong, *found.parts[1:]))):
        with pytest.raises(ProgrammingError, match="not of what leaves"):
            retention.drop(made_up, parts(found), actor_id="operator:omar")
    assert (rows(tenant_id), old()) == (10, [OLDEST, OLD, KEPT])


def test_what_vanished_before_does_not_leave_by_the_record(tenant_id: UUID) -> None:
    gone = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).earliest("id")
    found = retention.plan(KEPT, now=timezone.now())
    with (
        tampered("DELETE FROM audit_action WHERE id = %s", gone.id),
        pytest.raises(retention.CannotDrop, match=r"are gone\. Run manage.py verify_ledger"),
    ):
        retention.drop(found, parts(found), actor_id="operator:omar")
    assert (rows(tenant_id), old()) == (10, [OLDEST, OLD, KEPT])


def test_a_young_month_never_leaves() -> None:
    now = timezone.now()
    with pytest.raises(retention.CannotDrop, match="have not all ended 31 days ago"):
        retention.plan(Month.of(now), now=now)
    with (
        connections["ledger"].cursor() as cursor,
        pytest.raises(ProgrammingError, match="must have ended 31 days ago"),
    ):
        cursor.execute(retention.DROP, [Month.of(now).first, "[]"])


def test_without_months_nothing_is_proposed() -> None:
    with pytest.raises(retention.CannotDrop, match="No month leaves"):
        propose(OLDEST)


def test_the_feed_names_the_places_that_left(tenant_id: UUID) -> None:
    confirm(propose())
    sealed.seal(tenant_id)
    page = feed.load_page(tenant_id=tenant_id, start=0, limit=8)
    assert page.left == (0, 1, 2, 3, 4, 5)
    assert [item["leaf_index"] for item in page.items] == [6, 7]
    assert page.next_place == 8


def test_a_bundle_says_which_rows_left_and_is_sound(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = bundles.make(tenant_id)
    kept_note = bundles.unpack(before)["checkpoint.note"].decode()
    confirm(propose())
    sealed.seal(tenant_id)
    data = bundles.make(tenant_id)
    key = sealed.key(tenant_id)
    assert bundles.check(tmp_path, before, key) == 0
    assert bundles.check(tmp_path, data, key, kept_note) == 0
    said = capsys.readouterr().out
    assert "6 of these rows left by retention: their leaves stand for them." in said
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert len(list(reading.rows(archive))) == rows(tenant_id) - 2  # but the export's own


def test_a_bundle_of_a_later_period_is_sound_and_brings_the_record_along(
    tenant_id: UUID, tmp_path: Path
) -> None:
    append_of(OLD, tenant_id)  # behind younger ones, so a later period has a gap
    sealed.seal(tenant_id)
    until = ids.moment(ids.uuid7())
    for _ in range(3):
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
    confirm(propose())
    with pytest.raises(NothingSealed):
        bundles.make(tenant_id)
    sealed.seal(tenant_id)
    key = sealed.key(tenant_id)
    since = ids.moment(ids.uuid7())
    for period in ({"until": until}, {"since": until}, {"since": since}):
        data = bundles.make(tenant_id, **period)
        assert bundles.check(tmp_path, data, key) == 0, period
    alone = bundles.unpack(bundles.make(tenant_id, until=until))["redactions.jsonl"]
    assert b"ledger.retention" in alone


def test_what_is_passed_off_as_having_left_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, data = leaving.example()
    sentences = (
        "6 more: Its row is missing and no retention says why.",
        "place 0: Its row is missing and no retention says why.",
        "Its payload is not the one that was sealed.",
    )
    for files, sentence in zip(leaving.doctored(data), sentences, strict=True):
        assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1
        assert sentence in capsys.readouterr().out


def test_an_action_of_a_month_that_left_is_unknown_and_gets_no_more_phases(tenant_id: UUID) -> None:
    action_id = append_of(OLD, tenant_id)
    sealed.seal(tenant_id)
    confirm(propose())
    assert selectors.recorded(action_id) == ()
    with pytest.raises(ledger.NoMonth):
        ledger.append(entry(tenant_id=tenant_id, action_id=action_id))


@pytest.mark.parametrize(
    ("keep", "month"), [(1, "2026-10"), (10, "2026-01"), (11, "2025-12"), (24, "2024-11")]
)
def test_whole_months_are_kept_beside_the_present_one(keep: int, month: str) -> None:
    now = datetime(2026, 11, 21, tzinfo=UTC)
    assert str(retention.find_oldest_to_keep(keep, now=now)) == month


def run(*options: str) -> str:
    return run_command("drop_ledger_months", *options)


def test_the_command_plans_proposes_and_confirms(tenant_id: UUID, settings: Settings) -> None:
    with pytest.raises(CommandError, match="with --before, or set LEDGER_KEEP_MONTHS"):
        run()
    planned = run("--before=2020-03")
    assert planned.startswith("These months leave: 2020-01 to 2020-02. Rows: ")
    assert f"{tenant_id}: 6 rows, place 0 (" in planned
    assert planned.endswith("Nothing was changed: add --propose.\n")
    with pytest.raises(CommandError, match="Say who you are"):
        run("--before=2020-03", "--propose", "--reason=over")
    with pytest.raises(CommandError, match="Say why"):
        run("--before=2020-03", "--propose", "--name=olga")
    said = run("--before=2020-03", "--propose", "--name=olga", "--reason=over")
    proposal = said.split()[-1]
    with pytest.raises(CommandError, match="Another person"):
        run(f"--confirm={proposal}", "--name=olga")
    assert rows(tenant_id) == 10
    assert run(f"--confirm={proposal}", "--name=omar").startswith(
        "Done. These months leave: 2020-01"
    )
    assert rows(tenant_id) == 5
    sealed.seal(tenant_id)
    told = run_command("verify_ledger", f"--tenant={tenant_id}")
    assert f"left    6 rows of {tenant_id}, all before 2020-03, left by" in told
    settings.LEDGER_KEEP_MONTHS = 24
    assert run().startswith("These months leave: 2020-03.")
