"""One item whole."""

import pytest

from agents.tools import open_item
from knowledge.models import Item
from tests.agents.tools.bench import Bench
from tests.knowledge.office import account, document, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_a_long_text_is_read_part_by_part_and_none_is_lost(summariser: ScriptedModel) -> None:
    files = account(source="gdrive")
    item_id = str(take(files, document()).item_id)
    text = " ".join(str(number) for number in range(3000))
    Item.objects.filter(id=item_id).update(text=text)
    bench = Bench(files)

    parts = [bench.call(open_item.TOOL, item_id="d1", part=part)["data"] for part in (1, 2, 3)]
    beyond = bench.call(open_item.TOOL, item_id="d1", part=4)

    assert "".join(one["text"] for one in parts) == text
    assert [one["part"] for one in parts] == ["1 of 3", "2 of 3", "3 of 3"]
    assert {one["n"] for one in parts} == {1}
    assert (beyond["error"]["code"], beyond["error"]["message"]) == (
        "NOT_FOUND",
        "The item has 3 parts.",
    )
