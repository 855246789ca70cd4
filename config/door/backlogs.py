"""How much work waits in the database."""

from collections.abc import Callable

from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections, connections
from django.db.models import Model, QuerySet

from agents.models import Turn
from integrations.models import Delivery


async def deliveries_reach(most: int) -> bool:
    """Whether so many deliveries wait for a worker."""
    return await _ask(Delivery.objects.waiting, most)


async def turns_reach(most: int) -> bool:
    """Whether so many turns wait for somebody to work on them."""
    return await _ask(lambda: Turn.objects.filter(state=Turn.State.QUEUED), most)


async def _ask(rows: Callable[[], "QuerySet[Model]"], most: int) -> bool:
    """A database that does not answer is no full queue: the request itself will say so."""

    def reach() -> bool:
        close_old_connections()
        try:
            return bool(rows().order_by()[most - 1 : most].exists())
        except DatabaseError:
            return False
        finally:
            connections.close_all()

    return await sync_to_async(reach, thread_sensitive=False)()
