import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from audit.bundle import verify
from audit.seals import notes
from tests.audit.vectors import VECTORS

# RFC 8032, 7.1, test 1.
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
SIGNER = notes.Signer(SEED)
OTHER = notes.Signer(bytes(32))
TREE = notes.Tree(origin="ledger.example/a", size=3, root=bytes(range(32)))
KEY = SIGNER.verifier_key(TREE.origin)


def test_the_public_key_is_that_of_the_rfc() -> None:
    assert SIGNER.public.hex() == PUBLIC


def test_a_note_of_another_implementation_verifies() -> None:
    example = VECTORS["note"]
    name, public = notes.read_key(example["key"])
    text, signature = example["text"].removesuffix("\n"), example["signature"]
    assert notes.verified(signature, text, name, public)
    assert not notes.verified(signature, f"{text} ", name, public)
    _, public = verify.key_of(example["key"])
    signed = base64.b64decode(signature)[4:]
    assert verify.is_signed(public, example["text"].encode(), signed)
    assert not verify.is_signed(public, text.encode(), signed)


def test_a_note_has_the_lines_of_a_checkpoint_and_reads_back() -> None:
    note = SIGNER.sign(TREE)
    assert note.startswith(f"ledger.example/a\n3\n{base64.b64encode(TREE.root).decode()}\n\n— ")
    assert note.endswith("\n")
    assert notes.read(note, verifier_key=KEY) == TREE


@pytest.mark.parametrize("place", range(20, 60))
def test_an_altered_note_is_refused(place: int) -> None:
    note = SIGNER.sign(TREE)
    altered = f"{note[:place]}{'A' if note[place] != 'A' else 'B'}{note[place + 1 :]}"
    with pytest.raises(notes.NotANote):
        notes.read(altered, verifier_key=KEY)


def test_the_note_of_another_key_or_ledger_is_refused() -> None:
    for stranger in (
        notes.Signer(bytes(32)).sign(TREE),
        SIGNER.sign(notes.Tree(origin="ledger.example/b", size=3, root=TREE.root)),
    ):
        with pytest.raises(notes.NotANote, match="not signed by this key"):
            notes.read(stranger, verifier_key=KEY)


def test_signatures_of_others_beside_ours_do_no_harm() -> None:
    note = f"{SIGNER.sign(TREE)}— witness.example AAAA\n"
    assert notes.read(note, verifier_key=KEY) == TREE


@pytest.mark.parametrize(
    "key",
    ["", "name", "name+1+!", "name+00000000+AAAA", KEY[:-4] + "AAA=", KEY.replace("/a", "/b")],
)
def test_a_key_that_was_not_copied_whole_is_refused(key: str) -> None:
    with pytest.raises(notes.NotANote, match="key"):
        notes.read_key(key)


@pytest.mark.parametrize("text", ["", "short", "!" * 44, base64.b64encode(bytes(31)).decode()])
def test_a_signing_key_of_another_form_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(ValueError, match="openssl rand -base64 32"):
        notes.signers(text)
    encoded, other = (base64.b64encode(seed).decode() for seed in (SEED, bytes(32)))
    (signer,) = notes.signers(encoded)
    assert signer.public.hex() == PUBLIC
    assert [one.public for one in notes.signers(f"{encoded}, {other}")] == [
        SIGNER.public,
        OTHER.public,
    ]
    with pytest.raises(ValueError, match="two of them, with a comma between"):
        notes.signers(f"{encoded},{other},{encoded}")


def rotation(**changes: Any) -> notes.Rotation:
    said: dict[str, Any] = {
        "name": notes.rotations_name("ledger.example"),
        "old": SIGNER.public,
        "new": OTHER.public,
        "at": datetime(2026, 11, 21, 22, tzinfo=UTC),
    }
    return notes.Rotation(**said | changes)


def test_a_rotation_is_signed_by_both_of_its_keys_and_reads_back() -> None:
    said = rotation()
    note = SIGNER.sign(said) + OTHER.signature(said)
    assert note.startswith("ledger.example/keys\n")
    assert "\n2026-11-21T22:00:00.000000Z\n\n— ledger.example/keys " in note
    assert notes.read_rotation(note, name="ledger.example/keys") == said
    turned = OTHER.sign(said) + SIGNER.signature(said)
    assert notes.read_rotation(turned, name="ledger.example/keys") == said


@pytest.mark.parametrize(
    "note",
    [
        SIGNER.sign(rotation()),
        OTHER.sign(rotation()),
        SIGNER.sign(rotation()) * 2,
        SIGNER.sign(rotation()) + OTHER.signature(rotation(old=bytes(32))),
        SIGNER.sign(rotation(new=bytes(32))) + OTHER.signature(rotation(new=bytes(32))),
        SIGNER.sign(rotation(name="b/keys")) + OTHER.signature(rotation(name="b/keys")),
        SIGNER.sign(TREE) + OTHER.signature(TREE),
        "",
    ],
)
def test_a_rotation_that_one_key_did_not_sign_is_refused(note: str) -> None:
    with pytest.raises(notes.NotANote):
        notes.read_rotation(note, name="ledger.example/keys")
