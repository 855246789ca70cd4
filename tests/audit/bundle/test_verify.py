"""A doctored bundle is named as such, whatever was done to it; a clean one never is."""

import ast
import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit import chain, export, notes, sealing, selectors
from audit.bundle import verify
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.bundle import rotations
from tests.audit.bundle.files import Files
from tests.audit.entries import append_action
from tests.audit.tampering import switched_off, undone

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

TRIALS = range(50)
CLEAN, LEDGERS = 1000, 10


# A signature in pure Python takes its time; each is looked at once.
is_signed = cache(verify.is_signed)


@pytest.fixture(autouse=True)
def _each_signature_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "is_signed", is_signed)


@cache
def example() -> tuple[UUID, bytes]:
    tenant_id = uuid4()
    bundles.fill(tenant_id)
    return tenant_id, bundles.make(tenant_id)


def swap(rows: list[Any], luck: random.Random) -> None:
    one, other = luck.sample(range(len(rows)), 2)
    rows[one], rows[other] = rows[other], rows[one]


def change_field(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    row = luck.choice(rows)
    row[luck.choice(["status", "decision", "actor_id", "recorded_at", "trigger"])] = "other"
    bundles.put(files, "ledger", rows)


def flip_bit(files: Files, luck: random.Random) -> None:
    part = luck.choice(["ledger.jsonl", "payloads.jsonl", "artifacts.jsonl", "checkpoint.note"])
    files[part] = bundles.altered_bit(files[part], luck.randrange(len(files[part]) - 1))


def drop_row(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    rows.pop(luck.randrange(len(rows)))
    bundles.put(files, "ledger", rows)


def drop_row_and_mend(files: Files, luck: random.Random) -> None:
    drop_row(files, luck)
    bundles.mend(files, size=len(bundles.lines(files, "ledger")))


def drop_action_and_mend(files: Files, luck: random.Random) -> None:
    chosen = luck.choice(bundles.lines(files, "ledger"))["action_id"]
    gone = {row["id"] for row in bundles.lines(files, "ledger") if row["action_id"] == chosen}
    for part, name in (("ledger", "id"), ("payloads", "row_id"), ("artifacts", "row_id")):
        rows = [row for row in bundles.lines(files, part) if row[name] not in gone]
        bundles.put(files, part, rows)
    bundles.mend(files, size=len(bundles.lines(files, "ledger")))


def empty_and_mend(files: Files, luck: random.Random) -> None:
    size = len(bundles.lines(files, "ledger"))
    for part in ("ledger", "payloads", "artifacts", "checkpoints"):
        files[f"{part}.jsonl"] = b""
    left = [luck.randbytes(32).hex() for _ in range(size.bit_count())]
    bundles.mend(files, first=size, left=left, since="2026-01-01T00:00:00.000000Z")


def insert_row(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    rows.insert(luck.randrange(len(rows)), luck.choice(rows) | {"id": 10**9})
    bundles.put(files, "ledger", rows)


def swap_rows(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    swap(rows, luck)
    bundles.put(files, "ledger", rows)


def cut_tail(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    bundles.put(files, "ledger", rows[: luck.randrange(1, len(rows))])


def cut_head_and_mend(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    bundles.put(files, "ledger", rows[4:])
    bundles.mend(files, first=4, left=[luck.randbytes(32).hex()])


def change_payload(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "payloads")
    luck.choice(rows)["body"]["resource_id"] += "0"
    bundles.put(files, "payloads", rows)
    bundles.mend(files)


def add_a_blank_to_a_payload(files: Files, luck: random.Random) -> None:
    rows = files["payloads.jsonl"].splitlines(keepends=True)
    at = luck.randrange(len(rows))
    place = luck.choice([b"{", b',"row_id"', b',"salt"', b"}\n"])
    cut = rows[at].rindex(place) if place != b"{" else 1
    rows[at] = rows[at][:cut] + b" " + rows[at][cut:]
    files["payloads.jsonl"] = b"".join(rows)
    bundles.mend(files)


def move_salt_into_the_body(files: Files, luck: random.Random) -> None:
    """The same bytes are hashed, and the body would be another."""
    rows = bundles.lines(files, "payloads")
    row = luck.choice(rows)
    row["salt"] += "7b"
    bundles.put(files, "payloads", rows)
    text = chain.canonical_bytes(row)
    files["payloads.jsonl"] = files["payloads.jsonl"].replace(text, text.replace(b"{", b"", 2))
    bundles.mend(files)


def add_a_blank_line(files: Files, luck: random.Random) -> None:
    name = luck.choice(["ledger.jsonl", "payloads.jsonl", "artifacts.jsonl"])
    rows = files[name].splitlines(keepends=True)
    rows.insert(luck.randrange(len(rows)), b"\n")
    files[name] = b"".join(rows)
    bundles.mend(files)


def cut_off_the_last_line_break(files: Files, luck: random.Random) -> None:
    name = luck.choice(["ledger.jsonl", "payloads.jsonl"])
    files[name] = files[name].removesuffix(b"\n")
    bundles.mend(files)


def change_salt(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "payloads")
    luck.choice(rows)["salt"] = luck.randbytes(16).hex()
    bundles.put(files, "payloads", rows)
    bundles.mend(files)


def swap_payloads(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "payloads")
    one, other = luck.sample(rows, 2)
    for name in ("salt", "body"):
        one[name], other[name] = other[name], one[name]
    bundles.put(files, "payloads", rows)
    bundles.mend(files)


def reorder_payloads(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "payloads")
    swap(rows, luck)
    bundles.put(files, "payloads", rows)
    bundles.mend(files)


def hide_payload(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "payloads")
    rows.pop(luck.randrange(len(rows)))
    bundles.put(files, "payloads", rows)
    bundles.mend(files)


def add_payload(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "payloads")
    place = luck.randrange(len(rows))
    rows.insert(place, rows[place] | {"body": {}})
    bundles.put(files, "payloads", rows)
    bundles.mend(files)


def change_artifact(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "artifacts")
    row, name = luck.choice(rows), luck.choice(["external_id", "kind", "provider", "url", "digest"])
    (row if name == "digest" else row["artifact"])[name] = "0" * 64
    bundles.put(files, "artifacts", rows)
    bundles.mend(files)


def drop_artifact(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "artifacts")
    rows.pop(luck.randrange(len(rows)))
    bundles.put(files, "artifacts", rows)
    bundles.mend(files)


def change_policy(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "policies")
    luck.choice(rows)["body"] = '{"rules":"other"}'
    bundles.put(files, "policies", rows)
    bundles.mend(files)


def drop_policy(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "policies")
    rows.pop(luck.randrange(len(rows)))
    bundles.put(files, "policies", rows)
    bundles.mend(files)


def sign_with_a_foreign_key(files: Files, luck: random.Random) -> None:
    change_field(files, luck)
    bundles.sign_again(files, rotations.FOREIGN)


def claim_another_size(files: Files, luck: random.Random) -> None:
    note = files["checkpoint.note"].decode()
    size = note.split("\n")[1]
    files["checkpoint.note"] = note.replace(f"\n{size}\n", f"\n{luck.randrange(19, 99)}\n").encode()


def name_another_tenant(files: Files, luck: random.Random) -> None:
    bundles.mend(files, tenant_id=str(UUID(int=luck.getrandbits(128))))


def change_a_file_beside(files: Files, luck: random.Random) -> None:
    files[luck.choice(["verify.py", "README.txt", "keys.json"])] += b"\n"


def smuggle_a_file_in(files: Files, luck: random.Random) -> None:
    files[f"ledger-{luck.random()}.csv"] = b"looks official"


def take_a_file_out(files: Files, luck: random.Random) -> None:
    del files[luck.choice(sorted(files))]


TAMPERING: dict[Callable[[Files, random.Random], None], str] = {
    change_field: "are not what was sealed",
    flip_bit: "FINDING",
    drop_row: "are not what was sealed|The lines end at place",
    drop_row_and_mend: "The lines end at place",
    drop_action_and_mend: "The lines end at place",
    empty_and_mend: "The lines end at place",
    insert_row: "are not what was sealed",
    swap_rows: "are not what was sealed",
    cut_tail: "The lines end at place",
    cut_head_and_mend: "Rows of the period may be missing",
    change_payload: "Its payload is not the one that was sealed",
    add_a_blank_to_a_payload: "Its payload is not the one|lines of payloads.jsonl cannot be read",
    move_salt_into_the_body: "1 lines of payloads.jsonl cannot be read",
    add_a_blank_line: "cannot be read",
    cut_off_the_last_line_break: "ends within a line",
    change_salt: "Its payload is not the one that was sealed",
    swap_payloads: "Its payload is not the one that was sealed",
    reorder_payloads: "Its payload is missing and no redaction says why",
    hide_payload: "Its payload is missing and no redaction says why",
    add_payload: "Its payload is not the one that was sealed",
    change_artifact: "Its artifacts are not those that",
    drop_artifact: "Its artifacts are not those that were sealed",
    change_policy: "The policy that decided it is missing or altered",
    drop_policy: "The policy that decided it is missing or altered",
    sign_with_a_foreign_key: "not signed by KEY",
    claim_another_size: "not signed by KEY",
    name_another_tenant: "another ledger",
    rotations.forge_a_rotation: "Rotation 1 in keys.json is not signed by both of its keys",
    rotations.alter_a_rotation: "Rotation 1 in keys.json is not signed by both of its keys",
    rotations.break_the_chain_of_keys: "Rotation 2 in keys.json does not follow",
    rotations.drop_a_rotation: "not signed by KEY",
    rotations.turn_back_to_a_key: "Rotation 2 in keys.json does not follow",
    rotations.bring_the_keys_of_another_ledger: "The rotations in keys.json are not about KEY",
    change_a_file_beside: "is not the file that the manifest describes",
    smuggle_a_file_in: "other files than it should",
    take_a_file_out: "FINDING",
}


@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_a_doctored_bundle_is_named(
    tamper: Callable[[Files, random.Random], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tenant_id, data = example()
    key = sealed.key(tenant_id)
    for trial in TRIALS:
        files = bundles.unpack(data)
        before = dict(files)
        luck = random.Random(trial)
        while files == before:  # a swap of equals alters nothing
            tamper(files, luck)
        assert bundles.check(tmp_path, bundles.pack(files), key) == 1, trial
        said = capsys.readouterr().out
        assert any(sentence in said for sentence in TAMPERING[tamper].split("|")), said
        assert "\nNOT SOUND" in said


@pytest.mark.slow
@pytest.mark.parametrize("number", range(LEDGERS))
def test_no_clean_bundle_raises_an_alarm(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any periods of a ledger that grows, of several ledgers."""
    luck, tenant_id, begun = random.Random(number), uuid4(), datetime.now(UTC)
    kept: list[str] = []
    for _ in range(5):
        bundles.fill(tenant_id, actions=2)
        newest = sealing.newest(tenant_id)
        assert newest
        kept.append(newest.note)
        span = (datetime.now(UTC) - begun).total_seconds()
        for _ in range(CLEAN // LEDGERS // 5):
            one, other = sorted(begun + timedelta(seconds=luck.uniform(-1, span)) for _ in "ab")
            period = luck.choice(
                [{}, {"until": other}, {"since": one}, {"since": one, "until": other}]
            )
            data = bundles.make(tenant_id, **period)
            # A checkpoint from before a later beginning cannot be compared, which it says.
            older = [] if "since" in period or "until" in period else [luck.choice(kept)]
            assert bundles.check(tmp_path, data, sealed.key(tenant_id), *older) == 0, (
                capsys.readouterr().out
            )


@pytest.mark.parametrize("trial", range(50))
def test_a_flipped_bit_of_the_zip_itself_never_goes_unseen(
    trial: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, or it changed nothing that the zip holds (a date, a padding, the checksum of a
    file that is proven line by line)."""
    tenant_id, data = example()
    broken = bundles.altered_bit(data, random.Random(trial).randrange(len(data)))
    if bundles.check(tmp_path, broken, sealed.key(tenant_id)) == 0:
        monkeypatch.setattr(zipfile.ZipExtFile, "_update_crc", lambda *_: None)
        assert bundles.unpack(broken) == bundles.unpack(data)


def test_every_bit_of_the_zips_directory_counts_or_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What says where the proven files lie: the end of the zip, and each file's own header."""
    tenant_id, data = example()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        heads = [archive.getinfo(name).header_offset for name in verify.PROVEN]
    places = [at for head in heads for at in range(head, head + 60)]
    places += range(len(data) - 400, len(data))
    for at in places:
        broken = bundles.altered_bit(data, at)
        if bundles.check(tmp_path, broken, sealed.key(tenant_id)) == 0:
            with monkeypatch.context() as patched:
                patched.setattr(zipfile.ZipExtFile, "_update_crc", lambda *_: None)
                assert bundles.unpack(broken) == bundles.unpack(data), at


def test_a_bundle_that_was_packed_again_is_sound(tmp_path: Path) -> None:
    """As who unpacks it and packs it with another program has it."""
    tenant_id, data = example()
    again = io.BytesIO()
    with zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in bundles.unpack(data).items():
            archive.writestr(name, content)
    assert bundles.check(tmp_path, again.getvalue(), sealed.key(tenant_id)) == 0


@pytest.mark.parametrize("trial", TRIALS)
def test_a_stolen_key_is_found_by_whoever_kept_a_checkpoint(
    trial: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, data = example()
    files = bundles.unpack(data)
    kept = files["checkpoint.note"].decode()
    change_field(files, random.Random(trial))
    bundles.sign_again(files, sealed.SIGNER)
    forged = bundles.pack(files)
    assert bundles.check(tmp_path, forged, sealed.key(tenant_id), kept) == 1
    assert "REWRITE: the first 18 rows are not those of" in capsys.readouterr().out
    # Nothing else can show it: that is why checkpoints are given away.
    assert bundles.check(tmp_path, forged, sealed.key(tenant_id)) == 0


@pytest.mark.slow
def test_an_older_state_is_found_by_whoever_kept_a_newer_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, older = uuid4(), list[bytes]()
    for trial in TRIALS:
        bundles.fill(tenant_id, actions=1 + trial % 3)
        older.append(bundles.make(tenant_id))
    sealed.seal(tenant_id)
    newest, key = sealing.newest(tenant_id), sealed.key(tenant_id)
    assert newest
    present = bundles.make(tenant_id)
    for trial, data in enumerate(older):
        assert bundles.check(tmp_path, data, key, newest.note) == 1, trial
        assert "ROLLBACK" in capsys.readouterr().out
        kept = bundles.unpack(data)["checkpoint.note"].decode()
        assert bundles.check(tmp_path, present, key, kept) == 0, trial


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE audit_action SET status = 'failed' WHERE id = %s", "not what was sealed"),
        ("DELETE FROM audit_action WHERE id = %s", "Its row is missing and no retention"),
        (
            "UPDATE audit_payload SET box = NULL, salt = '', body = '{}' WHERE row_id = %s",
            "payload is not the one",
        ),
        ("UPDATE audit_payload SET box = '' WHERE row_id = %s", "payload is not the one"),
        ("DELETE FROM audit_payload WHERE row_id = %s", "payload is missing"),
        ("UPDATE audit_artifact SET external_id = 'x' WHERE row_id = %s", "artifacts are not"),
        ("DELETE FROM audit_artifact WHERE row_id = %s", "artifacts are not"),
    ],
)
def test_what_the_owner_of_the_database_changes_shows_in_the_next_bundle(
    statement: str,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant_id = uuid4()
    rows = [selectors.recorded(append_action(tenant_id=tenant_id))[1].id for _ in TRIALS]
    sealed.seal(tenant_id)
    monkeypatch.setattr(export, "record", lambda **_: None)  # not in this transaction
    key = sealed.key(tenant_id)
    with switched_off():
        for row in rows:
            with undone(statement, row):
                data = bundles.make(tenant_id)
            assert bundles.check(tmp_path, data, key) == 1, row
            assert sentence in capsys.readouterr().out
        assert bundles.check(tmp_path, bundles.make(tenant_id), key) == 0


@pytest.mark.parametrize("actions", [1, 2, 3, 7])
def test_a_clean_bundle_is_sound_and_lists_what_is_open(
    actions: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = uuid4()
    bundles.fill(tenant_id, actions=actions)
    left_open = append_action(tenant_id=tenant_id, status="pending")
    sealed.seal(tenant_id)
    assert bundles.check(tmp_path, bundles.make(tenant_id), sealed.key(tenant_id)) == 0
    said = capsys.readouterr().out
    assert f"attempt 1 of {left_open} has no outcome here." in said
    assert said.splitlines()[-1] == (
        f"SOUND: places 0 to {3 * actions} of remit.example/ledger/{tenant_id}. "
        "None between them is missing or altered."
    )


def test_the_program_in_the_bundle_runs_alone_and_offline(tmp_path: Path) -> None:
    tenant_id, data = example()
    (tmp_path / "bundle.zip").write_bytes(data)
    (tmp_path / "verify.py").write_bytes(bundles.unpack(data)["verify.py"])
    (tmp_path / "key.txt").write_text(sealed.key(tenant_id))
    done = subprocess.run(
        [sys.executable, "-I", "verify.py", "bundle.zip", "key.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nSOUND: " in done.stdout


def test_the_program_is_one_short_file_of_the_standard_library() -> None:
    source = Path(verify.__file__).read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names
    assert len(source.splitlines()) <= 600


def test_it_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([]) == 2
    assert "python verify.py BUNDLE.zip KEY" in capsys.readouterr().out


@pytest.mark.parametrize("key", ["a+b+c", "nowhere.txt", "a+00000000+AAAA"])
def test_a_key_that_is_none_is_no_verdict_of_soundness(key: str, tmp_path: Path) -> None:
    assert bundles.check(tmp_path, example()[1], key) == 1


@pytest.mark.parametrize(
    ("public", "message", "signature"),
    [  # RFC 8032, 7.1, tests 1 and 3
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e"
            "39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67"
            "f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ],
)
def test_signatures_of_the_rfc_verify(public: str, message: str, signature: str) -> None:
    key, text, signed = map(bytes.fromhex, (public, message, signature))
    assert verify.is_signed(key, text, signed)
    for other in (b"\1" + key, bundles.altered_bit(key, 0)):
        assert not verify.is_signed(other, text, signed)
    for other in (b"\1" + signed, bundles.altered_bit(signed, 0), bundles.altered_bit(signed, 40)):
        assert not verify.is_signed(key, text, other)
    assert not verify.is_signed(key, text + b"\0", signed)


@pytest.mark.parametrize("trial", range(20))
def test_signatures_of_another_implementation_verify(trial: int) -> None:
    luck = random.Random(trial)
    private = Ed25519PrivateKey.from_private_bytes(luck.randbytes(32))
    public, message = private.public_key().public_bytes_raw(), luck.randbytes(trial * 7)
    signature = private.sign(message)
    assert verify.is_signed(public, message, signature)
    assert not verify.is_signed(public, message + b"\0", signature)
    larger = int.from_bytes(signature[32:], "little") + verify.Q
    if larger < 2**256:  # the same number again, which RFC 8032 forbids
        again = signature[:32] + larger.to_bytes(32, "little")
        assert not verify.is_signed(public, message, again)


def test_a_note_of_another_implementation_is_read() -> None:
    """The key of golang.org/x/mod/sumdb/note's example."""
    key = verify.key_of("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
    assert (key[0], verify.key_id(*key)) == ("PeterNeumann", bytes.fromhex("c74f20a3"))
    tree = notes.Tree(origin="a.example", size=7, root=bytes(range(32)))
    note = sealed.SIGNER.sign(tree)
    name, mine = verify.key_of(sealed.SIGNER.verifier_key("a.example"))
    assert verify.read_note(note, name, [key[1], mine]) == (7, tree.root, mine)


def test_the_manifest_says_what_is_in_the_bundle() -> None:
    tenant_id, data = example()
    manifest = json.loads(bundles.unpack(data)["manifest.json"])
    assert manifest["format"] == verify.FORMAT
    assert manifest["counts"]["ledger"] == manifest["size"] == 18
    assert manifest["tenant_id"] == str(tenant_id)
