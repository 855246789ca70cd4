import json
import threading
from collections.abc import Iterator
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scripts import audit
from scripts.audit import Accepted

WEAK = {
    "schema_version": "1.6.0",
    "id": "PYSEC-2026-1",
    "aliases": ["CVE-2026-1"],
    "summary": "It runs what it reads.",
    "affected": [
        {
            "package": {"name": "weak", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}],
        }
    ],
}
FOUND = "weak 1.0 has CVE-2026-1 = PYSEC-2026-1, mended in 1.1."
TODAY = date(2026, 5, 4)
PACKAGES: list[dict[str, Any]] = [
    {
        "name": "weak",
        "version": "1.0",
        "vulns": [{"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fix_versions": ["1.1"]}],
    },
    {"name": "sound", "version": "2.0", "vulns": []},
]


class Handler(BaseHTTPRequestHandler):
    """Knows of one weakness, of the package `weak`; about `broken` it breaks."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["package"]["name"]
        self.send_response(503 if name == "broken" else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"vulns": [WEAK]} if name == "weak" else {}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def osv() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/query"
    server.shutdown()
    thread.join()
    server.server_close()


def lock(folder: Path, *names: str) -> Path:
    path = folder / "a.lock"
    path.write_text("".join(f"{name} --hash=sha256:{'0' * 64}\n" for name in names))
    return path


def test_what_the_list_knows_of_is_an_error(
    osv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "LOCK", lock(tmp_path, "weak==1.0", "sound==2.0"))

    assert audit.main(["--osv-url", osv]) == 1
    assert capsys.readouterr().out == f"{FOUND}\n"


def test_where_nobody_answers_it_says_so_and_goes_on(
    osv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "LOCK", lock(tmp_path, "broken==1.0"))

    assert audit.main(["--osv-url", osv]) == 0
    assert audit.main(["--osv-url", "http://127.0.0.1:9/"]) == 0
    assert capsys.readouterr().out == f"{audit.NOT_ASKED}\n" * 2


def test_a_lock_that_cannot_be_read_is_no_lack_of_a_network(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_text("weak==1.0\n")

    with pytest.raises(audit.Failed, match="hash"):
        audit.ask(path, ["--osv-url", "http://127.0.0.1:9/"])


@pytest.mark.parametrize("name", ["PYSEC-2026-1", "CVE-2026-1"])
def test_a_weakness_is_borne_up_to_its_day(name: str) -> None:
    borne = Accepted(id=name, until=TODAY, reason="It is never given a stranger's file.")

    assert list(audit.find_problems(PACKAGES, [borne], today=TODAY)) == []
    assert list(audit.find_problems(PACKAGES, [borne], today=TODAY + timedelta(days=1))) == [
        f"{FOUND} It was accepted until 2026-05-04: It is never given a stranger's file."
    ]


def test_another_weakness_is_not_borne_with_it() -> None:
    other = Accepted(id="CVE-2026-2", until=TODAY, reason="It is another.")

    assert list(audit.find_problems(PACKAGES, [other], today=TODAY)) == [FOUND]


def test_what_was_not_asked_about_is_an_error() -> None:
    skipped = {"name": "odd", "skip_reason": "its version is none"}

    assert list(audit.find_problems([skipped], [], today=TODAY)) == [
        "odd was not audited: its version is none"
    ]


def test_what_is_accepted_has_a_reason_and_a_day() -> None:
    assert audit.load_accepted() == []
    with pytest.raises(ValueError, match="reason"):
        Accepted.model_validate({"id": "CVE-2026-1", "until": TODAY})
