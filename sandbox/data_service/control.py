"""The control API under /sandbox: for tests and demonstrations, not part of the contract."""

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.data_service import (
    audiences,
    cursors,
    files,
    history,
    objects,
    office,
    operations,
    outbox,
    places,
)
from sandbox.data_service.audiences import Audiences
from sandbox.data_service.errors import Refusal, invalid_body
from sandbox.data_service.faults import FaultSettings
from sandbox.data_service.operations import parsed_json
from sandbox.data_service.places import User
from sandbox.data_service.serving import body_of, room
from sandbox.data_service.store import Store
from sandbox.data_service.times import stop_clock
from sandbox.data_service.values import EMAIL, KINDS, Instant, Kind, Value

LARGEST_INTAKE = 64 * 1024 * 1024
CALLS_PER_ANSWER = 1000
FAULTS = "faults"
V = TypeVar("V", bound=Value)


class NewUser(Value):
    address: Annotated[str, Field(min_length=3)] | None = None
    name: str | None = None
    items: dict[str, list[dict[str, Any]]] = {}  # by collection
    audiences: Audiences | None = None


class Clock(Value):
    now: Instant | None = None


class Intake(Value):
    items: list[dict[str, Any]]
    notify: bool = True


def stored_faults(store: Store) -> FaultSettings:
    """The faults that were last switched on, also before a restart."""
    return FaultSettings.model_validate_json(store.option(FAULTS, "{}"))


def settle(store: Store, *, with_office: bool) -> None:
    """Puts the office into a state that has no users yet."""
    if with_office and not places.users(store):
        with store.transaction():
            office.load(store)


async def get_faults(request: Request) -> Response:
    return JSONResponse(room(request).faults.settings.model_dump())


async def put_faults(request: Request) -> Response:
    """Sets all faults at once; what is not given is switched off."""
    here = room(request)
    faults = await _body(request, FaultSettings)
    here.store.set_option(FAULTS, faults.model_dump_json())
    here.faults.set(faults)
    return JSONResponse(faults.model_dump())


async def put_clock(request: Request) -> Response:
    """Stops the clock at this time; without one it goes on."""
    clock = await _body(request, Clock)
    stop_clock(datetime.fromisoformat(clock.now) if clock.now else None)
    return JSONResponse(clock.model_dump())


async def get_state(request: Request) -> Response:
    """Every object of every user, as it is now."""
    store = room(request).store
    return JSONResponse(
        {
            user.id: {
                kind.collection: objects.everything(store, user_id=user.id, kind=kind)
                for kind in KINDS
            }
            for user in places.users(store)
        }
    )


async def get_calls(request: Request) -> Response:
    after = request.query_params.get("after", "0")
    if not after.isascii() or not after.isdecimal() or len(after) > 15:
        raise Refusal(400, "bad_parameter", "after: give the id of a call.")
    items = operations.calls(
        room(request).store,
        after=int(after),
        user_id=request.query_params.get("user"),
        limit=CALLS_PER_ANSWER,
    )
    return JSONResponse({"items": items, "has_more": len(items) == CALLS_PER_ANSWER})


async def get_requests(request: Request) -> Response:
    """How many requests for data came since the start, reads included."""
    return JSONResponse({"requests": room(request).faults.requests})


async def get_webhooks(request: Request) -> Response:
    return JSONResponse(outbox.counts(room(request).store))


async def get_incoming(request: Request) -> Response:
    return JSONResponse({"items": office.incoming_names()})


async def post_user(request: Request) -> Response:
    here = room(request)
    id = request.path_params["user_id"]
    body = await _body(request, NewUser)
    with here.store.transaction():
        user = office.create_user(
            here.store, id=id, address=body.address or f"{id}@company.com", name=body.name or id
        )
        for collection, items in body.items.items():
            _put_in(here.store, user, _kind(collection), items, notify=False)
        if body.audiences:
            audiences.put(here.store, user_id=user.id, audiences=body.audiences)
    return JSONResponse({"id": user.id, "address": user.address, "name": user.name})


async def put_audiences(request: Request) -> Response:
    """Says who else sees the user's mailbox and folders; what is not given is private."""
    store = room(request).store
    given = await _body(request, Audiences)
    user = places.user(store, id=request.path_params["user_id"])
    audiences.put(store, user_id=user.id, audiences=given)
    return JSONResponse(given.model_dump())


async def post_items(request: Request) -> Response:
    """Puts objects into a user's rooms, all or none; an id that is there changes nothing."""
    here = room(request)
    intake = await _body(request, Intake)
    with here.store.transaction():
        user = places.user(here.store, id=request.path_params["user_id"])
        kind = _kind(request.path_params["collection"])
        added = _put_in(here.store, user, kind, intake.items, notify=intake.notify)
    here.delivery.wake()
    return JSONResponse({"added": added, "unchanged": len(intake.items) - added})


async def post_file(request: Request) -> Response:
    """Keeps the body's bytes; attachments and documents can then name them by `file_id`."""
    store = room(request).store
    user = places.user(store, id=request.path_params["user_id"])
    content = await body_of(request, limit=LARGEST_INTAKE)
    id = files.put(store, user_id=user.id, content=content)
    return JSONResponse({"file_id": id, "size": len(content)}, status_code=201)


async def patch_item(request: Request) -> Response:
    """Changes an object as if it had been changed elsewhere."""
    here = room(request)
    fields = parsed_json(await body_of(request))
    if not isinstance(fields, dict):
        raise Refusal(422, "invalid_body", "body: give an object.")
    with here.store.transaction():
        user = places.user(here.store, id=request.path_params["user_id"])
        kind = _kind(request.path_params["collection"])
        changed = objects.change(
            here.store, user_id=user.id, kind=kind, id=request.path_params["id"], fields=fields
        )
        _note(here.store, user, kind, "changed", history.address(changed))
    here.delivery.wake()
    return JSONResponse(changed)


async def delete_item(request: Request) -> Response:
    """Removes an object as if it had been removed elsewhere."""
    here = room(request)
    with here.store.transaction():
        user = places.user(here.store, id=request.path_params["user_id"])
        kind = _kind(request.path_params["collection"])
        objects.remove(here.store, user_id=user.id, kind=kind, id=request.path_params["id"])
        _note(here.store, user, kind, "deleted", request.path_params["id"])
    here.delivery.wake()
    return Response(status_code=204)


async def deliver(request: Request) -> Response:
    """Lets one scripted mail arrive."""
    here = room(request)
    with here.store.transaction():
        user = places.user(here.store, id=request.path_params["user_id"])
        fields = office.incoming(here.store, name=request.path_params["name"], user=user)
        email, _ = objects.add(here.store, user_id=user.id, kind=EMAIL, fields=fields)
        _note(here.store, user, EMAIL, "created", email["id"])
    here.delivery.wake()
    return JSONResponse(email, status_code=201)


async def get_history(request: Request) -> Response:
    store = room(request).store
    user = places.user(store, id=request.path_params["user_id"])
    return JSONResponse({"items": operations.performed(store, user_id=user.id)})


async def reset(request: Request) -> Response:
    """Back to the freshly loaded office: state, faults, journal and outbox."""
    here = room(request)
    with here.store.transaction():
        here.store.empty()
        if here.settings.with_office:
            office.load(here.store)
    here.faults.set(FaultSettings())
    return JSONResponse({"users": [user.id for user in places.users(here.store)]})


async def expire_cursors(request: Request) -> Response:
    cursors.expire_all(room(request).store)
    return Response(status_code=204)


async def _body(request: Request, model: type[V]) -> V:
    raw = (await body_of(request, limit=LARGEST_INTAKE)).strip() or b"{}"
    parsed_json(raw)
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise invalid_body(error) from error


def _put_in(
    store: Store, user: User, kind: Kind, items: list[dict[str, Any]], *, notify: bool
) -> int:
    """How many were not there before."""
    added = 0
    for fields in items:
        stored, is_new = objects.add(
            store, user_id=user.id, kind=kind, fields=fields, notify=notify
        )
        if is_new:
            _note(store, user, kind, "created", history.address(stored))
        added += is_new
    return added


def _note(store: Store, user: User, kind: Kind, change: str, object_id: str) -> None:
    """What came about behind the client's back is in the history too, marked so."""
    history.note(store, user_id=user.id, kind=kind, change=change, object_id=object_id)


def _kind(collection: str) -> Kind:
    for kind in KINDS:
        if kind.collection == collection:
            return kind
    raise Refusal(404, "not_found", f"There is no collection {collection!r}.")


ROUTES = (
    Route("/faults", get_faults, methods=["GET"]),
    Route("/faults", put_faults, methods=["PUT"]),
    Route("/clock", put_clock, methods=["PUT"]),
    Route("/state", get_state, methods=["GET"]),
    Route("/calls", get_calls, methods=["GET"]),
    Route("/requests", get_requests, methods=["GET"]),
    Route("/webhooks", get_webhooks, methods=["GET"]),
    Route("/incoming", get_incoming, methods=["GET"]),
    Route("/reset", reset, methods=["POST"]),
    Route("/expire-cursors", expire_cursors, methods=["POST"]),
    Route("/users/{user_id}", post_user, methods=["POST"]),
    Route("/users/{user_id}/audiences", put_audiences, methods=["PUT"]),
    Route("/users/{user_id}/history", get_history, methods=["GET"]),
    Route("/users/{user_id}/deliver/{name}", deliver, methods=["POST"]),
    Route("/users/{user_id}/files", post_file, methods=["POST"]),
    Route("/users/{user_id}/{collection}", post_items, methods=["POST"]),
    Route("/users/{user_id}/{collection}/{id}", patch_item, methods=["PATCH"]),
    Route("/users/{user_id}/{collection}/{id}", delete_item, methods=["DELETE"]),
)
