"""Doctored time stamps are named; a bundle says since when its rows are what they are."""

import base64
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from audit.bundle import stamps
from tests.audit import sealed, stamped
from tests.audit.bundle import files as bundles
from tests.audit.bundle.files import Files
from tests.tsa import Authority, running_authority

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authority]:
    with running_authority(tmp_path_factory.mktemp("time_stamps") / "tsa") as running:
        example.cache_clear()
        yield running


@cache
def example(folder: Path) -> tuple[UUID, bytes]:
    tenant_id, other = uuid4(), uuid4()
    bundles.fill(other, actions=1)  # so that there is a path to walk
    return tenant_id, stamped.bundle(tenant_id, Authority(folder))


def check(folder: Path, data: bytes, *certificates: Path) -> int:
    (folder / "bundle.zip").write_bytes(data)
    return stamps.main([str(folder / "bundle.zip"), *map(str, certificates)])


def test_a_bundle_says_since_when_its_rows_are_so(
    authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, data = example(authority.folder)
    assert check(tmp_path, data, authority.certificates) == 0
    first, second, verdict = capsys.readouterr().out.splitlines()
    assert first.startswith("stamped The first 6 rows existed at 20")
    assert second.startswith("stamped The first 12 rows existed at 20")
    assert verdict == "STAMPED: 2 time stamps fit."
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    assert "2 checkpoints are time stamped: stamps.py, beside" in capsys.readouterr().out


def test_without_certificates_it_says_what_was_not_checked(
    authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path, example(authority.folder)[1]) == 0
    assert "Who signed them was not checked" in capsys.readouterr().out


def test_an_authority_that_the_auditor_does_not_trust_is_named(
    authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, data = example(authority.folder)
    with running_authority(tmp_path / "other") as other:
        assert check(tmp_path, data, other.certificates) == 1
    assert "is not signed under your certificates" in capsys.readouterr().out
    (tmp_path / "empty.pem").write_bytes(b"")
    assert check(tmp_path, data, tmp_path / "empty.pem") == 1
    assert check(tmp_path, data, tmp_path / "missing.pem") == 1


def swap_tokens(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        one, other = rows
        one["tokens"], other["tokens"] = other["tokens"], one["tokens"]


def swap_notes(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        one, other = rows
        one["note"], other["note"] = other["note"], one["note"]


def alter_note(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        chosen = luck.choice(rows)
        origin, size, rest = chosen["note"].split("\n", 2)
        chosen["note"] = f"{origin}\n{int(size) + luck.randrange(1, 9)}\n{rest}"


def alter_proof(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        proof = luck.choice(rows)["proof"]
        proof[luck.randrange(len(proof))] = luck.randbytes(32).hex()


def cut_proof(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        luck.choice(rows)["proof"].pop()


def move_place(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        chosen = luck.choice(rows)
        chosen["place"] = luck.choice([-1, chosen["size"], 2**50])


def claim_no_tree(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        luck.choice(rows)["size"] = luck.choice([0, -3, 1.5, None])


def alter_token(files: Files, luck: random.Random) -> None:
    """A byte of what the authority signed or of its signature: openssl sees it."""
    with bundles.edit(files, "anchors") as rows:
        token = luck.choice(luck.choice(rows)["tokens"])
        response = bytearray(base64.b64decode(token["response"]))
        response[-luck.randrange(1, 200)] ^= 1 << luck.randrange(8)
        token["response"] = base64.b64encode(bytes(response)).decode()


def alter_time(files: Files, luck: random.Random) -> None:
    """The hour in the token, as who wants to have been earlier."""
    with bundles.edit(files, "anchors") as rows:
        token = luck.choice(luck.choice(rows)["tokens"])
        response = base64.b64decode(token["response"])
        at = stamps.read_time_stamp(response)[1]
        earlier = response.replace(f"{at:%Y%m%d%H%M%S}".encode(), b"20200101000000")
        assert earlier != response
        token["response"] = base64.b64encode(earlier).decode()


def cut_token(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        token = luck.choice(luck.choice(rows)["tokens"])
        token["response"] = token["response"][: 4 * luck.randrange(1, len(token["response"]) // 4)]


def drop_tokens(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "anchors") as rows:
        luck.choice(rows)["tokens"] = []


TAMPERING: dict[Callable[[Files, random.Random], None], str] = {
    swap_tokens: "is about something else",
    swap_notes: "is about something else",
    alter_note: "is about something else",
    alter_proof: "is about something else",
    cut_proof: "is about something else",
    move_place: "The time stamps cannot be read",
    claim_no_tree: "The time stamps cannot be read",
    alter_token: "is not signed under your certificates",
    alter_time: "is not signed under your certificates",
    cut_token: "The time stamps cannot be read",
    drop_tokens: "has no time stamp",
}


@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_a_doctored_time_stamp_is_named(
    tamper: Callable[[Files, random.Random], None],
    authority: Authority,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, data = example(authority.folder)
    for trial in range(8):
        files = bundles.unpack(data)
        tamper(files, random.Random(trial))
        assert check(tmp_path, bundles.pack(files), authority.certificates) == 1, trial
        said = capsys.readouterr().out
        assert TAMPERING[tamper] in said, said
        assert "\nNOT STAMPED" in said


def test_rows_that_were_rewritten_do_not_fit_what_was_stamped(
    authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By somebody who has database and signing key: verify.py holds the rows to the stamped
    checkpoint. Leaving the anchors out leaves a bundle of which nothing says since when."""
    tenant_id, data = example(authority.folder)
    files = bundles.unpack(data)
    rows = bundles.lines(files, "ledger")
    rows[3]["status"] = "failed"
    bundles.put(files, "ledger", rows)
    bundles.sign_again(files, sealed.SIGNER)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1
    assert "Rows from place 0 to 5 are not what was sealed." in capsys.readouterr().out
    files["anchors.jsonl"] = b""
    bundles.mend(files)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 0
    capsys.readouterr()
    assert check(tmp_path, bundles.pack(files)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "There are no time stamps."


def test_the_program_in_the_bundle_runs_alone(authority: Authority, tmp_path: Path) -> None:
    _, data = example(authority.folder)
    output = bundles.run_alone(tmp_path, data, "stamps.py", str(authority.certificates))
    assert "\nSTAMPED: 2 time stamps fit." in output


def test_the_program_is_one_file_of_the_standard_library() -> None:
    imported, length = bundles.read_program(stamps)
    assert imported <= sys.stdlib_module_names
    assert length <= 200


def test_it_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert stamps.main([]) == 2
    assert "python stamps.py BUNDLE.zip [CERTIFICATES.pem]" in capsys.readouterr().out


@pytest.mark.parametrize(
    "data", [b"", b"\x30", b"\x30\x05\x01", b"\x30\x84\xff\xff\xff\xff", b"0" * 99]
)
def test_what_is_no_der_is_refused(data: bytes) -> None:
    with pytest.raises(stamps.UNREADABLE):
        stamps.read_time_stamp(data)
