"""What a stranger's bytes cost: every parser, on the worst text of each size we know.

python benchmarks/hostile.py [MOST_KB [PARSER]]

Each text is one short piece, repeated to 10 kB, 100 kB and 1 MB (or MOST_KB). A case has a
process of its own, which is killed after LIMIT seconds of its own time. A parser is
superlinear where ten times the text takes more than twenty times as long; what takes less
than STEADY_MS is noise. The last line is JSON.
"""

import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

LIMIT, STEADY_MS, TIMES = 20, 50.0, 20.0
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


def parsers() -> dict[str, Callable[[str], Any]]:
    """Everything that reads what strangers wrote, by name."""
    from agents.answer import citations, deeds
    from guardrails.facts import alerts, links, sensitive, subjects, text
    from guardrails.words import own, times, typed
    from integrations.contracts import Email
    from integrations.imports import calendar_files
    from integrations.llm import thoughts
    from integrations.mail import addresses, headers, html, mime, text as mail_text
    from knowledge.files import plain
    from knowledge.ingest import chunking
    from knowledge.text import languages, lexemes, quotes, visible

    zone = ZoneInfo("UTC")
    event = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20260101T000000Z\nSUMMARY:{}\nEND:VEVENT\n"
    )

    def calendar(body: str) -> Any:
        return calendar_files.read_events(body.encode("utf-8", "replace"), zone=zone)

    def alert(fields: dict[str, str]) -> Any:
        at = "2026-01-01T00:00:00Z"
        return alerts.describe(Email.model_validate({"id": "mail-1", "date": at, **fields}))

    def mail(raw: str) -> Any:
        return mime.read_body(mime.read_message(raw.encode("utf-8", "replace"))[0])

    return {
        "mail quotes": quotes.own_words,
        "mail addresses": addresses.parse_mailboxes,
        "mail ids": headers.message_ids,
        "mail date": headers.parse_date,
        "mail subject": headers.normalised_subject,
        "mail header": mail_text.header_text,
        "mail encoded words": mail_text.decode_words,
        "mail HTML": html.html_to_text,
        "mail body": lambda body: mail(f"Subject: a\n\n{body}"),
        "mail head": lambda head: mail(f"Subject: {head}\n\na"),
        "mail parts": lambda body: mail(
            f'Content-Type: multipart/mixed; boundary="{body[:60]}"\n\n{body}'
        ),
        "calendar file": calendar,
        "calendar text": lambda body: calendar(event.format(body)),
        "calendar events": lambda body: calendar(f"BEGIN:VCALENDAR\n{body}"),
        "plain file": lambda body: list(plain.read(BytesIO(body.encode("utf-8", "replace")))),
        "HTML file": lambda body: list(plain.read_html(BytesIO(body.encode("utf-8", "replace")))),
        "chunks": chunking.spans,
        "words": lambda body: list(lexemes.words(body)),
        "terms": lexemes.terms,
        "language": languages.language_of,
        "visible text": visible.visible,
        "typed words": own.own_words,
        "typed value": lambda body: typed.typed("a", body),
        "times said": lambda body: times.read(body, said_at="2026-03-02T10:00Z", zone="UTC"),
        "subject of a pattern": subjects.generalised,
        "hosts": links.hosts,
        "links": links.unveiled,
        "sensitive": sensitive.found,
        "shown text": text.visible,
        "alert": lambda body: alert({"subject": body}),
        "alert text": lambda body: alert({"body_text": body}),
        "alert HTML": lambda body: alert({"body_html": body}),
        "claims": deeds.find_claims,
        "denials": deeds.find_denials,
        "citations": lambda body: citations.bind_citations(body, {}),
        "thoughts": thoughts.split,
    }


def run(name: str, piece: str, size: int, into: Any) -> None:
    """Time one case in this process, and say its milliseconds of CPU."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + LIMIT,) * 2)
    text = (piece * (size // len(piece) + 1))[:size]
    parse = parsers()[name]
    parse("warm up")
    began = time.process_time()
    with suppress(ValueError):  # refused in words
        parse(text)
    into.send((time.process_time() - began) * 1000)


def measure(name: str, piece: str, size: int) -> float:
    """Milliseconds of CPU; LIMIT seconds for what did not end."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=run, args=(name, piece, size, sending)
    )
    process.start()
    sending.close()
    try:
        return float(receiving.recv())
    except EOFError:
        return LIMIT * 1000.0
    finally:
        process.join()


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
    names = sys.argv[2:] or list(parsers())  # loaded once, for every process that is forked
    for name in names:
        for piece in PIECES:
            took: list[float] = []
            for size in sizes:
                took.append(measure(name, piece, size))
                if took[-1] >= LIMIT * 1000:
                    break
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
