import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from audit.bundle import ahead, archive, contents, rows
from audit.bundle.contents import Bundle
from audit.bundle.extent import NothingSealed
from audit.contracts import Artifact, Filters
from audit.formats import stored
from audit.ledger import chain, ledger, selectors
from audit.models import Checkpoint, ExecutedAgentAction, Leaf
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.entries import append_action, entry
from tests.commands import run_command

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def tenant_id() -> UUID:
    tenant_id = uuid4()
    bundles.fill(tenant_id)
    return tenant_id


def times(tenant_id: UUID) -> list[datetime]:
    rows = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).order_by("id")
    return list(rows.values_list("recorded_at", flat=True))


def test_a_period_holds_all_its_rows_and_proves_that_none_is_missing(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = times(tenant_id)
    sealed_ids = list(Leaf.objects.filter(tenant_id=tenant_id).values_list("row_id", flat=True))
    ends = [moments[0] - timedelta(hours=1), *moments[::2], moments[-1] + timedelta(hours=1)]
    for since in ends:
        for until in ends:
            if since >= until:
                continue
            data = bundles.make(tenant_id, since=since, until=until)
            assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0, capsys.readouterr()
            held = {row["id"] for row in bundles.lines(bundles.unpack(data), "ledger")}
            wanted = ExecutedAgentAction.objects.filter(
                tenant_id=tenant_id,
                recorded_at__gte=since,
                recorded_at__lt=until,
                id__in=sealed_ids,
            )
            assert set(wanted.values_list("id", flat=True)) <= held


def test_a_later_period_leaves_earlier_rows_out(tenant_id: UUID) -> None:
    data = bundles.make(tenant_id, since=times(tenant_id)[-1])
    manifest = json.loads(bundles.unpack(data)["manifest.json"])
    assert 0 < manifest["first"] < manifest["size"] == 18
    assert len(bundles.lines(bundles.unpack(data), "ledger")) == 18 - manifest["first"]


def test_a_kept_checkpoint_from_before_the_bundle_is_not_passed_over(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Checkpoint.objects.filter(tenant_id=tenant_id).earliest("size").note
    data = bundles.make(tenant_id, since=times(tenant_id)[-1])
    assert bundles.check(tmp_path, data, sealed.key(tenant_id), kept) == 1
    assert "ask for a bundle that begins earlier" in capsys.readouterr().out


def test_checkpoints_on_the_way_are_in_the_bundle(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "STOPS", 3)
    found = bundles.lines(bundles.unpack(bundles.make(tenant_id)), "checkpoints")
    sizes = [int(line["note"].split("\n")[1]) for line in found]
    assert sizes == [6, 12]
    assert all(first < second for first, second in pairwise(sizes))


def test_a_bundle_is_recorded_when_it_starts_and_when_it_ends(tenant_id: UUID) -> None:
    bundle = Bundle(
        filters=Filters(tenant_id=tenant_id), actor_type="admin", actor_id="operator:olga"
    )
    assert [row.status for row in selectors.recorded(bundle.id)] == ["pending"]
    size = sum(map(len, bundle))
    assert size
    started, ended = selectors.recorded(bundle.id)
    assert (started.status, ended.status) == ("pending", "succeeded")
    assert (ended.action_type, ended.actor_id) == ("ledger.export", "operator:olga")
    assert ended.payload["manifest"]["counts"]["ledger"] == 18


def test_a_bundle_that_nobody_reads_on_is_recorded_as_failed(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "CHUNK", 1)
    bundle = Bundle(filters=Filters(tenant_id=tenant_id), actor_type="admin", actor_id="x")
    chunks = iter(bundle)
    next(chunks)
    chunks.close()
    assert [row.status for row in selectors.recorded(bundle.id)] == ["pending", "failed"]


def test_rows_are_read_page_by_page(tenant_id: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bundles.unpack(bundles.make(tenant_id))
    asked: dict[str, int] = {}

    def counted(connection: Any, query: str, pages: Iterable[Any]) -> Iterator[Any]:
        given = list(pages)
        asked[query] = len(given)
        return ahead.read_ahead(connection, query, given)

    monkeypatch.setattr(rows, "PAGE", 5)
    monkeypatch.setattr(rows, "read_ahead", counted)
    paged = bundles.unpack(bundles.make(tenant_id))
    for part in ("ledger.jsonl", "payloads.jsonl", "artifacts.jsonl"):
        assert paged[part] == whole[part]
    assert asked == {rows.LINES: 4, rows.LEAVES: 4, rows.SIZES: 4, rows.CONTENTS: 4}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([""] * 10, [20]),
        (["é" * 10_000] * 9, [4, 4, 4, 4, 2]),
        ([""] * 4 + ["é" * 10_000] * 5, [12, 4, 2]),
        (["é" * 60_000] * 2, [1, 1, 1, 1]),
    ],
    ids=["small rows", "rows of 20 KB", "large behind small", "rows larger than a page"],
)
def test_a_page_has_as_many_rows_as_its_bytes_permit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str], expected: list[int]
) -> None:
    tenant_id = uuid4()
    for text in texts:
        append_action(tenant_id=tenant_id, payload={"text": text})
    sealed.seal(tenant_id)
    whole = bundles.unpack(bundles.make(tenant_id))

    monkeypatch.setattr(stored, "PAGE_BYTES", 100_000)
    found = rows.SealedRows(tenant_id, range(2 * len(texts)))
    assert [len(list(page)) for page in found.contents()] == expected

    paged = bundles.make(tenant_id)
    for part in ("ledger.jsonl", "payloads.jsonl", "artifacts.jsonl"):
        assert bundles.unpack(paged)[part] == whole[part]
    assert bundles.check(tmp_path, paged, sealed.key(tenant_id)) == 0


def test_what_an_action_created_is_named_for_any_ids(tmp_path: Path) -> None:
    tenant_id = uuid4()
    ids = ['","kind":"x', "\\", '"', "é\n\u2028\x00", "", "plain", "🙂" * 3, "[],{}:"]
    made = tuple(
        Artifact(kind="draft", provider="gmail", external_id=one, url=other)
        for one, other in product(ids, reversed(ids))
    )
    attempt = entry(tenant_id=tenant_id)
    ledger.append(attempt)
    ledger.append(replace(attempt, phase="outcome", status="succeeded", artifacts=made))
    sealed.seal(tenant_id)
    data = bundles.make(tenant_id)
    named = [line["artifact"] for line in bundles.lines(bundles.unpack(data), "artifacts")]
    assert named == [chain.storable(asdict(artifact)) for artifact in made]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0


def test_nothing_sealed_is_said_and_nothing_recorded(tmp_path: Path) -> None:
    with pytest.raises(NothingSealed, match="seal_ledger"):
        bundles.make(uuid4())
    output = tmp_path / "bundle.zip"
    with pytest.raises(CommandError, match="seal_ledger"):
        call_command("export_bundle", f"--tenant={uuid4()}", f"--output={output}")
    assert not output.exists()


def test_the_command_writes_a_bundle_and_says_how_to_check_it(
    tenant_id: UUID, tmp_path: Path
) -> None:
    output = tmp_path / "bundle.zip"
    said = run_command("export_bundle", f"--tenant={tenant_id}", f"--output={output}")
    assert said.splitlines() == [
        f"18 rows are in {output}. Check it with:",
        f"  python verify.py {output} {sealed.key(tenant_id)}",
    ]
    assert bundles.check(tmp_path, output.read_bytes(), sealed.key(tenant_id)) == 0
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_bundle", f"--tenant={tenant_id}", f"--output={output}")
