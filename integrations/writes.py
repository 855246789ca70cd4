"""The one door to provider writes. Only `guardrails.execute.executor` may import this module
(import-linter holds it), so that no write happens without a decision and a ledger row."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from integrations import mcp_tools
from integrations.contracts import AccountRef, OutgoingMail
from integrations.data_service import fingerprint, gate, segment, upstream
from integrations.exceptions import Changed, Malformed, Rejected
from integrations.mcp import calls
from integrations.network import http
from integrations.network.gate import Gate
from integrations.ports import Writer


def writer(account: AccountRef) -> Writer:
    return McpWriter(account) if account.source == "mcp" else DataServiceWriter(account)


class DataServiceWriter:
    """Writes through the data service. Satisfies `integrations.ports.Writer`."""

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
        version: int | None = None,
    ) -> dict[str, Any]:
        """One write. With a version the provider refuses when the object has another one."""
        answer = http.request(
            self._upstream,
            method,
            self._user + path,
            body=body,
            idempotency_key=key,
            headers={"If-Match": str(version)} if version is not None else None,
            slot=self._gate.slot,
            named=self._note,
        )
        if answer is None and method == "DELETE":
            return {}
        if not isinstance(answer, dict):
            raise Malformed("the answer is not an object")
        return answer

    def _note(self, request_id: str) -> None:
        self.request_id = request_id

    def archive(self, email_id: str, *, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/archive", key, {})

    def mark_read(self, email_id: str, *, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/mark-read", key, {})

    def move_email(self, email_id: str, *, folder_id: str, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/move", key, {"folder_id": folder_id})

    def forward_email(self, email_id: str, mail: OutgoingMail, *, key: str) -> dict[str, Any]:
        content = {**_receivers(mail), "body": mail.body}
        return self._post(f"/emails/{segment(email_id)}/forward", key, content)

    def delete_draft(self, draft_id: str, *, version: int | None, key: str) -> dict[str, Any]:
        return self._call("DELETE", f"/drafts/{segment(draft_id)}", key, version=version)

    def create_event(self, fields: Mapping[str, Any], *, key: str) -> dict[str, Any]:
        return self._post("/calendar/events", key, dict(fields))

    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, version: int | None, key: str
    ) -> dict[str, Any]:
        path = f"/calendar/events/{segment(event_id)}"
        return self._call("PATCH", path, key, dict(changes), version)

    def cancel_event(self, event_id: str, *, version: int | None, key: str) -> dict[str, Any]:
        return self._call("DELETE", f"/calendar/events/{segment(event_id)}", key, version=version)

    def change_issue(
        self, issue_key: str, changes: Mapping[str, Any], *, version: int | None, key: str
    ) -> dict[str, Any]:
        path = f"/jira/issues/{segment(issue_key)}"
        return self._call("PATCH", path, key, dict(changes), version)

    def comment_issue(
        self, issue_key: str, *, body: str, version: int | None, key: str
    ) -> dict[str, Any]:
        path = f"/jira/issues/{segment(issue_key)}/comments"
        return self._call("POST", path, key, {"body": body}, version)

    def create_document(
        self, *, name: str, content: str, folder_id: str, key: str
    ) -> dict[str, Any]:
        return self._post(
            "/documents", key, {"name": name, "content": content, "folder_id": folder_id}
        )

    def append_document(
        self, document_id: str, *, content: str, version: int | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}"
        return self._call("PATCH", path, key, {"mode": "append", "content": content}, version)

    def move_document(
        self, document_id: str, *, folder_id: str, version: int | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}/move"
        return self._call("POST", path, key, {"folder_id": folder_id}, version)

    def share_document(
        self, document_id: str, *, email: str, role: str, version: int | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}/share"
        return self._call("POST", path, key, {"email": email, "role": role}, version)

    def unshare_document(
        self, document_id: str, *, email: str, version: int | None, key: str
    ) -> dict[str, Any]:
        path = f"/documents/{segment(document_id)}/unshare"
        return self._call("POST", path, key, {"email": email}, version)

    def change_labels(
        self, email_id: str, *, add: Sequence[str], remove: Sequence[str], key: str
    ) -> dict[str, Any]:
        body = {"add": list(add), "remove": list(remove)}
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
        return self._post("/jira/issues", key, body)

    def call_tool(
        self, tool_id: str, arguments: Mapping[str, Any], *, version: int | None, key: str
    ) -> dict[str, Any]:
        raise Rejected("the data service has no tools")


class McpWriter(DataServiceWriter):
    """Calls tools of the organisation's MCP servers."""

    @property
    def credential(self) -> str:
        """Each server has its own, and which one it is follows from the tool."""
        return ""

    def call_tool(
        self, tool_id: str, arguments: Mapping[str, Any], *, version: int | None, key: str
    ) -> dict[str, Any]:
        row = mcp_tools.row_of(self._account, tool_id)
        if not (row.enabled and row.server.enabled) or row.version != version:
            raise Changed("the tool is not the one that was decided on")
        return calls.call(
            mcp_tools.address(row.server, self._account),
            name=row.name,
            fingerprint=row.fingerprint,
            arguments=arguments,
            key=key,
            repeatable=mcp_tools.effect_of(row) == "reading",
        )


def _receivers(mail: OutgoingMail) -> dict[str, Any]:
    return {"to": list(mail.to), "cc": list(mail.cc), "bcc": list(mail.bcc)}


def _message(mail: OutgoingMail) -> dict[str, Any]:
    message = {**_receivers(mail), "subject": mail.subject, "body": mail.body}
    return message | ({"reply_to_id": mail.reply_to_id} if mail.reply_to_id else {})
