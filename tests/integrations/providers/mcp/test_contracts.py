import pytest

from integrations.providers.mcp.contracts import OfferedTool

OBJECT = {"type": "object"}


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (OfferedTool(name="x", input_schema=OBJECT), ""),
        (OfferedTool(name="x", input_schema=OBJECT, hints={"title": "a\0"}), "U+0000"),
        (OfferedTool(name="x", input_schema=OBJECT, hints={"\ud800": 1}), "U+D800"),
        (OfferedTool(name="x", input_schema=OBJECT | {"a": [{"b": "\0"}]}), "U+0000"),
        (OfferedTool(name="x", input_schema=OBJECT, output_schema={"\x1b": 1}), "U+001B"),
        (OfferedTool(name="x", input_schema=OBJECT | {"a": "two\nlines\tand"}), ""),
        (OfferedTool(name="x", input_schema=OBJECT | {"default": float("nan")}), "a number"),
        (OfferedTool(name="x", input_schema=OBJECT | {"default": 10**5000}), "a number"),
        (OfferedTool(name="x", input_schema=OBJECT, hints={"x": float("inf")}), "a number"),
    ],
)
def test_what_cannot_be_kept_makes_a_tool_unusable_in_words(tool: OfferedTool, why: str) -> None:
    assert why in tool.unusable
    assert bool(tool.unusable) is bool(why)
