"""A child for tests: a parser of `benchmarks.parsers` reads a text, and it says when that ended."""

import os
from contextlib import suppress

import django

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "tests",
    "LEDGER_KEY": "tests",
    "DATABASE_URL": "postgresql://nobody/none",
}
django.setup()

from benchmarks.hostile import REFUSED, Case  # noqa: E402  # after Django
from benchmarks.parsers import LIMITS, PARSERS  # noqa: E402
from integrations.child import serve  # noqa: E402

SIZE = 150_000


def answer(request: tuple[str, str, str, str]) -> bytes:
    name, *parts = request
    with suppress(*REFUSED):
        PARSERS[name](Case(*parts).text(min(SIZE, LIMITS.get(name, SIZE))))
    return b"read"


if __name__ == "__main__":
    serve(answer)
