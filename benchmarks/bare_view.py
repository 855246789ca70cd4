"""A bare Django view that stores what is posted by one INSERT: what benchmarks/intake.py measures
Remit's door beside.

    python benchmarks/bare_view.py SOCKET

No middleware, no signature, no limit, nothing looked up; server, driver and pool are Remit's.
"""

import json
import os
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django
import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path

from config.local import databases
from config.local.variables import Variables

TABLE = """
CREATE TABLE bare_delivery (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), webhook_id text NOT NULL UNIQUE,
    source text NOT NULL, source_id text NOT NULL, body jsonb NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now())
"""
STORE = "INSERT INTO bare_delivery (webhook_id, source, source_id, body) VALUES (%s, %s, %s, %s)"


def take(request: HttpRequest) -> HttpResponse:
    event = json.loads(request.body)
    values = [request.headers["webhook-id"], event["source"], event["source_id"]]
    with connection.cursor() as cursor:
        cursor.execute(STORE, [*values, request.body.decode()])
    return HttpResponse(status=202)


urlpatterns = [path("webhooks/item-created", take)]

if __name__ == "__main__":
    url = os.environ["DATABASE_URL"]
    settings.configure(
        SECRET_KEY="benchmark",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        DATABASES=databases.configure(Variables(), "web", url, pooler=False),
    )
    django.setup()
    uvicorn.Server(
        uvicorn.Config(
            get_asgi_application(), http="h11", ws="none", access_log=False, log_level="warning"
        )
    ).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
