"""The sandbox as one ASGI application."""

import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from sandbox.data_service import control, page, reads, writes
from sandbox.data_service.delivery import Delivery
from sandbox.data_service.errors import Refusal
from sandbox.data_service.faults import Faults
from sandbox.data_service.serving import BROKEN, BearerOnly, NamedRequests, Room
from sandbox.data_service.settings import Settings
from sandbox.data_service.store import Store

# The page needs no key, so no other site may reach it by pointing its name at this machine.
HOSTS = ["127.0.0.1", "localhost"]


def build_app(settings: Settings) -> Starlette:
    """The sandbox for these settings. Its state is opened when the server starts it; starting
    raises SettingsError when the state cannot be used."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        store = Store(settings.state, records_webhooks=bool(settings.webhook_url))
        try:
            control.settle(store, with_office=settings.with_office)
            faults = Faults(control.stored_faults(store))
            delivery = Delivery(store, settings=settings, faults=faults)
            app.state.room = Room(settings=settings, store=store, faults=faults, delivery=delivery)
            async with delivery.running():
                yield
        finally:
            store.close()

    keyed = [Middleware(NamedRequests), Middleware(BearerOnly, key=settings.key)]
    return Starlette(
        routes=[
            Route("/", page.show, methods=["GET"]),
            Mount("/v1/data", routes=[*reads.ROUTES, *writes.ROUTES], middleware=keyed),
            Mount("/sandbox", routes=control.ROUTES, middleware=keyed),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)],
        exception_handlers={Refusal: _refused, HTTPException: _not_served, Exception: _broken},
        lifespan=lifespan,
    )


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, Refusal):
        raise error
    return error.response()


async def _not_served(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 405:
        refusal = Refusal(405, "method_not_allowed", f"{request.method} is not possible here.")
    else:
        refusal = Refusal(error.status_code, "not_found", "There is nothing at this address.")
    return refusal.response(headers=error.headers)


async def _broken(request: Request, error: Exception) -> Response:
    return BROKEN.response()
