"""Microsoft Graph for files: bytes go up as they are, and come down from another site."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.conf import settings

from integrations.exceptions import Malformed, RateLimited, TooLarge
from integrations.network import http, outgoing, retries
from integrations.network.answers import parse
from integrations.network.http import Answer
from integrations.network.outgoing import check_url
from integrations.providers.microsoft.session import GraphSession
from integrations.providers.microsoft_files.answers import PartSaid, PartsSaid
from integrations.providers.signed_in.session import MAX_ANSWER_BYTES, Params, read

ELSEWHERE = 302
WHERE_BYTES = 64 * 1024


class FilesSession(GraphSession):
    always: ClassVar[dict[str, str]] = {}

    def get_all(self, paths: Sequence[str]) -> list[Any]:
        """What is at each of these, up to 20, as one request; None where Graph refuses it. Raises
        ProviderError."""
        asked = [
            {"id": f"{number}", "method": "GET", "url": path} for number, path in enumerate(paths)
        ]
        content = json.dumps({"requests": asked}).encode()
        headers = {"Content-Type": "application/json"}

        def ask() -> list[Any]:
            url = f"{self._api}/$batch"
            answer = self._once("POST", url, None, content, headers, MAX_ANSWER_BYTES)
            said = {one.id: one for one in parse(PartsSaid, read(answer)).responses}
            return [_of(said.get(f"{number}")) for number in range(len(paths))]

        return retries.tried(ask, attempts=settings.DATA_SERVICE_ATTEMPTS, slot=self._slot)

    def put(
        self, path: str, content: bytes, *, params: Params | None = None, etag: str = ""
    ) -> Any:
        """One write of bytes, tried once. With `etag` it is for that version alone. Raises
        ProviderError."""
        headers = {"Content-Type": "text/plain"} | ({"If-Match": etag} if etag else {})
        return self._write("PUT", f"{self._api}{path}", params, content, headers)

    def download(self, path: str, params: Params, *, most_bytes: int) -> bytes:
        """The bytes, also where Graph says that they are at another site for a while: that site
        gets no token. Raises TooLarge and ProviderError."""
        answer = self._tried(path, params, max(most_bytes, WHERE_BYTES))
        if answer.status != ELSEWHERE:
            if len(answer.content) > most_bytes:
                raise TooLarge(f"more than {most_bytes} bytes")
            return answer.content
        place = answer.headers.get("location", "")
        return retries.tried(
            lambda: self._fetch(place, most_bytes),
            attempts=settings.DATA_SERVICE_ATTEMPTS,
            slot=self._slot,
        ).content

    def _fetch(self, url: str, most_bytes: int) -> Answer:
        check_url(url)
        answer = http.exchange(
            http.client(f"https://{urlsplit(url).netloc}"),
            "GET",
            url,
            address=outgoing.public_address(url),
            content=b"",
            headers={"User-Agent": "remit"},
            most_bytes=most_bytes,
        )
        if answer.status == ELSEWHERE:
            raise Malformed("a file that is always elsewhere")
        self._check(answer)
        return answer

    def _check(self, answer: Answer) -> None:
        if answer.status != ELSEWHERE:
            super()._check(answer)


def _of(said: PartSaid | None) -> Any:
    """Raises RateLimited where Graph asks to wait for one of them."""
    if said is not None and said.status == 429:
        wait = retries.retry_after(said.header("retry-after"))
        raise RateLimited("429", retry_after=wait)
    return said.body if said is not None and said.status == 200 else None
