"""Django's ASGI handler, with middleware and view of a request one after another in one thread.

None of ours is asynchronous, but much of Django's middleware can be: left to itself Django runs
that on the event loop, and changes threads on the way in and out of each, ten times a request.
"""

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class SynchronousHandler(ASGIHandler):
    """An asynchronous view would run in a loop of its own."""

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response)(request)


def get_application() -> SynchronousHandler:
    django.setup(set_prefix=False)
    return SynchronousHandler()
