"""How many requests one address may make."""

from collections import OrderedDict
from dataclasses import dataclass
from math import ceil
from time import monotonic

from config.door.answers import TOO_OFTEN, refuse
from config.door.connections import group
from config.door.lifespan import App, Receive, Scope, Send

MOST_ADDRESSES = 10_000  # that are remembered; the one that was quiet longest is forgotten
# What watches over the process itself never has to come later.
ALWAYS = ("/health", "/ready")


@dataclass(frozen=True, kw_only=True)
class Rate:
    """So many a second, and so many at once after a rest. Of one web process."""

    a_second: float
    at_once: int


class Buckets:
    """What each address may still ask for: a bucket that fills with time."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str, *, now: float) -> float:
        """Take one request. Returns 0, or the seconds until the next one may come."""
        place = group(address)
        left, at = self._left.pop(place, (float(self._rate.at_once), now))
        left = min(self._rate.at_once, left + (now - at) * self._rate.a_second)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate.a_second
        self._left[place] = (left if wait else left - 1, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return wait


def with_rates(app: App, *, rate: Rate) -> App:
    """`app`, answering 429 with Retry-After to an address that asks too often."""
    buckets = Buckets(rate)

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        address = scope["client"][0] if scope.get("client") else ""
        is_free = scope["type"] != "http" or not address or scope["path"] in ALWAYS
        wait = 0.0 if is_free else buckets.take(address, now=monotonic())
        if wait:
            await refuse(scope, send, 429, "throttled", TOO_OFTEN, wait=ceil(wait))
            return
        await app(scope, receive, send)

    return limited
