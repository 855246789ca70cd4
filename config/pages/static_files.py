"""Static files, whole in memory: the largest is 330 kB."""

from contextlib import nullcontext

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]
from whitenoise.responders import StaticFile  # type: ignore[import-untyped]


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # untyped
    """WhiteNoise's answer with its file closed before anybody else has it. Django's ASGI handler
    would read it whole into memory all the same, in one more thread."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        with found.file or nullcontext() as file:
            answer = HttpResponse(file.read() if file else b"", status=int(found.status))
        del answer["Content-Type"]
        for name, value in found.headers:
            answer[name] = value
        return answer
