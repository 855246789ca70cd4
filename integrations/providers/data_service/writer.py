"""Writes through the External Data Service. Only `integrations.accounts.writes` may import it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from integrations.contracts import AccountRef
from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Malformed, Rejected
from integrations.network import http
from integrations.network.gate import Gate
from integrations.ports.account import Writer
from integrations.ports.calendar import Answer
from integrations.providers.data_service.session import (
    fingerprint,
    gate,
    revised,
    segment,
    upstream,
)


class DataServiceWriter:
    """Satisfies the writers of mail, files, calendar and issues in `integrations.ports`: the
    service tells them apart by path, and has one user and one key for all."""

    def __init__(self, account: AccountRef) -> None:
        self.request_id = ""
        self._account = account

    @property
    def credential(self) -> str:
        return fingerprint(self._account)

    @cached_property
    def _user(self) -> str:
        return f"/users/{segment(self._account.external_user_id)}"

    @cached_property
    def _upstream(self) -> http.Upstream:
        return upstream(self._account)

    @cached_property
    def _gate(self) -> Gate:
        return gate(self._account)

    def _post(self, path: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._call("POST", path, key, body)

    def _call(
        self,
        method: str,
        path: str,
        key: str,
        body: dict[str, Any] | None = None,
        revision: str | None = None,
    ) -> dict[str, Any]:
        """One write. With a revision the service refuses when the object has another one."""
        answer = http.request(
            self._upstream,
            method,
            self._user + path,
            body=body,
            idempotency_key=key,
            headers={"If-Match": revision} if revision is not None else None,
            slot=self._gate.slot,
            named=self._note,
        )
        if answer is None and method == "DELETE":
            return {}
        if not isinstance(answer, dict):
            raise Malformed("the answer is not an object")
        found: dict[str, Any] = revised(answer)
        return found

    def _note(self, request_id: str) -> None:
        self.request_id = request_id

    def archive(self, email_id: str, *, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/archive", key, {})

    def trash_email(self, email_id: str, *, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/trash", key, {})

    def mark_read(self, email_id: str, *, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/mark-read", key, {})

    def move_email(self, email_id: str, *, folder_id: str, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/move", key, {"folder_id": folder_id})

    def forward_email(self, email_id: str, mail: OutgoingMail, *, key: str) -> dict[str, Any]:
        content = {**_receivers(mail), "body": mail.body} | _files(mail)
        return self._post(f"/emails/{segment(email_id)}/forward", key, content)

    def recall_email(self, email_id: str, *, submission_id: str, key: str) -> dict[str, Any]:
        raise Rejected("this service holds no mail back")

    def delete_draft(self, draft_id: str, *, revision: str | None, key: str) -> dict[str, Any]:
        return self._call("DELETE", f"/drafts/{segment(draft_id)}", key, revision=revision)

    def create_event(self, fields: Mapping[str, Any], *, key: str) -> dict[str, Any]:
        return self._post("/calendar/events", key, dict(fields))

    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> dict[str, Any]:
        path = f"/calendar/events/{segment(event_id)}"
        return self._call("PATCH", path, key, dict(changes), revision)

    def cancel_event(self, event_id: str, *, revision: str | None, key: str) -> dict[str, Any]:
        return self._call("DELETE", f"/calendar/events/{segment(event_id)}", key, revision=revision)

    def answer_event(
        self,
        event_id: str,
        answer: Answer,
        *,
        proposed: tuple[str, str] | None,
        revision: str | None,
        key: str,
    ) -> dict[str, Any]:
        body: dict[str, str] = {"status": answer}
        if proposed:
            body |= {"start": proposed[0], "end": proposed[1]}
        path = f"/calendar/events/{segment(event_id)}/answer"
        return self._call("POST", path, key, body, revision)

    def change_issue(
        self, issue_key: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> dict[str, Any]:
        path = f"/jira/issues/{segment(issue_key)}"
        return self._call("PATCH", path, key, dict(changes), revision)

    def comment_issue(
        self, issue_key: str, *, body: str, revision: str | None, key: str
    ) -> dict[str, Any]:
        path = f"/jira/issues/{segment(issue_key)}/comments"
        return self._call("POST", path, key, {"body": body}, revision)

    def create_document(
        self, *, name: str, content: str, folder_id: str, key: str
    ) -> dict[str, Any]:
        return self._post(
            "/documents", key, {"name": name, "content": content, "folder_id": folder_id}
        )

    def append_document(
        self, document_id: str, *, content: str, revision: str | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}"
        return self._call("PATCH", path, key, {"mode": "append", "content": content}, revision)

    def move_document(
        self, document_id: str, *, folder_id: str, revision: str | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}/move"
        return self._call("POST", path, key, {"folder_id": folder_id}, revision)

    def share_document(
        self, document_id: str, *, email: str, role: str, revision: str | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}/share"
        return self._call("POST", path, key, {"email": email, "role": role}, revision)

    def unshare_document(
        self, document_id: str, *, email: str, revision: str | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}/unshare"
        return self._call("POST", path, key, {"email": email}, revision)

    def trash_document(self, document_id: str, *, revision: str | None, key: str) -> dict[str, Any]:
        return self._call("POST", f"/documents/{segment(document_id)}/trash", key, {}, revision)

    def restore_document(
        self, document_id: str, *, revision: str | None, key: str
    ) -> dict[str, Any]:
        return self._call("POST", f"/documents/{segment(document_id)}/restore", key, {}, revision)

    def change_labels(
        self,
        email_id: str,
        *,
        add: Sequence[str],
        remove: Sequence[str],
        thread_remove: Sequence[str] = (),
        key: str,
    ) -> dict[str, Any]:
        body = {"add": list(add), "remove": list(remove)}
        if thread_remove:
            body["thread_remove"] = list(thread_remove)
        return self._post(f"/emails/{segment(email_id)}/labels", key, body)

    def create_draft(self, mail: OutgoingMail, *, key: str) -> dict[str, Any]:
        return self._post("/drafts", key, _message(mail))

    def send_email(self, mail: OutgoingMail, *, key: str) -> dict[str, Any]:
        return self._post("/emails/send", key, _message(mail))

    def create_issue(
        self,
        *,
        project_key: str,
        type: str,
        summary: str,
        description: str,
        priority: str | None,
        labels: Sequence[str],
        assignee: str | None,
        due_date: str | None,
        key: str,
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "project_key": project_key,
            "type": type,
            "summary": summary,
            "description": description,
            "labels": list(labels),
        }
        if priority is not None:
            body["priority"] = priority
        if assignee is not None:
            body["assignee"] = assignee
        if due_date is not None:
            body["due_date"] = due_date
        return self._post("/jira/issues", key, body)


def _receivers(mail: OutgoingMail) -> dict[str, Any]:
    return {"to": list(mail.to), "cc": list(mail.cc), "bcc": list(mail.bcc)}


def _message(mail: OutgoingMail) -> dict[str, Any]:
    message = {**_receivers(mail), "subject": mail.subject, "body": mail.body} | _files(mail)
    return message | ({"reply_to_id": mail.reply_to_id} if mail.reply_to_id else {})


def _files(mail: OutgoingMail) -> dict[str, Any]:
    return {"attachments": list(mail.attachments)} if mail.attachments else {}


open_writer: Callable[[AccountRef], Writer] = DataServiceWriter
