"""Refusals of who stands before Django, in the shape of every other error."""

import json
from collections.abc import Mapping

from django.utils.translation import gettext

from integrations.web.languages import first_spoken, speaking
from integrations.web.problems import MEDIA_TYPE, problem

Headers = list[tuple[bytes, bytes]]


def render_refusal(
    asked: Mapping[bytes, bytes],
    status: int,
    code: str,
    sentence: str,
    *,
    wait: int = 0,
    values: Mapping[str, object] | None = None,
) -> tuple[Headers, bytes]:
    """Headers and body of one error, in the language that the request's headers ask for. `sentence`
    is as it stands in the code, with its `values`; `wait`: after how many seconds to come again."""
    language = first_spoken(asked.get(b"accept-language", b"").decode("latin-1"))
    with speaking(language):
        said = gettext(sentence) % values if values else gettext(sentence)
        body = json.dumps(problem(status, code, said)).encode()
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-language", (language or "en").encode()),
        (b"vary", b"Accept-Language"),
        (b"content-length", str(len(body)).encode()),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if wait:
        headers.append((b"retry-after", str(wait).encode()))
    return headers, body
