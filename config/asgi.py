"""The ASGI entrance of the web process: limits and event streams in front, Django behind."""

import os
from typing import cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("REMIT_PROCESS", "web")

from django.conf import settings  # after the settings are named
from django.core.asgi import get_asgi_application

django = get_asgi_application()

from agents.api.mcp.door import with_mcp  # noqa: E402  # needs the app registry
from agents.turns.streams import App, with_streams  # noqa: E402  # needs the app registry
from audit.database import start  # noqa: E402
from config.body_limit import with_body_limit  # noqa: E402
from config.lifespan import with_lifespan  # noqa: E402
from knowledge import checks  # noqa: E402

application = with_lifespan(
    with_body_limit(
        with_mcp(with_streams(cast(App, django))), max_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    ),
    refusals=lambda: [*start.find_refusals(), *checks.find_refusals()],
)
