"""The sandbox data service as a real HTTP server for one test."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import uvicorn

from sandbox.data_service import Settings, build_app
from sandbox.data_service.listening import listening_on

KEY = "sandbox-key-for-tests"


@dataclass(kw_only=True)
class RunningSandbox:
    """Where a running sandbox is: the contract, the control API, the page, and its key."""

    origin: str
    key: str
    seen: int = 0  # the last call in its journal that a test before has read

    @property
    def url(self) -> str:
        return f"{self.origin}/v1/data"

    @property
    def control(self) -> str:
        return f"{self.origin}/sandbox"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


@contextlib.contextmanager
def running_sandbox(
    *,
    state: str = ":memory:",
    webhook_url: str = "",
    webhook_secret: str = "",
    with_office: bool = True,
) -> Iterator[RunningSandbox]:
    """Serves a sandbox on a free port of 127.0.0.1 until the block ends."""
    settings = Settings(
        key=KEY,
        state=state,
        webhook_url=webhook_url,
        webhook_secret=webhook_secret,
        with_office=with_office,
        retry_seconds=0.05,
    )
    with serving(build_app(settings)) as origin:
        yield RunningSandbox(origin=origin, key=KEY)


@contextlib.contextmanager
def serving(app: object, *, port: int = 0) -> Iterator[str]:
    """Serves any ASGI application in a thread; gives its origin, such as http://127.0.0.1:4711.

    Raises RuntimeError when the application does not start.
    """
    listener = listening_on(port)
    server = uvicorn.Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]
            log_level="error",
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    started = _when_started(server)
    thread.start()
    try:
        while not started.wait(0.05):
            if not thread.is_alive():
                raise RuntimeError("The application did not start.")
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def _when_started(server: uvicorn.Server) -> threading.Event:
    """An event that is set once the server accepts requests."""
    started = threading.Event()
    startup = server.startup

    async def announced(sockets: list[socket.socket] | None = None) -> None:
        await startup(sockets)
        if server.started:
            started.set()

    server.startup = announced  # type: ignore[method-assign]
    return started
