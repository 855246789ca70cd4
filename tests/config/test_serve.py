import os
import resource
import signal
import socket
import subprocess
import sys

import httpx
import pytest
from django.db import connection

from config import serve
from config.local import state
from tests.program import own_database


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_web_process_answers_at_a_socket_that_it_is_given_and_ends_slow_heads() -> None:
    connection.ensure_connection()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = (sys.executable, "-m", "config.serve", "--fd", str(listener.fileno()))
        environment = os.environ | own_database() | {"HEAD_SECONDS": "0.5", "REMIT_RUN": "1"}
        with subprocess.Popen(
            command, cwd=state.PROJECT_DIR, env=environment, pass_fds=(listener.fileno(),)
        ) as web:
            try:
                port = listener.getsockname()[1]
                answer = httpx.get(f"http://127.0.0.1:{port}/health", timeout=120)
                with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
                    slow.sendall(b"GET /health HTTP/1.1\r\n")
                    heard = slow.recv(1000)
            finally:
                web.terminate()

    assert answer.json() == {"status": "ok"}
    assert heard.split()[1] == b"408"
    assert web.returncode == -signal.SIGTERM


def test_as_many_files_are_allowed_as_the_system_lets_one_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: allowed.append(pair))
    for limits in [(1024, 4096), (1024, 1500), (1024, resource.RLIM_INFINITY), (8000, 8000)]:
        monkeypatch.setattr(resource, "getrlimit", lambda _, found=limits: found)
        serve.allow_files(2024)

    assert allowed == [(2024, 4096), (1500, 1500), (2024, resource.RLIM_INFINITY)]
