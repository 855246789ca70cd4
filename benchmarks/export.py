"""What exports cost: bundles, their verification, and each format.

    make bench NAME=export          100,000 rows; ROWS=1000000 makes it a million,
                                    STEPS="floor csv bundle" leaves the other steps out

CPU seconds, ours and the database server's together, are little disturbed by other work on
the machine; wall time means something only without any. The floors are of the same run: COPY of
the same columns as CSV for the formats, SHA-256 of what is checked for verify.py. Each step is a
process of its own; its memory is the peak above what it was when the step began. Goals are about
what was measured, that of a bundle for a million rows alone. The last line is JSON.
"""

import hashlib
import json
import os
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.goals import tell

ROWS = int(os.environ.get("ROWS", "100000"))
SEED = bytes(32)
STEPS = tuple(
    os.environ.get("STEPS", "floor csv jsonl ocsf parquet bundle filtered").split(),
)
KEPT = ("bundle", "filtered")
COPY = """
COPY (SELECT a.*, p.salt, p.body, p.box FROM audit_action a
      JOIN audit_payload p ON p.action_id = a.action_id AND p.row_id = a.id
      WHERE a.tenant_id = '{}' ORDER BY a.action_id, a.id) TO STDOUT (FORMAT csv)
"""


def fill(tenant_id: UUID) -> None:
    """Attempts and outcomes with a text of 0.7 KB each, sealed."""
    from django.db import connections

    from audit.ledger import policies
    from audit.seals import sealer
    from audit.seals.notes import Signer
    from benchmarks import many_rows
    from benchmarks.ledger import POLICY

    digest = hashlib.sha256(POLICY.encode()).hexdigest()
    policies.store(tenant_id=tenant_id, digest=digest, body=POLICY)
    many_rows.fill(tenant_id, ROWS)
    for _ in sealer.seal_all(signer=Signer(SEED)):
        pass
    with connections["ledger"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def chunks(step: str, tenant_id: UUID) -> Iterable[bytes]:
    from audit.bundle.contents import Bundle
    from audit.contracts import Filters
    from audit.formats.export import Export

    by: dict[str, Any] = {"actor_type": "admin", "actor_id": "benchmark"}
    whole = Filters(tenant_id=tenant_id)
    if step == "floor":
        return copied(tenant_id)
    if step == "bundle":
        return Bundle(filters=whole, **by)
    if step == "filtered":
        return Bundle(filters=replace(whole, on_behalf_of=frozenset({"maya"})), **by)
    format: Any = step
    return Export(filters=whole, format=format, **by)


def copied(tenant_id: UUID) -> Iterator[bytes]:
    from django.db import connections

    with connections["ledger"].cursor() as cursor, cursor.copy(COPY.format(tenant_id)) as copy:
        yield from map(bytes, copy)


def server_seconds(session: int) -> float:
    """CPU of the whole database server that this session is of, ended sessions too: a bundle is
    read by two of them."""
    postmaster = stat(session)[1]
    spent = sum(map(int, stat(postmaster)[11:15]))  # with the children that have ended
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for child in children:
        with suppress(FileNotFoundError):  # it has just ended
            spent += sum(map(int, stat(child)[11:13]))
    return spent / os.sysconf("SC_CLK_TCK")


def stat(process: int | str) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def peak_mb() -> float:
    """Of this program: what the kernel counts for getrusage begins before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def run(step: str, tenant_id: UUID, path: Path) -> None:
    """One step in this process; prints what it took."""
    import django

    django.setup()
    from django.db import connections

    connection = connections["ledger"]
    connection.ensure_connection()
    session: Any = connection.connection
    server = session.info.backend_pid
    before, base, begun = server_seconds(server), peak_mb(), time.perf_counter()
    cpu, first, size = time.process_time(), 0.0, 0
    # Only what is verified is kept: the rest would measure the disk, and fill it.
    with (path if step in KEPT else Path(os.devnull)).open("wb") as file:
        for chunk in chunks(step, tenant_id):
            first = first or time.perf_counter() - begun
            size += len(chunk)
            file.write(chunk)
    found = {
        "cpu_s": round(time.process_time() - cpu, 2),
        "database_cpu_s": round(server_seconds(server) - before, 2),
        "wall_s": round(time.perf_counter() - begun, 2),
        "first_byte_s": round(first, 2),
        "memory_mb": round(peak_mb() - base),
        "peak_mb": round(peak_mb()),
        "mb": round(size / 1e6),
    }
    print(json.dumps(found))


def verified(path: Path, key: str) -> dict[str, Any]:
    from audit.bundle import verify

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # In a process of its own, so that the peak is that of the program.
    script = "import sys,runpy;sys.argv=sys.argv[1:];\ntry: runpy.run_path(sys.argv[0],"
    script += "run_name='__main__')\nfinally: print(open('/proc/self/status').read()"
    script += ".partition('VmHWM:')[2].split()[0])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, verify.__file__, path, key],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    *_, verdict, peak = done.stdout.splitlines()
    print(verdict, flush=True)
    return {"cpu_s": round(cpu, 2), "peak_mb": int(peak) // 1024}


def hashed(path: Path) -> float:
    """CPU seconds to unpack and hash what the verifier reads, and nothing more."""
    begun = time.process_time()
    with zipfile.ZipFile(path) as archive:
        for name in ("ledger.jsonl", "payloads.jsonl", "artifacts.jsonl"):
            with archive.open(name) as file:
                hashlib.file_digest(file, "sha256")  # type: ignore[arg-type]
    return round(time.process_time() - begun, 2)


def spent(step: dict[str, Any]) -> float:
    return float(step["cpu_s"] + step["database_cpu_s"])


def goals(found: dict[str, Any]) -> dict[str, bool]:
    """Each goal that this run could meet, and whether it did."""
    met = {}
    if "bundle" in found and ROWS == 1_000_000:
        made = found["bundle"]
        is_met = made["wall_s"] <= 25 and made["memory_mb"] <= 64
        met["a bundle of a million rows within 25 s and 64 MB more memory"] = is_met
    if "bundle" in found:
        verified = found["verify_bundle"]
        is_met = verified["rows_per_cpu_s"] >= 150_000 and verified["peak_mb"] < 64
        met["at least 150,000 rows verified a CPU second, below 64 MB"] = is_met
    if "floor" in found and "csv" in found:
        met["CSV at least 0.8 of COPY, by wall time"] = found["csv"]["of_copy"]["wall"] >= 0.8
    return met


def main() -> None:
    with own_database() as folder:
        from audit.seals import sealer
        from audit.seals.notes import Signer

        tenant_id, found = uuid4(), dict[str, Any](rows=ROWS)
        begun = time.perf_counter()
        fill(tenant_id)
        found["filled_in_s"] = round(time.perf_counter() - begun)
        key = Signer(SEED).verifier_key(sealer.origin(tenant_id))
        for step in STEPS:
            path = folder / step
            done = subprocess.run(
                [sys.executable, __file__, step, str(tenant_id), path],
                stdout=subprocess.PIPE,
                check=True,
            )
            found[step] = json.loads(done.stdout)
            if step in KEPT:
                found[f"verify_{step}"] = verified(path, key)
                found[f"verify_{step}"]["floor_cpu_s"] = hashed(path)
            path.unlink(missing_ok=True)
            print(step, found[step], found.get(f"verify_{step}", ""), flush=True)
        floor = found.get("floor", {})
        for step in STEPS if floor else ():
            of_copy = {"cpu": spent(floor) / spent(found[step])}
            of_copy["wall"] = floor["wall_s"] / found[step]["wall_s"]
            found[step]["of_copy"] = {name: round(ratio, 2) for name, ratio in of_copy.items()}
        if "bundle" in STEPS:
            verifying = found["verify_bundle"]
            verifying["rows_per_cpu_s"] = round(ROWS / verifying["cpu_s"])
        found["goals"] = tell(goals(found))
        print(json.dumps(found))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1], UUID(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
