"""An export as a streamed HTTP answer, under WSGI and under ASGI."""

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from audit.bundle.contents import Bundle
from audit.formats.export import Export


def download(export: Export | Bundle, *, request: HttpRequest) -> StreamingHttpResponse:
    """The export as a file. The header X-Ledger-Export names its own ledger action."""
    name = f"remit-ledger-{export.generated_at:%Y%m%dT%H%M%SZ}.{export.suffix}"
    # Under ASGI a plain iterator would be read whole into memory first.
    chunks = in_threads(export) if isinstance(request, ASGIRequest) else iter(export)
    return StreamingHttpResponse(
        chunks,
        content_type=export.content_type,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Ledger-Export": str(export.id),
            "Cache-Control": "no-store",
        },
    )


async def in_threads(export: Export | Bundle) -> AsyncIterator[bytes]:
    chunks = iter(export)

    def following() -> bytes | None:
        return next(chunks, None)

    try:
        while (chunk := await sync_to_async(following)()) is not None:
            yield chunk
    finally:
        await sync_to_async(chunks.close)()
