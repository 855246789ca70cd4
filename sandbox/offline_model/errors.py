"""Refusals in the shape of OpenAI's API, so that the `openai` package raises its own errors."""

from typing import Any


class ApiError(Exception):
    """A request that is refused. `param` names the field at fault, as the real API does."""

    def __init__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        return {
            "error": {
                "message": self.message,
                "type": "invalid_request_error",
                "param": self.param,
                "code": self.code,
            }
        }
