"""Bytes of attachments and documents."""

import httpx
import pytest

from tests.sandbox_server import RunningSandbox, running_sandbox


def put(sandbox: RunningSandbox, content: bytes, *, user: str = "maya") -> httpx.Response:
    return httpx.post(
        f"{sandbox.control}/users/{user}/files", headers=sandbox.headers, content=content
    )


def get(sandbox: RunningSandbox, file_id: str, *, user: str = "maya") -> httpx.Response:
    return httpx.get(f"{sandbox.url}/users/{user}/files/{file_id}", headers=sandbox.headers)


def test_a_file_is_handed_out_as_it_was_put_in_under_an_id_of_its_bytes() -> None:
    with running_sandbox() as sandbox:
        first, again, other = (put(sandbox, content).json() for content in (b"\0a", b"\0a", b"b"))

        assert first == again == {"file_id": first["file_id"], "size": 2}
        assert other["file_id"] != first["file_id"]
        answer = get(sandbox, first["file_id"])
        assert (answer.content, answer.headers["content-type"]) == (
            b"\0a",
            "application/octet-stream",
        )


@pytest.mark.parametrize("user", ["omar", "nobody"])
def test_another_user_has_not_got_it(user: str) -> None:
    with running_sandbox() as sandbox:
        file_id = put(sandbox, b"secret").json()["file_id"]

        answer = get(sandbox, file_id, user=user)

        assert answer.status_code == 404
        assert b"secret" not in answer.content


def test_the_invoices_of_the_office_have_bytes_that_fit_what_the_mails_say() -> None:
    with running_sandbox() as sandbox:
        mails = httpx.get(
            f"{sandbox.url}/users/maya/emails", headers=sandbox.headers, params={"limit": 500}
        ).json()["items"]
        files = {file["name"]: file for mail in mails for file in mail["attachments"]}

        invoice = files["CN-88412.pdf"]
        content = get(sandbox, invoice["file_id"]).content

        assert len(content) == invoice["size"]
        assert content.startswith(b"%PDF-")
        assert files["sign-in-sketches-v2.pdf"]["file_id"] is None
