"""The writes of the contract, one line each."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.data_service import bodies, mail, paperwork
from sandbox.data_service.operations import Perform, Write
from sandbox.data_service.serving import answer_write
from sandbox.data_service.values import DOCUMENT, DRAFT, EMAIL, EVENT, ISSUE

KIND_OF_ROOM = {
    "emails": EMAIL,
    "drafts": DRAFT,
    "calendar": EVENT,
    "jira": ISSUE,
    "documents": DOCUMENT,
}


def _write(method: str, path: str, body: type[Any], perform: Perform[Any]) -> Write[Any]:
    kind = KIND_OF_ROOM[path.split("/")[1]]
    return Write(method=method, path=path, body=body, perform=perform, kind=kind)


WRITES = (
    _write("POST", "/emails/send", bodies.Send, mail.send),
    _write("POST", "/emails/{id}/forward", bodies.Forward, mail.forward),
    _write("POST", "/emails/{id}/archive", bodies.Empty, mail.archive),
    _write("POST", "/emails/{id}/trash", bodies.Empty, mail.trash),
    _write("POST", "/emails/{id}/mark-read", bodies.Empty, mail.mark_read),
    _write("POST", "/emails/{id}/labels", bodies.LabelChange, mail.change_labels),
    _write("POST", "/emails/{id}/move", bodies.Move, mail.move),
    _write("POST", "/drafts", bodies.NewDraft, mail.create_draft),
    _write("PATCH", "/drafts/{id}", bodies.DraftChange, mail.change_draft),
    _write("DELETE", "/drafts/{id}", bodies.Empty, mail.delete_draft),
    _write("POST", "/drafts/{id}/send", bodies.Empty, mail.send_draft),
    _write("POST", "/calendar/events", bodies.NewEvent, paperwork.create_event),
    _write("PATCH", "/calendar/events/{id}", bodies.EventChange, paperwork.change_event),
    _write("POST", "/calendar/events/{id}/answer", bodies.EventAnswer, paperwork.answer_event),
    _write("DELETE", "/calendar/events/{id}", bodies.Empty, paperwork.cancel_event),
    _write("POST", "/jira/issues", bodies.NewIssue, paperwork.create_issue),
    _write("PATCH", "/jira/issues/{id}", bodies.IssueChange, paperwork.change_issue),
    _write("POST", "/jira/issues/{id}/comments", bodies.NewComment, paperwork.comment),
    _write("POST", "/documents", bodies.NewDocument, paperwork.create_document),
    _write("PATCH", "/documents/{id}", bodies.DocumentChange, paperwork.change_document),
    _write("POST", "/documents/{id}/move", bodies.Move, paperwork.move_document),
    _write("POST", "/documents/{id}/share", bodies.Share, paperwork.share_document),
    _write("POST", "/documents/{id}/unshare", bodies.Unshare, paperwork.unshare_document),
    _write("POST", "/documents/{id}/trash", bodies.Empty, paperwork.trash_document),
    _write("POST", "/documents/{id}/restore", bodies.Empty, paperwork.restore_document),
)


def _route(write: Write[Any]) -> Route:
    async def endpoint(request: Request) -> Response:
        return await answer_write(request, write)

    return Route(f"/users/{{user_id}}{write.path}", endpoint, methods=[write.method])


ROUTES = tuple(_route(write) for write in WRITES)
