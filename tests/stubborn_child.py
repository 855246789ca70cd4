"""A child for tests: what a request says, it does. An item with the title “Hang” is never read."""

import os
from typing import Any

from integrations.child import serve
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
        case _:
            return child.answer(request)


if __name__ == "__main__":
    serve(answer)
