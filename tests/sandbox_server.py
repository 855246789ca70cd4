"""The sandbox data service as a real HTTP server for one test."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from sandbox.data_service import Settings, build_app
from sandbox.data_service.listening import listening_on

KEY = "sandbox-key-for-tests"


@dataclass(kw_only=True)
class RunningSandbox:
    """Where a running sandbox is: the contract, the control API, the page, and its key."""

    origin: str
    key: str

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
def serving(
    app: object,
    *,
    port: int = 0,
    protocol: type[asyncio.Protocol] | None = None,
    certificate: Path | None = None,
) -> Iterator[str]:
    """Serves any ASGI application in a thread; gives its origin, such as http://127.0.0.1:4711.
    `protocol` is uvicorn's own unless another one is given. With a `certificate` and its key in
    one file it speaks TLS.

    Raises RuntimeError when the application does not start.
    """
    listener = listening_on(port)
    server = PromptServer(
        uvicorn.Config(
            app,  # type: ignore[arg-type]
            http=protocol or "h11",
            ssl_certfile=certificate,
            log_level="error",
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=1,
            timeout_keep_alive=60,  # clients let go of idle connections first
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.open.wait(0.05):
            if not thread.is_alive():
                raise RuntimeError("The application did not start.")
        yield f"http{'s' if certificate else ''}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.stop()
        thread.join()
        listener.close()


class PromptServer(uvicorn.Server):
    """Says when it is open, and ends at once. uvicorn's own looks every 0.1 s whether to end,
    and waits as long again before it does."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.open = threading.Event()
        self.ending = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """From another thread. It need not run any more."""
        self.should_exit = True
        if self.loop:
            with contextlib.suppress(RuntimeError):  # its loop has ended
                self.loop.call_soon_threadsafe(self.ending.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            self.open.set()

    async def main_loop(self) -> None:
        await self.ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle(), self.config.timeout_graceful_shutdown)
        for task in self.server_state.tasks:
            task.cancel()
        for connection in list(self.server_state.connections):
            connection.transport.abort()  # or it is found unclosed in somebody else's test
        await asyncio.sleep(0)
        await self.lifespan.shutdown()

    async def _idle(self) -> None:
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
