"""What the tests ask of a running sandbox, in few words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.sandbox_server import RunningSandbox


@dataclass(frozen=True, kw_only=True)
class Client:
    """Speaks to one sandbox; paths of the contract start after /v1/data/users."""

    sandbox: RunningSandbox
    http: httpx.Client

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.http.get(
            f"{self.sandbox.url}/users{path}", params=params, headers=self.sandbox.headers
        )

    def items(self, path: str, **params: Any) -> list[dict[str, Any]]:
        """The items of one page of 500."""
        response = self.get(path, **{"limit": 500, **params})
        assert response.status_code == 200, response.text
        found: list[dict[str, Any]] = response.json()["items"]
        return found

    def all_pages(self, path: str, **params: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.get(path, cursor=cursor, **params).json()
            found += page["items"]
            assert page["has_more"] is (page["next_cursor"] is not None)
            if not page["has_more"]:
                return found
            cursor = page["next_cursor"]

    def write(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        version: str | None = None,
    ) -> httpx.Response:
        headers = self.sandbox.headers | ({} if key is None else {"Idempotency-Key": key})
        headers |= {} if version is None else {"If-Match": version}
        return self.http.request(
            method, f"{self.sandbox.url}/users{path}", json=body, headers=headers
        )

    def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> httpx.Response:
        return self.write("POST", path, body, key=key)

    def control(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of a control call that must succeed."""
        response = self.try_control(method, path, body)
        assert response.is_success, response.text
        return response.json() if response.content else None

    def try_control(self, method: str, path: str, body: object = None) -> httpx.Response:
        return self.http.request(
            method, f"{self.sandbox.control}{path}", json=body, headers=self.sandbox.headers
        )

    def calls(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.control("GET", "/calls")["items"]
        return found

    def history(self, user: str = "maya") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.control("GET", f"/users/{user}/history")["items"]
        return found


def error(response: httpx.Response) -> tuple[int, str]:
    """The status and code of a refusal, which always carries a sentence."""
    content = response.json()["error"]
    assert set(content) == {"code", "message"}
    assert content["message"].endswith(".")
    return response.status_code, content["code"]


def mail(id: str, **fields: Any) -> dict[str, Any]:
    """A small mail to put into a mailbox."""
    return {"id": id, "from": "ana@known.example", "date": "2026-03-01T09:00:00Z", **fields}
