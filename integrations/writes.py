"""The one door to provider writes. Only `guardrails.executor` may import this module
(import-linter holds it), so that no write happens without a decision and a ledger row."""

from collections.abc import Sequence
from typing import Any

from integrations import http
from integrations.contracts import AccountRef
from integrations.data_service import segment, upstream
from integrations.exceptions import Malformed
from integrations.ports import Writer


def writer(account: AccountRef) -> Writer:
    return DataServiceWriter(account)


class DataServiceWriter:
    """Writes through the data service. Satisfies `integrations.ports.Writer`."""

    def __init__(self, account: AccountRef) -> None:
        self._upstream = upstream(account)
        self._user = f"/users/{segment(account.external_user_id)}"

    def _post(self, path: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = http.request(
            self._upstream, "POST", self._user + path, body=body, idempotency_key=key
        )
        if not isinstance(answer, dict):
            raise Malformed("the answer is not an object")
        return answer

    def archive(self, email_id: str, *, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/archive", key, {})

    def change_labels(
        self, email_id: str, *, add: Sequence[str], remove: Sequence[str], key: str
    ) -> dict[str, Any]:
        body = {"add": list(add), "remove": list(remove)}
        return self._post(f"/emails/{segment(email_id)}/labels", key, body)

    def create_draft(
        self,
        *,
        to: Sequence[str],
        cc: Sequence[str],
        bcc: Sequence[str],
        subject: str,
        body: str,
        reply_to_id: str | None,
        key: str,
    ) -> dict[str, Any]:
        return self._post("/drafts", key, _message(to, cc, bcc, subject, body, reply_to_id))

    def send_email(
        self,
        *,
        to: Sequence[str],
        cc: Sequence[str],
        bcc: Sequence[str],
        subject: str,
        body: str,
        reply_to_id: str | None,
        key: str,
    ) -> dict[str, Any]:
        return self._post("/emails/send", key, _message(to, cc, bcc, subject, body, reply_to_id))

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


def _message(
    to: Sequence[str],
    cc: Sequence[str],
    bcc: Sequence[str],
    subject: str,
    body: str,
    reply_to_id: str | None,
) -> dict[str, Any]:
    message: dict[str, Any] = {
        "to": list(to),
        "cc": list(cc),
        "bcc": list(bcc),
        "subject": subject,
        "body": body,
    }
    return message | ({"reply_to_id": reply_to_id} if reply_to_id else {})
