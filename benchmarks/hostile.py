"""What a stranger's bytes cost: every parser, on the worst text of each size we know.

    make bench NAME=hostile               # or: python benchmarks/hostile.py [MOST_KB [PARSER ...]]

Each text is a short piece, repeated to 10 kB, 100 kB and 1 MB (or MOST_KB). Beside the known
pieces Hypothesis looks for others, SEARCH (30) for each parser, and follows what costs most. What
counts is CPU time, which other work on the machine does not change much.

A case is superlinear where the time grows faster than the length to the power of POWER (ten times
the text takes more than twenty times as long), measured again to be sure, and where its process was
killed after LIMIT seconds. What takes less than STEADY_MS is noise. A parser whose entrance lets no
longer text through (`LIMITS`) is measured up to there. The last line is JSON.
"""

import gc
import json
import math
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import django
from hypothesis import HealthCheck, Phase, given, settings, strategies as st, target

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from guardrails.policies.directory_file import DirectoryFileError  # after the path
from integrations.exceptions import ProviderError

LIMIT, STEADY_MS, POWER, AGAIN = 20, 50.0, 1.3, 3
TICK_MS = 5.0  # kernels that count CPU by ticks say 0 or 1 of four
SIZES = (10_000, 100_000, 1_000_000)
SEARCH, SEARCHED_SIZE = int(os.environ.get("SEARCH", "30")), 4_000
REFUSED = (ValueError, ProviderError, DirectoryFileError)  # in words
PIECES = (
    *("\n", " ", "\t", "a", "1", "a ", "1 ", "a\n", "\n ", "\r\n", ".", "-", "_", "=", "*", "|"),
    *('"', "'", "(", ")", "[", "<", ">", "<a ", "<!--", "</", "&", "&#", ";", ":", ",", "@"),
    *("a@", "a@b.", "a@b.c,", "a.", "http://", "http://a/", "[x](", "![](", "`", "#", "\\", "%"),
    *("=?utf-8?q?", "=?utf-8?b?YQ==?=", "On 1 May 2026 at 10:01 ", "wrote:", "> ", "--\n"),
    *(">> a\n", "From: a\n", "Sent: a\nTo: b\n", "-----Original Message-----\n", "2026-01-01 "),
    *("10:01 2026 ", "a\u0301", "\u0301", "\u202e", "\u200b", "\ufffd", "ﬃ", "ß", "家", "👩‍👩‍👧"),
    *("+1 555 ", "4111 1111 ", "<div>", "<table><tr><td>", "<style>", "<p style='", "DE89 3704 "),
    *("code 123456 ", "Re: ", "token:", "eyJaaaaaaaa-", "code ", "a:", "a://"),
    *("BEGIN:VEVENT\n", "BEGIN:VEVENT\nSUMMARY:a\n", "RRULE:FREQ=DAILY;", "DTSTART;A=B", "\n b"),
    *("Ann ", "lunch ", "“", "all my ", "take ", "[1]", "<think>", "I sent ", "not "),
)
Parse = Callable[[str], Any]


class Case(NamedTuple):
    """A text of any size: what is repeated, and what stands before and behind."""

    piece: str
    before: str = ""
    behind: str = ""

    def text(self, size: int) -> str:
        room = max(0, size - len(self.before) - len(self.behind))
        repeated = (self.piece * (room // len(self.piece) + 1))[:room]
        return f"{self.before}{repeated}{self.behind}"

    def __str__(self) -> str:
        return " … ".join(repr(one) for one in (self.before, self.piece, self.behind) if one)


def cost(parse: Parse, text: str) -> float:
    """Milliseconds of CPU."""
    began = time.process_time()
    with suppress(*REFUSED):
        parse(text)
    return (time.process_time() - began) * 1000


def limit_time() -> None:
    """Have this process killed once it has computed for LIMIT seconds more."""
    used = int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + LIMIT, resource.RLIM_INFINITY))


def measure(parse: Parse, case: Case, sizes: Sequence[int]) -> list[float]:
    """Milliseconds at each size. A larger one is not tried where it would stay noise even if it
    grew with the square."""
    took: list[float] = []
    for size in sizes:
        limit_time()
        text = case.text(size)
        took.append(cost(parse, text))
        if is_superlinear(took, sizes):
            smaller = case.text(sizes[len(took) - 2])
            took[-2] = max(took[-2], *(cost(parse, smaller) for _ in range(AGAIN)))
            for _ in range(AGAIN):
                if is_superlinear(took, sizes):
                    limit_time()
                    took[-1] = min(took[-1], cost(parse, text))
        if took[-1] * (sizes[-1] / size) ** 2 < STEADY_MS:
            break
    return took


def is_superlinear(took: Sequence[float], sizes: Sequence[int]) -> bool:
    return any(
        after > STEADY_MS and after > max(before, TICK_MS) * math.pow(longer / size, POWER)
        for (before, after), (size, longer) in zip(pairwise(took), pairwise(sizes), strict=False)
    )


def search(parse: Parse) -> Iterator[Case]:
    """What Hypothesis finds that costs most for its length, worst first."""
    found: dict[Case, float] = {}
    parts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)

    @settings(
        max_examples=SEARCH,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(parts, st.just("") | parts, st.just("") | parts)
    def costs(piece: str, before: str, behind: str) -> None:
        limit_time()
        case = Case(piece, before, behind)
        found[case] = cost(parse, case.text(SEARCHED_SIZE))
        target(found[case])

    costs()
    yield from sorted(found, key=lambda case: -found[case])[:3]


def run(name: str, cases: Sequence[Case], sizes: Sequence[int], into: Any) -> None:
    """Measure cases in this process, one after another, and what Hypothesis adds to them."""
    from benchmarks.parsers import PARSERS

    parse = PARSERS[name]
    cost(parse, "warm up")
    gc.collect()
    gc.freeze()  # or a long text pays for looking through all that Django loaded, a short one not
    for case in cases:
        into.send((case, None))
        into.send((case, measure(parse, case, sizes)))
    if SEARCH:
        into.send((Case("what was looked for"), None))
        for case in search(parse):
            into.send((case, None))
            into.send((case, measure(parse, case, sizes)))
    into.send(None)


def try_parser(name: str, sizes: Sequence[int]) -> dict[Case, list[float]]:
    """The milliseconds of each case. Where the process was killed, it is none at the end, and
    another process goes on behind it."""
    cases = [Case(piece) for piece in PIECES]
    found: dict[Case, list[float]] = {}
    while True:
        receiving, sending = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=run, args=(name, cases, sizes, sending)
        )
        process.start()
        sending.close()
        case = None
        with suppress(EOFError):
            while said := receiving.recv():
                case, took = said
                found[case] = took if took is not None else [LIMIT * 1000.0]
        process.join()
        if process.exitcode == 0:
            found.pop(Case("what was looked for"), None)
            return found
        if case not in cases:
            return found
        cases = cases[cases.index(case) + 1 :]


def main() -> None:
    most = int(sys.argv[1]) * 1000 if len(sys.argv) > 1 else SIZES[-1]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "benchmark",
        "LEDGER_KEY": "benchmark",
        "DATABASE_URL": "postgresql://nobody/none",
    }
    django.setup()
    from benchmarks.parsers import LIMITS, PARSERS  # once, for every process that is forked

    names = sys.argv[2:] or list(PARSERS)
    superlinear = cases = 0
    worst_of_all = 0.0
    for name in names:
        longest = min(most, LIMITS.get(name, most))
        sizes = [*(size for size in SIZES if size < longest), longest]
        found = try_parser(name, sizes)
        worst = max(found, key=lambda case: found[case][-1])
        print(f"{name:24} {found[worst][-1]:8.0f} ms  {worst}", flush=True)
        for case, took in found.items():
            if took == [LIMIT * 1000.0] or is_superlinear(took, sizes):
                superlinear += 1
                print("    superlinear:", case, [round(one) for one in took], flush=True)
        cases += len(found)
        worst_of_all = max(worst_of_all, found[worst][-1])
    print(
        json.dumps(
            {
                "parsers": len(names),
                "cases": cases,
                f"worst_ms_at_{'1mb' if most == 1_000_000 else f'{most // 1000}kb'}": round(
                    worst_of_all
                ),
                "superlinear": superlinear,
            }
        )
    )


if __name__ == "__main__":
    main()
