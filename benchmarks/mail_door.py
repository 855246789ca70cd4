"""The door of the floor (benchmarks/mail_floor.py): a webhook is stored by one statement before it
is answered.

    python benchmarks/mail_door.py PORT

What comes for a new mail is queued under the id that it brings; word of what was done is stored as
done, like Remit's.
"""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import uvicorn
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

SESSIONS = 8
STORE = """
INSERT INTO integrations_delivery (id, organisation_id, account_id, webhook_id, kind, source,
    source_id, body, state, reason, attempts, stalls, is_alone, received_at, finished_at)
SELECT %s, organisation_id, id, %s, %s, %s, %s, %s::jsonb, %s, %s, 0, 0, FALSE, %s, %s
FROM integrations_account WHERE external_user_id = 'replay'
"""
pool = AsyncConnectionPool(
    os.environ["DATABASE_URL"],
    min_size=SESSIONS,
    max_size=SESSIONS,
    kwargs={"autocommit": True},
    open=False,
)


async def take(request: Request) -> Response:
    body = await request.body()
    event: dict[str, Any] = json.loads(body)
    kind, now = request.path_params["kind"], datetime.now(UTC)
    is_new = kind == "created"
    values = [
        *(event.get("id") or uuid4(), request.headers["webhook-id"], kind),
        *(event["source"], event["source_id"], body.decode()),
        *(("queued", "", now, None) if is_new else ("skipped", "own_action", now, now)),
    ]
    async with pool.connection() as session:
        await session.execute(STORE, values)
    return Response(status_code=202)


@asynccontextmanager
async def opened(_: Starlette) -> AsyncIterator[None]:
    async with pool:
        yield


if __name__ == "__main__":
    routes = [Route("/webhooks/item-{kind}", take, methods=["POST"])]
    app = Starlette(routes=routes, lifespan=opened)
    uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
