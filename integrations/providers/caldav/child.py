"""What the child process does for `integrations.providers.caldav.events`: takes calendars of
strangers apart."""

from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from integrations.child import serve
from integrations.contracts import Event, Rejected
from integrations.imports.calendar_files import read_events

Found = list[list[Event | Rejected]]
FOUND: TypeAdapter[Found] = TypeAdapter(Found)
# The contents of resources, and the zone of times that name none.
Request = tuple[list[bytes], str]


def answer(request: Request) -> bytes:
    contents, zone = request
    return FOUND.dump_json([read_events(one, zone=ZoneInfo(zone)) for one in contents])


if __name__ == "__main__":
    serve(answer)
