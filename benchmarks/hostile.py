"""What a stranger's bytes cost: every parser, on the worst text of each size we know.

python benchmarks/hostile.py [MOST_KB [PARSER]]

Each text is one short piece, repeated to 10 kB, 100 kB and 1 MB (or MOST_KB). A case has a
process of its own, which is killed after LIMIT seconds of its own time. A parser is
superlinear where ten times the text takes more than twenty times as long; what takes less
than STEADY_MS is noise, so a larger text is not tried where the time would stay below it even if
it grew with the square. The last line is JSON.
"""

import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from guardrails.policies.directory_file import DirectoryFileError  # after the path
from integrations.exceptions import ProviderError

LIMIT, STEADY_MS, TIMES = 20, 50.0, 20.0
REFUSED = (ValueError, ProviderError, DirectoryFileError)  # in words
PIECES = (
    *("\n", " ", "\t", "a", "1", "a ", "1 ", "a\n", "\n ", "\r\n", ".", "-", "_", "=", "*", "|"),
    *('"', "'", "(", ")", "[", "<", ">", "<a ", "<!--", "</", "&", "&#", ";", ":", ",", "@"),
    *("a@", "a@b.", "a@b.c,", "a.", "http://", "http://a/", "[x](", "![](", "`", "#", "\\", "%"),
    *(
        "=?utf-8?q?",
        "=?utf-8?b?YQ==?=",
        "On 1 May 2026 at 10:01 ",
        "wrote:",
        "> ",
        "--\n",
        ">> a\n",
    ),
    *(
        "From: a\n",
        "Sent: a\nTo: b\n",
        "-----Original Message-----\n",
        "2026-01-01 ",
        "10:01 2026 ",
    ),
    *(
        "a\u0301",
        "\u0301",
        "\u202e",
        "\u200b",
        "\ufffd",
        "ﬃ",
        "ß",
        "家",
        "👩‍👩‍👧",
        "+1 555 ",
        "4111 1111 ",
    ),
    *("<div>", "<table><tr><td>", "<style>", "<p style='", "DE89 3704 ", "code 123456 ", "Re: "),
    *("token:", "eyJaaaaaaaa-", "code ", "a:", "a://"),
    *("BEGIN:VEVENT\n", "BEGIN:VEVENT\nSUMMARY:a\n", "RRULE:FREQ=DAILY;", "DTSTART;A=B", "\n b"),
)


def run(name: str, piece: str, sizes: Sequence[int], into: Any) -> None:
    """Time one case in this process, and say its milliseconds of CPU at each size."""
    from benchmarks.parsers import PARSERS

    parse = PARSERS[name]
    with suppress(*REFUSED):
        parse("warm up")
    for size in sizes:
        used = int(time.process_time()) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (used + LIMIT, resource.RLIM_INFINITY))
        text = (piece * (size // len(piece) + 1))[:size]
        began = time.process_time()
        with suppress(*REFUSED):
            parse(text)
        took = (time.process_time() - began) * 1000
        into.send(took)
        if took * 100 < STEADY_MS:
            break


def measure(name: str, piece: str, sizes: Sequence[int]) -> list[float]:
    """Milliseconds of CPU at each size; LIMIT seconds for what did not end."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=run, args=(name, piece, sizes, sending)
    )
    process.start()
    sending.close()
    took: list[float] = []
    with suppress(EOFError):
        while True:
            took.append(float(receiving.recv()))
    process.join()
    return took if process.exitcode == 0 else [*took, LIMIT * 1000.0]


def main() -> None:
    most = int(sys.argv[1]) * 1000 if len(sys.argv) > 1 else 1_000_000
    sizes = [size for size in (10_000, 100_000, 1_000_000) if size <= most]
    worst: dict[str, tuple[float, str]] = {}
    superlinear = []
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "benchmark",
        "LEDGER_KEY": "benchmark",
        "DATABASE_URL": "postgresql://nobody/none",
    }
    django.setup()
    from benchmarks.parsers import PARSERS  # loaded once, for every process that is forked

    names = sys.argv[2:] or list(PARSERS)
    for name in names:
        for piece in PIECES:
            took = measure(name, piece, sizes)
            worst[name] = max(worst.get(name, (0.0, "")), (took[-1], piece))
            before, after = took[-2:] if len(took) > 1 else (0.0, took[-1])
            if after > STEADY_MS and after > before * TIMES:
                superlinear.append((name, piece, [round(one) for one in took]))
        print(f"{name:24} {worst[name][0]:8.0f} ms  {worst[name][1]!r}", flush=True)
    for found in superlinear:
        print("superlinear:", *found)
    print(
        json.dumps(
            {
                "parsers": len(names),
                "pieces": len(PIECES),
                f"worst_ms_at_{most // 1000}kb": round(max(ms for ms, _ in worst.values())),
                "superlinear": len(superlinear),
            }
        )
    )


if __name__ == "__main__":
    main()
