"""Between Remit and the model: an endpoint on loopback that hands requests on, or answers them from
a recording or by a task's reference, and keeps what was asked and answered."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agents.context import prompts
from agents.evaluation.recordings import Misfit, Recorder, Recording
from agents.evaluation.reference import Reference
from integrations.network import http

OFFLINE_MODEL = "offline-rules"
# The same, by a name of its own: it reads items in, whichever model is tried.
OFFLINE_READER = "offline-reader"
OFFLINE_EMBEDDINGS = "offline-hash-384"
REFERENCE = "reference"
SECONDS = 3600.0
# Whom a reference speaks for.
LEADING = tuple(prompt.partition("\n")[0] for prompt in (prompts.ORCHESTRATOR, prompts.MAIL_READER))


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request for an answer, and what was answered."""

    request: Mapping[str, Any]
    answer: Mapping[str, Any]
    status: int

    @property
    def agent(self) -> str:
        """The first line of its prompt, which says what it is."""
        messages = self.request.get("messages") or [{}]
        return str(messages[0].get("content") or "").partition("\n")[0]


@dataclass(kw_only=True)
class Endpoint:
    """What requests come to. `upstream` answers for the model that is tried, `stand_in` for the
    offline ones. `model` is the one that is tried, and `task` what is played at the moment; nothing
    is kept without it."""

    model: str
    stand_in: http.Upstream
    upstream: http.Upstream | None = None
    recorder: Recorder | None = None
    recording: Recording | None = None
    reference: Reference | None = None
    task: str = ""
    url: str = ""
    misfit: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, task: str, reference: Reference | None = None) -> None:
        """From now on requests belong to this task."""
        self.task, self.reference, self.exchanges = task, reference, []

    def chat(self, path: str, request: dict[str, Any]) -> tuple[int, Mapping[str, Any]]:
        """The answer to a request of Chat Completions, with its status."""
        tried = self.task if request["model"] == self.model else ""
        status, answer = self._answer(path, request, tried)
        with self._lock:
            if tried:
                self.exchanges.append(Exchange(request=request, answer=answer, status=status))
                if self.recorder and status == 200:
                    self.recorder.keep(tried, request, answer)
        return status, answer

    def embed(self, path: str, request: dict[str, Any]) -> tuple[int, Mapping[str, Any]]:
        return self._ask(path, request)

    def _answer(
        self, path: str, request: dict[str, Any], tried: str
    ) -> tuple[int, Mapping[str, Any]]:
        if self.recording and tried:
            with self._lock:
                try:
                    return 200, self.recording.take(tried, request)
                except Misfit as misfit:
                    self.misfit = self.misfit or str(misfit)
                    return 400, _error(str(misfit))
        if self.reference and str(request["messages"][0]["content"]).startswith(LEADING):
            with self._lock:
                return 200, self.reference.answer(request)
        return self._ask(path, request)

    def _ask(self, path: str, request: dict[str, Any]) -> tuple[int, Any]:
        model = str(request["model"])
        if model == OFFLINE_READER:
            request = {**request, "model": OFFLINE_MODEL}
        offline = model in (OFFLINE_MODEL, OFFLINE_READER, OFFLINE_EMBEDDINGS)
        upstream = self.stand_in if offline else self.upstream or self.stand_in
        answered = http.call(upstream, path, request, seconds=SECONDS)
        try:
            return answered.status, json.loads(answered.content)
        except ValueError:
            return 502, _error("The model's endpoint did not answer in JSON.")


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[Endpoint]:
    """Serve it on a free port of this machine until the block ends."""
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answers: Mapping[str, Callable[..., tuple[int, Mapping[str, Any]]]] = {
            "/v1/chat/completions": self.endpoint.chat,
            "/v1/embeddings": self.endpoint.embed,
        }
        answer = answers.get(self.path)
        said: Mapping[str, Any]
        if answer is None or request.get("stream"):
            status, said = 404, _error("The evaluation has no such address, and no streams.")
        else:
            status, said = answer(self.path.removeprefix("/v1/"), request)
        written = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, format: str, *args: Any) -> None:
        """What was asked is kept as exchanges."""


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "evaluation", "code": None}}
