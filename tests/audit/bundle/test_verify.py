"""A doctored bundle is named as such, whatever was done to it; a clean one never is."""

import io
import json
import random
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit.bundle import verify
from audit.formats import export
from audit.ledger import selectors
from audit.seals import notes, progress
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.bundle.files import Files
from tests.audit.bundle.tampering import TAMPERING, change_field
from tests.audit.entries import append_action
from tests.audit.tampering import switched_off, undone
from tests.long import times

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

TRIALS = range(times(10, long=50))
CLEAN, LEDGERS = times(100, long=1000), times(2, long=10)


@cache
def example() -> tuple[UUID, bytes]:
    tenant_id = uuid4()
    bundles.fill(tenant_id)
    return tenant_id, bundles.make(tenant_id)


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
        newest = progress.find_newest_checkpoint(tenant_id)
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
def test_a_stolen_key_is_found_with_a_checkpoint_from_before(
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
def test_an_older_state_is_found_with_a_newer_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, older = uuid4(), list[bytes]()
    for trial in TRIALS:
        bundles.fill(tenant_id, actions=1 + trial % 3)
        older.append(bundles.make(tenant_id))
    sealed.seal(tenant_id)
    newest, key = progress.find_newest_checkpoint(tenant_id), sealed.key(tenant_id)
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
        ("UPDATE audit_action SET status = 'failed' WHERE id = %s", "not the row that was sealed"),
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
    (tmp_path / "key.txt").write_text(sealed.key(tenant_id))
    assert "\nSOUND: " in bundles.run_alone(tmp_path, data, "verify.py", "key.txt")


def test_the_program_is_one_short_file_of_the_standard_library() -> None:
    imported, length = bundles.read_program(verify)
    assert imported <= sys.stdlib_module_names
    assert length <= 860


def test_it_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([]) == 2
    assert "python verify.py BUNDLE.zip KEY" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        *((key, "KEY is no whole key of the form") for key in ("a+b+c", "a+00000000+AAAA", "++")),
        (f"a+00000000+{'A' * 44}", "KEY is no whole key of the form"),
        ("nowhere.txt", "No such file or directory: 'nowhere.txt'"),
    ],
)
def test_without_a_key_nothing_is_checked(
    key: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bundles.check(tmp_path, example()[1], key) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("Nothing was checked: ")
    assert sentence in line


def test_without_the_bundle_or_a_kept_checkpoint_nothing_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, data = example()
    (tmp_path / "bundle.zip").write_bytes(data)
    bundle, key = str(tmp_path / "bundle.zip"), sealed.key(tenant_id)
    for arguments in (["nowhere.zip", key], [str(tmp_path), key], [bundle, key, "nowhere.note"]):
        assert verify.main(arguments) == 2
        assert capsys.readouterr().out.startswith("Nothing was checked: [Errno ")


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
