"""Bundles of filters: each row proves itself, and that others may be missing is said."""

import json
import random
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from audit.bundle import proofs, redactions, verify
from audit.bundle.contents import Bundle
from audit.bundle.extent import NothingSealed
from audit.contracts import Filters
from audit.keeping import erasure
from audit.keeping.erasure import Scope
from audit.ledger import chain, ids, selectors
from audit.models import Checkpoint, ExecutedAgentAction, Leaf
from audit.seals import merkle, progress
from audit.seals.notes import Tree
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.bundle.files import Files
from tests.audit.entries import append_action
from tests.commands import run_command
from tests.long import times

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

TRIALS = range(times(5, long=20))
NOT_CLAIMED = "Completeness is not claimed: other rows may match the filters."
UNPROVEN = "Its proof does not lead from this line to the checkpoint."
WHY: dict[str, Any] = {"reason": "asked for by the person", "actor_id": "command:olga"}


@cache
def example() -> tuple[UUID, bytes]:
    """Rows of Maya among others, one of them erased behind all the others."""
    tenant_id = uuid4()
    for number in range(4):
        append_action(tenant_id=tenant_id, on_behalf_of="maya", resource_id=f"mail-{number}")
        bundles.fill(tenant_id, actions=1)
    first = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).earliest("id")
    sealed.seal(tenant_id)
    erasure.erase(Scope(tenant_id=tenant_id, action_id=first.action_id), **WHY)
    sealed.seal(tenant_id)
    return tenant_id, bundles.make(tenant_id, on_behalf_of=frozenset({"maya"}))


def verdict(said: str) -> str:
    return said.splitlines()[-1]


def test_the_rows_that_match_are_held_and_each_is_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, data = example()
    files = bundles.unpack(data)
    manifest = json.loads(files["manifest.json"])
    rows = bundles.lines(files, "ledger")
    assert {row["on_behalf_of"] for row in rows} == {"maya"}
    assert [row["phase"] for row in rows] == ["attempt", "outcome"] * 4
    assert (manifest["completeness"], manifest["filters"]) == (
        "not claimed",
        {"on_behalf_of": ["maya"]},
    )
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    said = capsys.readouterr().out
    assert 'Asked for: actions with {"on_behalf_of":["maya"]}.' in said
    assert verdict(said) == (
        f"SOUND: 8 rows of remit.example/ledger/{tenant_id}. Each was sealed at its place and is "
        f"unaltered. {NOT_CLAIMED}"
    )


FILTERS: dict[str, Callable[[ExecutedAgentAction], dict[str, Any]]] = {
    "account": lambda row: {"account_id": row.account_id},
    "action type": lambda row: {"action_type": row.action_type},
    "status": lambda row: {"status": "failed"},
    "run": lambda row: {"run_id": row.run_id},
    "user": lambda row: {"on_behalf_of": frozenset({row.on_behalf_of})},
}


@pytest.mark.parametrize("kind", FILTERS)
def test_every_filter_chooses_whole_actions(kind: str, tmp_path: Path) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, account_id=uuid4())
    wanted = append_action(
        tenant_id=tenant_id,
        account_id=uuid4(),
        action_type="draft",
        run_id="turn-1",
        on_behalf_of="maya",
        status="failed",
    )
    append_action(tenant_id=tenant_id, run_id="turn-2")
    sealed.seal(tenant_id)
    row = ExecutedAgentAction.objects.filter(action_id=wanted).earliest("id")
    data = bundles.make(tenant_id, **FILTERS[kind](row))
    held = bundles.lines(bundles.unpack(data), "ledger")
    assert [(line["action_id"], line["phase"]) for line in held] == [
        (str(wanted), "attempt"),
        (str(wanted), "outcome"),
    ]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0


def test_a_time_narrows_a_filter_by_when_actions_were_asked_for(tmp_path: Path) -> None:
    tenant_id, _ = example()
    first, *_ = bundles.lines(bundles.unpack(example()[1]), "ledger")
    until = ids.moment(UUID(first["action_id"])) + timedelta(milliseconds=1)
    data = bundles.make(tenant_id, on_behalf_of=frozenset({"maya"}), until=until)
    held = {line["action_id"] for line in bundles.lines(bundles.unpack(data), "ledger")}
    assert held == {first["action_id"]}
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0


def test_nothing_that_matches_is_an_empty_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, _ = example()
    data = bundles.make(tenant_id, on_behalf_of=frozenset({"nobody"}))
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    assert verdict(capsys.readouterr().out).startswith("SOUND: 0 rows of")


def test_rows_that_are_not_sealed_yet_come_later(tmp_path: Path) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, on_behalf_of="maya")
    wanted = {"on_behalf_of": frozenset({"maya"})}
    with pytest.raises(NothingSealed):
        bundles.make(tenant_id, **wanted)
    sealed.seal(tenant_id)
    append_action(tenant_id=tenant_id, on_behalf_of="maya")
    assert len(bundles.lines(bundles.unpack(bundles.make(tenant_id, **wanted)), "ledger")) == 2


def swap_lines(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "ledger") as rows:
        at = luck.randrange(len(rows) - 1)
        rows[at], rows[at + 1] = rows[at + 1], rows[at]


def alter_line(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "ledger") as rows:
        luck.choice(rows)[luck.choice(["status", "decision", "actor_id", "trigger"])] = "other"


def alter_proof(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "proofs") as rows:
        nodes = luck.choice(rows)["proof"]
        nodes[luck.randrange(len(nodes))] = luck.randbytes(32).hex()


def shorten_proof(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "proofs") as rows:
        nodes = luck.choice(rows)["proof"]
        nodes.pop(luck.randrange(len(nodes)))


def lengthen_proof(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "proofs") as rows:
        luck.choice(rows)["proof"].append(luck.randbytes(32).hex())


def take_another_proof(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "proofs") as rows:
        one, other = luck.sample(range(len(rows)), 2)
        rows[one] = rows[other]


def claim_another_place(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "proofs") as rows:
        luck.choice(rows)["place"] += luck.choice([-1, 1, 2, 100])


def drop_proof(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "proofs") as rows:
        rows.pop(luck.randrange(len(rows)))


def add_proof(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "proofs")
    bundles.put(files, "proofs", [*rows, luck.choice(rows)])
    bundles.mend(files)


def show_a_row_twice(files: Files, luck: random.Random) -> None:
    for part, name in (("ledger", "id"), ("payloads", "row_id"), ("artifacts", "row_id")):
        rows = bundles.lines(files, part)
        again = [row for row in rows if row[name] == rows[-1][name]]
        bundles.put(files, part, [*rows, *again])
    held = bundles.lines(files, "proofs")
    bundles.put(files, "proofs", [*held, held[-1]])
    bundles.mend(files)


def insert_a_made_up_row(files: Files, luck: random.Random) -> None:
    rows, held = bundles.lines(files, "ledger"), bundles.lines(files, "proofs")
    at = luck.randrange(len(rows))
    rows.insert(at, rows[at] | {"id": 10**9, "phase": "control"})
    held.insert(at, held[at])
    bundles.put(files, "ledger", rows)
    bundles.put(files, "proofs", held)
    bundles.mend(files)


def take_the_note_of_another_size(files: Files, luck: random.Random) -> None:
    """A checkpoint of this very ledger, signed by its key."""
    held = json.loads(files["manifest.json"])["size"]
    found = Checkpoint.objects.filter(tenant_id=example()[0]).exclude(size=held)
    note = luck.choice(list(found.order_by("size"))).note.encode()
    files["checkpoint.note"] = files["newest.note"] = note
    bundles.mend(files)


def claim_completeness(files: Files, luck: random.Random) -> None:
    bundles.mend(files, completeness="proven")


def claim_something_else(files: Files, luck: random.Random) -> None:
    bundles.mend(files, completeness="nearly proven")


def drop_redaction(files: Files, luck: random.Random) -> None:
    files["redactions.jsonl"] = b""
    bundles.mend(files)


def alter_redaction(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "redactions") as rows:
        name = luck.choice(["line", "body", "salt", "place", "proof"])
        others = {"place": rows[0]["place"] - 1, "proof": rows[0]["proof"][1:], "salt": "00" * 16}
        rows[0][name] = others.get(name) or rows[0][name].replace("row", "wor")


def make_up_a_redaction(files: Files, luck: random.Random) -> None:
    """A sealed row of another kind as if it had erased."""
    row = bundles.lines(files, "ledger")[2]
    proof = bundles.lines(files, "proofs")[2]
    payload = next(line for line in bundles.lines(files, "payloads") if line["row_id"] == row["id"])
    line = files["ledger.jsonl"].splitlines()[2].decode()
    payload["body"] = chain.canonical(payload["body"])
    bundles.put(files, "redactions", [payload | proof | {"line": line}])
    bundles.mend(files)


TAMPERING: dict[Callable[[Files, random.Random], None], str] = {
    alter_line: UNPROVEN,
    swap_lines: UNPROVEN,
    alter_proof: UNPROVEN,
    shorten_proof: UNPROVEN,
    lengthen_proof: UNPROVEN,
    take_another_proof: UNPROVEN,
    claim_another_place: UNPROVEN,
    drop_proof: "It has no proof.",
    add_proof: "There are more proofs than lines.",
    show_a_row_twice: "Its place is not after that of the line before.",
    insert_a_made_up_row: UNPROVEN,
    take_the_note_of_another_size: UNPROVEN,
    claim_completeness: "The lines end at place",
    claim_something_else: "The manifest is of another ledger or format.",
    drop_redaction: "Its payload is missing and no redaction says why.",
    alter_redaction: "redaction 0: It is not what was sealed.",
    make_up_a_redaction: "redaction 0: It is not what was sealed.",
}


@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_a_doctored_bundle_is_named(
    tamper: Callable[[Files, random.Random], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tenant_id, data = example()
    for trial in TRIALS:
        files = bundles.unpack(data)
        tamper(files, random.Random(trial))
        assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1, trial
        said = capsys.readouterr().out
        assert TAMPERING[tamper] in said, said
        assert verdict(said).startswith("NOT SOUND")


def drop_an_action(files: Files) -> None:
    chosen = bundles.lines(files, "ledger")[2]["action_id"]
    rows = bundles.lines(files, "ledger")
    kept = [at for at, row in enumerate(rows) if row["action_id"] != chosen]
    gone = {row["id"] for row in rows if row["action_id"] == chosen}
    held = bundles.lines(files, "proofs")
    bundles.put(files, "ledger", [rows[at] for at in kept])
    bundles.put(files, "proofs", [held[at] for at in kept])
    for part in ("payloads", "artifacts"):
        left = [row for row in bundles.lines(files, part) if row["row_id"] not in gone]
        bundles.put(files, part, left)
    bundles.mend(files)


def test_an_action_left_out_cannot_be_seen_and_the_verdict_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, data = example()
    files = bundles.unpack(data)
    drop_an_action(files)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 0
    said = verdict(capsys.readouterr().out)
    assert said.startswith("SOUND: 6 rows of")
    assert said.endswith(NOT_CLAIMED)


def test_a_whole_bundle_made_a_filtered_one_no_longer_claims_to_be_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = uuid4()
    bundles.fill(tenant_id, actions=3)
    files = bundles.unpack(bundles.make(tenant_id))
    leaves = [merkle.leaf_hash(text) for text in files["ledger.jsonl"].splitlines()]
    tree = merkle.levels(b"".join(leaves))
    found = [
        {"place": at, "proof": [node.hex() for node in merkle.path(tree, at)]}
        for at in range(len(leaves))
    ]
    bundles.put(files, "proofs", found)
    files["checkpoints.jsonl"] = b""
    bundles.mend(files, completeness="not claimed", filters={})
    drop_an_action(files)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 0
    assert verdict(capsys.readouterr().out).endswith(NOT_CLAIMED)


@pytest.mark.parametrize(
    ("which", "code", "sentence"),
    [
        ("same", 0, "SOUND"),
        ("older", 1, "cannot be compared: ask for a whole bundle that goes on to row"),
        ("newer", 1, "ROLLBACK: "),
        ("forged", 1, "REWRITE: the first"),
    ],
)
def test_a_kept_checkpoint_is_compared_or_named(
    which: str, code: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, on_behalf_of="maya")
    sealed.seal(tenant_id)
    notes = {"older": progress.find_newest_checkpoint(tenant_id)}
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    data = bundles.make(tenant_id, on_behalf_of=frozenset({"maya"}))
    notes["same"] = progress.find_newest_checkpoint(tenant_id)
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    notes["newer"] = progress.find_newest_checkpoint(tenant_id)
    origin = verify.key_of(sealed.key(tenant_id))[0]
    forged = sealed.SIGNER.sign(Tree(origin=origin, size=4, root=bytes(32)))
    kept = {name: found.note for name, found in notes.items() if found} | {"forged": forged}
    assert bundles.check(tmp_path, data, sealed.key(tenant_id), kept[which]) == code
    assert sentence in capsys.readouterr().out


@pytest.mark.parametrize("block", [1, 2, 4, 64])
def test_proofs_are_those_of_the_whole_tree_whatever_the_block(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "BLOCK", block)
    tenant_id, _ = example()
    found = Leaf.objects.filter(tenant_id=tenant_id).order_by("leaf_index")
    leaves = [bytes(leaf.hash) for leaf in found]
    for size in (1, 2, 3, len(leaves) - 1, len(leaves)):
        made = list(proofs.Proofs(tenant_id, size).of(range(size)))
        assert made == [merkle.inclusion_proof(leaves[:size], at) for at in range(size)]


@pytest.mark.parametrize("size", range(1, 18))
def test_the_program_follows_every_proof_to_the_root(size: int) -> None:
    texts = [bytes([number]) for number in range(size)]
    tree = merkle.levels(b"".join(map(merkle.leaf_hash, texts)))
    for place, text in enumerate(texts):
        proof = merkle.path(tree, place)
        assert verify.root_of(text, place, size, proof) == tree[-1]
        assert verify.root_of(text, place, size, [*proof, bytes(32)]) != tree[-1]
        assert not proof or verify.root_of(text, place, size, proof[1:]) != tree[-1]


def test_redactions_behind_a_period_travel_alone(tmp_path: Path) -> None:
    tenant_id = uuid4()
    gone = append_action(tenant_id=tenant_id, payload={"text": "secret"})
    sealed.seal(tenant_id)
    until = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).latest("id").recorded_at
    for _ in range(3):
        append_action(tenant_id=tenant_id, on_behalf_of="omar")
        sealed.seal(tenant_id)
    erasure.erase(Scope(tenant_id=tenant_id, on_behalf_of="omar"), **WHY)
    sealed.seal(tenant_id)
    assert redactions_of(bundles.make(tenant_id, until=until)) == []  # of other rows
    erasure.erase(Scope(tenant_id=tenant_id, action_id=gone), **WHY)
    with pytest.raises(NothingSealed):
        bundles.make(tenant_id, until=until)
    sealed.seal(tenant_id)
    data = bundles.make(tenant_id, until=until)
    held = bundles.lines(bundles.unpack(data), "ledger")
    (redaction,) = redactions_of(data)
    assert str(gone) in {row["action_id"] for row in held}
    assert redaction["place"] > len(held)
    named = json.loads(redaction["body"])["payload"]["rows"]
    assert named == [row.id for row in selectors.recorded(gone)]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    files = bundles.unpack(data)
    drop_redaction(files, random.Random())
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1


def redactions_of(data: bytes) -> list[Any]:
    return bundles.lines(bundles.unpack(data), "redactions")


def test_a_redaction_in_the_bundle_itself_is_not_there_twice() -> None:
    tenant_id, _ = example()
    assert redactions_of(bundles.make(tenant_id)) == []


def test_a_place_is_found_among_others() -> None:
    assert redactions.contains(range(3, 6), 3)
    assert not redactions.contains(range(3, 6), 6)
    assert redactions.contains([1, 5, 9], 9)
    assert not redactions.contains([1, 5, 9], 4)


def test_a_kept_checkpoint_from_after_the_period_is_no_rollback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = uuid4()
    bundles.fill(tenant_id, actions=2)
    until = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).earliest("id").recorded_at
    bundles.fill(tenant_id, actions=2)
    data = bundles.make(tenant_id, until=until)
    newest = progress.find_newest_checkpoint(tenant_id)
    assert newest
    assert newest.note.encode() == bundles.unpack(data)["newest.note"]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id), newest.note) == 0
    assert "ROLLBACK" not in capsys.readouterr().out


def test_the_command_makes_a_filtered_bundle(tmp_path: Path) -> None:
    tenant_id, data = example()
    output = tmp_path / "bundle.zip"
    said = run_command(
        "export_bundle", f"--tenant={tenant_id}", "--user=maya", f"--output={output}"
    )
    assert said.startswith("8 rows are in")
    made = bundles.unpack(output.read_bytes())
    assert made["ledger.jsonl"] == bundles.unpack(data)["ledger.jsonl"]


def test_a_filtered_bundle_is_recorded_with_its_filters() -> None:
    tenant_id, _ = example()
    filters = Filters(tenant_id=tenant_id, status="failed")
    made = Bundle(filters=filters, actor_type="admin", actor_id="operator:olga")
    assert sum(map(len, made))
    started, ended = selectors.recorded(made.id)
    assert (started.status, ended.status) == ("pending", "succeeded")
    assert ended.payload["manifest"]["filters"] == {"status": "failed"}
    assert ended.payload["manifest"]["completeness"] == "not claimed"
