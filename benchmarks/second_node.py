"""A second machine on this one: a network of its own (a namespace of Linux, made by root), and one
cable to this one, which can be pulled.

    python -m benchmarks.second_node HOST:PORT=HOST:PORT…     what listens here leads there
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NAME, CABLE = f"remit{os.getpid() % 100_000}", f"rm{os.getpid() % 100_000}"
HERE, THERE = "10.213.0.1", "10.213.0.2"


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def second_node() -> Iterator[tuple[str, ...]]:
    """The words before a command that runs there. This side is HERE to it. Raises OSError or
    CalledProcessError where there can be none, SystemExit where a killed run left its own: the new
    one could not be reached then, and nothing would say so."""
    if left := _ip("-br", "addr", "show", "to", HERE).split():
        name = f"remit{left[0].partition('@')[0].removeprefix('rm')}"
        raise SystemExit(f"An earlier run was killed. Remove what it left: ip netns del {name}")
    _ip("netns", "add", NAME)
    try:
        _ip("link", "add", CABLE, "type", "veth", "peer", "name", "eth0", "netns", NAME)
        _ip("addr", "add", f"{HERE}/30", "dev", CABLE)
        _ip("link", "set", CABLE, "up")
        _ip("-n", NAME, "addr", "add", f"{THERE}/30", "dev", "eth0")
        for name in ("lo", "eth0"):
            _ip("-n", NAME, "link", "set", name, "up")
        yield ("ip", "netns", "exec", NAME)
    finally:
        _ip("netns", "del", NAME)


@contextmanager
def cut() -> Iterator[None]:
    """The cable is pulled: no packet passes, and nobody hears of it."""
    _ip("link", "set", CABLE, "down")
    try:
        yield
    finally:
        _ip("link", "set", CABLE, "up")


async def forward(here: str, there: str) -> None:
    async def serve(client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        server, forth = await asyncio.open_connection(*there.split(":"))
        await asyncio.gather(move(client, forth), move(server, back))

    async def move(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
        target.close()

    await (await asyncio.start_server(serve, *here.split(":"))).serve_forever()


async def main(pairs: list[str]) -> None:
    await asyncio.gather(*(forward(*pair.split("=")) for pair in pairs))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
