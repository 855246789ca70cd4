"""The ASGI entrance of the web process: limits and event streams in front, Django behind.

`config.serve` runs it with PROTOCOL, which has the limits that no application can keep.
"""

import os
import re
from typing import cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("REMIT_PROCESS", "web")

from django.conf import settings  # after the settings are named

from config.door.handler import get_application

django = get_application()

from agents.api.mcp.door import with_mcp  # noqa: E402  # needs the app registry
from agents.inbound.intake import accept_deliveries  # noqa: E402  # needs the app registry
from agents.turns.streams import App, with_streams  # noqa: E402  # needs the app registry
from audit.database import start  # noqa: E402
from config.door import backlogs  # noqa: E402
from config.door.bodies import Sizes, with_bodies  # noqa: E402
from config.door.callers import is_known  # noqa: E402
from config.door.connections import Limits, limited  # noqa: E402
from config.door.lanes import Backlog, Lane, with_lanes  # noqa: E402
from config.door.lifespan import with_lifespan  # noqa: E402
from config.door.origins import with_origins  # noqa: E402
from config.door.rates import Rate, with_rates  # noqa: E402
from config.door.webhooks import with_webhooks  # noqa: E402
from knowledge import checks  # noqa: E402

LIMITS = Limits(
    most=settings.WEB_CONNECTIONS,
    most_of_address=settings.WEB_CONNECTIONS_OF_ADDRESS,
    head_seconds=settings.HEAD_SECONDS,
    body_seconds=settings.BODY_SECONDS,
    read_seconds=settings.READ_SECONDS,
    proxies=settings.TRUSTED_PROXIES,
)
PROTOCOL = limited(LIMITS)
SIZES = Sizes(
    most=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    unknown=settings.UNKNOWN_BODY_BYTES,
    held=settings.HELD_BODY_BYTES,
    held_of_address=settings.HELD_BODY_BYTES_OF_ADDRESS,
)

LANES = (
    Lane(
        paths=re.compile(r"/webhooks/.*"),
        at_once=settings.WEBHOOKS_AT_ONCE,
        in_line=settings.WEBHOOKS_IN_LINE,
        line_seconds=5.0,
        is_full=Backlog(settings.DELIVERIES_WAITING_MOST, backlogs.deliveries_reach).is_full,
    ),
    Lane(
        paths=re.compile(r"/api/v1/(chat|chat/stream|tasks)"),
        at_once=settings.CHATS_AT_ONCE,
        in_line=0,
        line_seconds=0.0,
        is_full=Backlog(settings.TURNS_WAITING_MOST, backlogs.turns_reach).is_full,
    ),
)

# A place in a lane is taken when the body is there: who sends slowly must not hold one.
entrance = with_mcp(with_streams(cast(App, django)))
entrance = with_lanes(with_webhooks(entrance, store=accept_deliveries), lanes=LANES)
entrance = with_bodies(entrance, sizes=SIZES, is_known=is_known)
entrance = with_rates(
    entrance, rate=Rate(a_second=settings.ADDRESS_RATE, at_once=settings.ADDRESS_BURST)
)
application = with_lifespan(
    with_origins(entrance, origins=settings.API_ORIGINS),
    refusals=lambda: [*start.find_refusals(), *checks.find_refusals()],
)
