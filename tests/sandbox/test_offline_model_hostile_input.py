"""Whatever tools, people and strangers put into messages, the rules give an answer."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sandbox.offline_model import chat_request, message_order, roster, transcript
from sandbox.offline_model.transcript import Reply
from tests.sandbox.dialogue import function

FIELDS = """success data error message items from name address email mentions
id n source title summary date answer status action tasks prepared refused pending_actions
result action_type targets options decision description type task_key"""
keys = st.sampled_from(FIELDS.split())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=12,
)
REQUESTS = {
    "You are Remit's orchestrator.": [
        "Create tasks from John's email",
        "Which mails and issues mention it?",
        "archive all newsletters",
        "label the offer as Cold",
        "draft a reply to the offer",
        "send it to a@b.example saying hi",
        "create a task: x",
    ],
    "You are Remit's task specialist.": ['Task: x\n<untrusted id="1">\n1. A\n</untrusted>'],
    "You are Remit's mail reader.": ['[item] {"email_id": "m"}', "[item] [", "[item] 7"],
    "You extract tasks.": ["1. A - b"],
    "You summarise an item and list its entities.": ["Title: x\n\ny"],
}
TOOLS = {
    "retrieve_context": {"sources": ["gmail"]},
    "ask_user": {"options": ["John Smith (j@x.example) - 1 recent email"]},
    "delegate_to_specialist": {"task": "Extract the tasks from x"},
    "archive": {"email_id": "m"},
    "execute_action": {"action_type": "archive", "params": {}},
    "extract_tasks": {},
    "prepare_task_creation": {},
}

OFFERED = [
    chat_request.Tool.model_validate(function(name)) for name in (*TOOLS, "classify", "draft")
]


def answer(messages: list[Any]) -> Reply:
    body = json.dumps({"model": "offline-rules", "messages": messages})
    request = chat_request.parse(body.encode())
    message_order.check(request.messages)
    return roster.next_reply(transcript.read(request.messages, OFFERED))


@pytest.mark.parametrize("agent", REQUESTS)
@given(data=st.data())
def test_no_shape_of_a_result_stops_an_agent(agent: str, data: st.DataObject) -> None:
    decided = f"[remit] [decisions] {json.dumps(data.draw(values))}"
    request = data.draw(st.sampled_from(REQUESTS[agent]))
    messages: list[Any] = [
        {"role": "system", "content": agent},
        {"role": "user", "content": request},
        {"role": "user", "content": decided},
    ]
    for number, tool in enumerate(data.draw(st.lists(st.sampled_from(list(TOOLS)), max_size=4))):
        call = {"name": tool, "arguments": json.dumps(data.draw(values | st.just(TOOLS[tool])))}
        calls = [{"id": str(number), "type": "function", "function": call}]
        content = {"success": True, "data": data.draw(values)} | data.draw(
            st.dictionaries(keys, values, max_size=2)
        )
        messages.append({"role": "assistant", "tool_calls": calls})
        messages.append(
            {"role": "tool", "tool_call_id": str(number), "content": json.dumps(content)}
        )
    reply = answer(messages)
    assert reply.text or reply.calls


@given(text=st.text(max_size=300))
def test_any_request_of_a_person_is_answered(text: str) -> None:
    text = text.encode(errors="replace").decode()
    reply = answer(
        [
            {"role": "system", "content": "You are Remit's orchestrator."},
            {"role": "user", "content": text},
        ]
    )
    assert reply.text or reply.calls
