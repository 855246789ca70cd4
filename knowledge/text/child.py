"""The program that reads items (`integrations.child`): an item comes in, what `parse` makes of it
goes out. As JSON: a child that an item has taken over can still say nothing but values."""

from pydantic import TypeAdapter

from integrations.child import serve
from integrations.contracts import AnyItem
from knowledge.text.parsing import Parsed, parse

PARSED = TypeAdapter(Parsed)


def answer(request: tuple[AnyItem, str]) -> bytes:
    item, source_id = request
    return PARSED.dump_json(parse(item, source_id=source_id))


if __name__ == "__main__":
    serve(answer)
