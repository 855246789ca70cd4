"""Bundles as the files in them, to look into and to tamper with."""

import ast
import io
import itertools
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock
from uuid import UUID

from audit.bundle import verify
from audit.bundle.contents import Bundle
from audit.contracts import Filters
from audit.ledger import chain, ledger, policies
from audit.seals import merkle, notes
from audit.seals.notes import Signer
from tests.audit import sealed
from tests.audit.entries import append_action, entry

Files = dict[str, bytes]
ROTATED = datetime(2026, 11, 20, 22, tzinfo=UTC)
# A signature in pure Python takes its time; each is checked once.
is_signed = cache(verify.is_signed)


def fill(tenant_id: UUID, *, actions: int = 6) -> None:
    """Actions of several kinds, decided by two policies, sealed in several seals."""
    digests = [keep_policy(tenant_id, number) for number in range(2)]
    for number in range(actions):
        append_action(
            tenant_id=tenant_id,
            resource_id=f"mail-{number}",
            payload={"text": f'“{number}”\n\u2028\x00"'},
        )
        blocked = {"phase": "blocked", "status": "blocked", "decision": "blocked"}
        ledger.append(entry(tenant_id=tenant_id, policy_digest=digests[number % 2], **blocked))
        sealed.seal(tenant_id)


def keep_policy(tenant_id: UUID, number: int) -> str:
    body = chain.canonical_bytes({"rules": number}).decode()
    digest = verify.digest_of(body.encode()).decode()
    policies.store(tenant_id=tenant_id, digest=digest, body=body)
    return digest


def make(tenant_id: UUID, **filters: Any) -> bytes:
    chosen = Filters(tenant_id=tenant_id, **filters)
    return b"".join(Bundle(filters=chosen, actor_type="admin", actor_id="operator:olga"))


def unpack(data: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(files: Files) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def lines(files: Files, part: str) -> list[Any]:
    return [json.loads(line) for line in files[f"{part}.jsonl"].splitlines()]


def put(files: Files, part: str, rows: list[Any]) -> None:
    files[f"{part}.jsonl"] = b"".join(chain.canonical_bytes(row) + b"\n" for row in rows)


@contextmanager
def edit(files: Files, part: str) -> Iterator[list[Any]]:
    """The rows of one file, to change in place. The manifest fits them afterwards."""
    rows = lines(files, part)
    yield rows
    put(files, part, rows)
    mend(files)


def mend(files: Files, **changes: Any) -> None:
    """A manifest that fits the files again, as a forger would make it."""
    manifest = json.loads(files["manifest.json"]) | changes
    manifest["files"] = {name: verify.digest_of(files[name]).decode() for name in manifest["files"]}
    files["manifest.json"] = chain.canonical_bytes(manifest) + b"\n"


def sign_again(files: Files, signer: Signer) -> None:
    """Checkpoints and manifest over the lines as they stand now, signed by `signer`."""
    origin = json.loads(files["manifest.json"])["origin"]
    texts = files["ledger.jsonl"].splitlines()
    tree = merkle.tree_root([merkle.leaf_hash(text) for text in texts])
    note = signer.sign(notes.Tree(origin=origin, size=len(texts), root=tree))
    files["checkpoint.note"] = files["newest.note"] = note.encode()
    files["checkpoints.jsonl"] = b""
    mend(files, size=len(texts))


def renumber(files: Files, *, by: int) -> list[int]:
    """Other row ids, further on, in rows, in what belongs to them and in erasures; the ids that
    the rows have now. Canonical JSON holds no such number, so it is written otherwise."""
    ids, told = [], {}
    for row in lines(files, "ledger"):
        ids.append(row["id"] + by)
        told[row["id"]] = row | {"id": ids[-1]}
    for part in ("payloads", "artifacts"):
        held = lines(files, part)
        for line in held:
            row = told[line["row_id"]]
            line["row_id"] = row["id"]
            if part == "payloads" and row["phase"] == "redaction":
                payload = line["body"]["payload"]
                payload["rows"] = [row_id + by for row_id in payload["rows"]]
                body = json.dumps(line["body"], **verify.CANONICAL).encode()
                row["payload_commitment"] = chain.payload_commitment(
                    bytes.fromhex(line["salt"]), body
                )
        files[f"{part}.jsonl"] = written(held)
    files["ledger.jsonl"] = written(told.values())
    return ids


def written(values: Iterable[Any]) -> bytes:
    return "".join(json.dumps(one, **verify.CANONICAL) + "\n" for one in values).encode()


def rotate(files: Files, *signers: Signer, at: datetime = ROTATED) -> None:
    """As if each of these had named the next one, the last had signed the checkpoint, and the
    bundle said so."""
    origin = json.loads(files["manifest.json"])["origin"]
    sign_again(files, signers[-1])
    keys = json.loads(files["keys.json"])
    keys["keys"] = [signer.verifier_key(origin) for signer in signers]
    keys["rotations"] = [
        rotation(origin, old, new, at=at) for old, new in itertools.pairwise(signers)
    ]
    put_keys(files, keys)


def put_keys(files: Files, keys: dict[str, Any]) -> None:
    files["keys.json"] = chain.canonical_bytes(keys) + b"\n"
    mend(files)


def rotation(origin: str, old: Signer, new: Signer, *, at: datetime = ROTATED) -> str:
    name = notes.rotations_name(origin.rpartition("/")[0])
    said = notes.Rotation(name=name, old=old.public, new=new.public, at=at)
    return old.sign(said) + new.signature(said)


def check(folder: Path, data: bytes, key: str, *older: str) -> int:
    """Run verify.py on the bundle; `older` are checkpoints kept from before."""
    (folder / "bundle.zip").write_bytes(data)
    kept = []
    for number, note in enumerate(older):
        kept.append(folder / f"kept-{number}.note")
        kept[-1].write_text(note, encoding="utf-8")
    with mock.patch.object(verify, "is_signed", is_signed):
        return verify.main([str(folder / "bundle.zip"), key, *map(str, kept)])


def run_alone(folder: Path, data: bytes, program: str, *arguments: str) -> str:
    """What a program out of the bundle prints about it, in an interpreter that knows the
    standard library alone."""
    (folder / "bundle.zip").write_bytes(data)
    (folder / program).write_bytes(unpack(data)[program])
    done = subprocess.run(
        [sys.executable, "-I", program, "bundle.zip", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def read_program(module: ModuleType) -> tuple[set[str], int]:
    """The packages that a program imports, and how many lines it has."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}, len(source.splitlines())


def altered_bit(text: bytes, place: int) -> bytes:
    return text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]
