"""A child for tests: what a request says, it does. An item with the title “Hang” is never read, nor
is a mail or calendar file with this word, and one with “Lie” is said to be another."""

import os
from typing import Any

from integrations.child import serve
from integrations.imports import child as imports_child
from knowledge.text import child


def answer(request: Any) -> bytes:
    match request:
        case "hang":
            while True:
                pass
        case "eat":
            return b"x" * 2**34
        case "raise":
            raise ValueError("a stranger's words")
        case "die":
            os._exit(3)
        case "environment":
            return repr(dict(os.environ)).encode()
        case str():
            return request.encode()
        case item, _ if getattr(item, "subject", "") == "Hang":
            return answer("hang")
        case bytes(), *_:
            return _read(*request)
        case _:
            return child.answer(request)


def _read(raw: bytes, *rest: Any) -> bytes:
    if b"Hang" in raw:
        return answer("hang")
    return imports_child.answer((raw + b"." if b"Lie" in raw else raw, *rest))


if __name__ == "__main__":
    serve(answer)
