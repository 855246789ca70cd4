"""What the child process does for `integrations.providers.caldav.events`: takes calendars of
strangers apart."""

from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from integrations.child import serve
from integrations.contracts import Event, Rejected
from integrations.imports.calendar_files import read_events
from integrations.providers.caldav.series import occurs

Found = list[list[Event | Rejected]]
FOUND: TypeAdapter[Found] = TypeAdapter(Found)
# The contents of resources, and the zone of times that name none.
Reading = tuple[list[bytes], str]
# A resource with a series, a planned start in it, and that zone.
Question = tuple[bytes, str, str]


def answer(request: Reading | Question) -> bytes:
    """What is in each resource; or whether a series has one at this start."""
    if len(request) == 3:
        raw, planned, zone = request
        return b"yes" if occurs(raw, planned, zone=zone) else b"no"
    contents, zone = request
    return FOUND.dump_json([read_events(one, zone=ZoneInfo(zone)) for one in contents])


if __name__ == "__main__":
    serve(answer)
