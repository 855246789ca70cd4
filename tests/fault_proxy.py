"""A TCP proxy before a real server that cuts, delays and swallows what is said, at any byte.

    with running_proxy(server.port, draw=lambda: Fault("cut", way="down", after=900)) as proxy:
        …  # instead of the server's own port, proxy.port

`draw` is asked once for each connection; None lets it pass. Nothing of what passes is looked into.
"""

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

CHUNK = 4096
DELAY_SECONDS = 0.2


@dataclass(frozen=True)
class Fault:
    """What happens once `after` bytes have passed from the client (`up`) or to it (`down`). `cut`
    ends both ways at once, `swallow` lets nothing more pass this way and says nothing, `delay`
    waits a moment."""

    kind: Literal["cut", "swallow", "delay"]
    way: Literal["up", "down"]
    after: int


Way = Literal["up", "down"]
Draw = Callable[[], Fault | None]


@dataclass
class Proxy:
    port: int
    target: int
    draw: Draw
    met: list[Fault] = field(default_factory=list)  # faults that connections came to
    passed: "Counter[Way]" = field(default_factory=Counter)  # bytes, of all connections
    # A loop keeps no hold of its tasks: one that waits for a connection that is gone would be lost
    # with its sockets open.
    serving: set["asyncio.Task[None] | None"] = field(default_factory=set)

    async def serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        self.serving.add(asyncio.current_task())
        fault = self.draw()
        try:
            server, forth = await asyncio.open_connection("127.0.0.1", self.target)
        except (OSError, asyncio.CancelledError):
            back.transport.abort()
            return
        both = (forth, back)
        # When the proxy ends, a conversation that goes on is no error.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(
                self._pass("up", client, forth, both, fault),
                self._pass("down", server, back, both, fault),
            )
        for one in both:
            one.transport.abort()

    def hang_up(self) -> None:
        """End all conversations. Who has one notices when this is done."""

        async def end() -> None:
            going_on = [one for one in self.serving if one and not one.done()]
            for one in going_on:
                one.cancel()
            await asyncio.gather(*going_on, return_exceptions=True)
            await asyncio.sleep(0)  # an aborted connection is closed in the loop's next round

        if self.serving:
            loop = next(filter(None, self.serving)).get_loop()
            asyncio.run_coroutine_threadsafe(end(), loop).result(10)

    async def _pass(
        self,
        way: Way,
        source: asyncio.StreamReader,
        to: asyncio.StreamWriter,
        both: tuple[asyncio.StreamWriter, ...],
        fault: Fault | None,
    ) -> None:
        passed = 0
        fault = fault if fault and fault.way == way else None
        with contextlib.suppress(OSError):
            while chunk := await source.read(CHUNK):
                if fault and passed + len(chunk) > fault.after:
                    self.met.append(fault)
                    left, rest = fault.after - passed, chunk
                    if fault.kind == "delay":
                        await asyncio.sleep(DELAY_SECONDS)
                    else:
                        rest = chunk[: max(left, 0)]
                    to.write(rest)
                    await to.drain()
                    if fault.kind == "cut":
                        for one in both:
                            one.close()
                        return
                    if fault.kind == "swallow":
                        while await source.read(CHUNK):
                            pass
                        break
                    fault = None
                else:
                    self.passed[way] += len(chunk)  # before anybody can have it
                    to.write(chunk)
                    await to.drain()
                passed += len(chunk)
            if not fault or fault.kind != "swallow":
                to.write_eof() if to.can_write_eof() else to.close()


@contextlib.contextmanager
def running_proxy(target: int, *, draw: Draw) -> Iterator[Proxy]:
    """Serves on a port of its own until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fault proxy", daemon=True)
    thread.start()

    def called(what: "asyncio.Future[object] | object") -> object:
        return asyncio.run_coroutine_threadsafe(what, loop).result(10)  # type: ignore[arg-type]

    proxy = Proxy(port=0, target=target, draw=draw)
    server = called(asyncio.start_server(proxy.serve, "127.0.0.1", 0))
    assert isinstance(server, asyncio.Server)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:

        async def end() -> None:
            server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for one in others:
                one.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        called(end())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
