"""A disk without room under the database, and a killed PostgreSQL: what callers hear, what `/ready`
says, and whether anything is lost (docs/operating.md).

    make bench NAME=disk

The database is on a disk of its own (a `tmpfs` of 400 MB, which takes root and Linux). Signed
webhooks come while there is room, while there is none for tables, while there is none for the
write-ahead log either, and after its process was killed. What was refused comes again under the
same id until it is taken. `make run`'s watch over the database is at work, and nobody helps. The
last line is JSON: for each case how many were answered how, what `/ready` said, how long after its
end everything was ready again, and how many of those that were taken are stored.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.door import serving, signed

DISK_MEGABYTES, WEBHOOKS = 400, 50
FEW = 5  # where each waits for the database as long as a connection may take
PATIENCE_SECONDS = 180
PASSWORD = "of the benchmark"  # of nobody


@contextmanager
def disk() -> Iterator[Path]:
    """A folder with as much room as the disk has, to which the embedded database of root goes."""
    from config.local import place

    with tempfile.TemporaryDirectory() as name:
        size = f"size={DISK_MEGABYTES}m,mode=755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", name], check=True)
        place.RELOCATED = Path(name)
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)


@contextmanager
def watched(folder: Path) -> Iterator[list[str]]:
    """The database is looked after as `make run` does, which says so here."""
    from config.local.database_watch import DatabaseWatch

    said: list[str] = []
    watch, over = DatabaseWatch(folder, say=said.append), threading.Event()

    def look_after() -> None:
        while not over.wait(0.3):
            watch.look_after()

    thread = threading.Thread(target=look_after)
    thread.start()
    try:
        yield said
    finally:
        over.set()
        thread.join()


class Service:
    """A data service that sends webhooks, and sends again what was not taken."""

    def __init__(self, port: int, token: str) -> None:
        import httpx

        self.token = token
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        self.taken: set[str] = set()
        self.waiting: list[str] = []
        self._names = iter(range(10**9))

    def send(self, id: str) -> tuple[int, str, bool]:
        """Status, code, and whether it says when to come again."""
        body, headers = signed(int(id.rpartition("_")[2]), id=id, text=secrets.token_hex(1000))
        try:
            answer = self.client.post("/webhooks/item-created", content=body, headers=headers)
        except OSError as error:
            return 0, type(error).__name__, False
        if answer.status_code == 202:
            self.taken.add(id)
        code = answer.json().get("error", {}).get("code", "")
        return answer.status_code, code, "Retry-After" in answer.headers

    def send_new(self, count: int) -> Counter[str]:
        answers: Counter[str] = Counter()
        for _ in range(count):
            id = f"msg_{next(self._names)}"
            status, code, says_when = self.send(id)
            if status != 202:
                self.waiting.append(id)
            answers[
                " ".join(filter(None, (str(status), code, "with time" if says_when else "")))
            ] += 1
        return answers

    def ready(self) -> str:
        answer = self.client.get("/ready")
        return f"{answer.status_code} {' '.join(answer.json()['cannot'])}".strip()

    def pages(self) -> dict[str, int]:
        """How a page, logging in, and reading with a token are answered."""
        log_in, asked = "/accounts/login/", "/api/v1/conversations?user_id=maya"
        page = self.client.get(log_in)
        given = {"login": "olga", "password": PASSWORD}
        given["csrfmiddlewaretoken"] = self.client.cookies.get("csrftoken") or ""
        posted = self.client.post(log_in, data=given)
        self.client.cookies.clear()
        read = self.client.get(asked, headers={"Authorization": f"Bearer {self.token}"})
        statuses = (page.status_code, posted.status_code, read.status_code)
        return dict(zip(("page", "log_in", "read"), statuses, strict=True))


def fill(folder: Path) -> Path:
    """Takes all the room that there is."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"\0" * 4096):
            pass
    return ballast


def fill_log() -> None:
    """Begins new files of the write-ahead log until there is no room for one: PostgreSQL ends."""
    from django.db import DatabaseError, connection

    with suppress(DatabaseError), connection.cursor() as cursor:
        for _ in range(1000):
            cursor.execute("SELECT pg_logical_emit_message(false, '', ''), pg_switch_wal()")
    connection.close()


def measure(service: Service, *, count: int, end: Callable[[], None]) -> dict[str, Any]:
    """What is heard while something is wrong, and how it goes on after `end`."""
    answers = service.send_new(count)
    found: dict[str, Any] = {"answers": dict(answers)}
    found |= {"ready": service.ready(), "pages": service.pages()}
    end()
    began = time.monotonic()
    while service.ready().split()[0] != "200":
        if time.monotonic() - began > PATIENCE_SECONDS:
            raise TimeoutError(service.ready())
        time.sleep(0.2)
    found["ready_again_after_s"] = round(time.monotonic() - began, 1)
    again = service.waiting
    service.waiting = [id for id in again if service.send(id)[0] != 202]
    return found | {"sent_again": len(again), "still_refused": len(service.waiting)}


def kill_database(folder: Path) -> None:
    from config.local import embedded

    pid = embedded._running(folder)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def main() -> int:
    with disk() as mount, own_database() as folder:
        from django.contrib.auth.models import User
        from django.db import connections

        from config.local import embedded, place
        from integrations.models import Account, Delivery, Organisation, ServiceToken

        where = place.find(folder, embedded._connection(folder).password)
        assert where is not None
        assert mount in where.home.parents, "The database is not on the small disk."
        organisation = Organisation.objects.create(slug="default", name="Benchmark")
        Account.objects.create(
            organisation=organisation,
            external_user_id="maya",
            source="gmail",
            address="m@a.example",
        )
        token = ServiceToken.issue(organisation=organisation, name="bench", scopes=["chat"])[1]
        User.objects.create_user("olga", password=PASSWORD)
        with watched(folder) as said, serving(folder) as (port, _):
            service = Service(port, token)
            found: dict[str, Any] = {"room": dict(service.send_new(WEBHOOKS))}
            ballast = fill(mount)
            found["full"] = measure(service, count=WEBHOOKS, end=ballast.unlink)
            print(found, flush=True)
            ballast = fill(mount)
            fill_log()
            found["full_log"] = measure(service, count=FEW, end=ballast.unlink)
            print(found["full_log"], flush=True)
            kill_database(folder)
            found["killed"] = measure(service, count=FEW, end=lambda: None)
            connections.close_all()  # of before the kill
            stored = set(Delivery.objects.values_list("webhook_id", flat=True))
        found |= {
            "taken": len(service.taken),
            "stored": len(stored),
            "lost": len(service.taken - stored),
            "said": said,
        }
    print(json.dumps(found))
    return 1 if found["lost"] or found["taken"] != found["stored"] else 0


if __name__ == "__main__":
    sys.exit(main())
