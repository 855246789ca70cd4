"""Refusals: what the contract answers when it does not do what was asked."""

from collections.abc import Mapping

from pydantic import ValidationError
from starlette.responses import JSONResponse


class Refusal(Exception):
    """The request is refused with this status, code and sentence. Nothing has changed."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def response(self, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
        return JSONResponse(
            {"error": {"code": self.code, "message": self.message}},
            status_code=self.status,
            headers=headers,
        )


def invalid_body(error: ValidationError) -> Refusal:
    """The first fault of a body, with its field named."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in fault["loc"]) or "body"
    return Refusal(422, "invalid_body", f"{field}: {fault['msg']}.")
