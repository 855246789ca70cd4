"""What a domain's DNS says of its services, asked of the system's resolver. Where there is none, or
where it does not answer in time, the domain says nothing."""

import secrets
from time import monotonic
from typing import Any

from dns.exception import DNSException
from dns.resolver import NoResolverConfiguration, Resolver

from integrations.network import srv
from integrations.network.srv import Record, Service

RESOLV_CONF, PORT = "/etc/resolv.conf", 53
SECONDS = 5.0  # for all that one search asks


class Domain:
    """`name` in small letters. The time begins with it."""

    def __init__(self, name: str) -> None:
        self.name, self._until = name, monotonic() + SECONDS
        try:
            self._resolver: Resolver | None = Resolver(RESOLV_CONF)
            self._resolver.port = PORT
        except (NoResolverConfiguration, OSError, ValueError):  # of a line that is no address
            self._resolver = None

    def find(self, service: str) -> Service:
        """Of a service over TCP, such as `_imaps`."""
        records = [
            Record(
                priority=one.priority,
                weight=one.weight,
                port=one.port,
                target=one.target.to_text(omit_final_dot=True),
            )
            for one in self._ask(service, "SRV")
        ]
        return srv.read(records, draw=secrets.randbelow)

    def path_of(self, service: str) -> str:
        """Empty where none is named."""
        return srv.read_path(text for one in self._ask(service, "TXT") for text in one.strings)

    def _ask(self, service: str, kind: str) -> list[Any]:
        if self._resolver is None:
            return []
        name, left = f"{service}._tcp.{self.name}.", self._until - monotonic()
        try:
            return list(self._resolver.resolve(name, kind, lifetime=left))
        except (DNSException, OSError):
            return []


def find_urls(domain: str, service: str, *, path: str, may_name_path: bool) -> tuple[str, ...]:
    """Where a service of the web is, the likeliest first, and there at `path` unless the domain may
    name another one and does. Raises Rejected with a sentence where there is none, and where all
    are at other sites."""
    asked = Domain(domain)
    found = asked.find(service)
    srv.check_offered(domain, found)
    places = srv.prefer_own(domain, found.places)
    srv.check_own(domain, places[:1])
    if not places:
        return ()
    named = asked.path_of(service) if may_name_path else ""
    return tuple(f"https://{one.host}{_port(one.port)}{named or path}" for one in places)


def _port(number: int) -> str:
    return "" if number == 443 else f":{number}"
