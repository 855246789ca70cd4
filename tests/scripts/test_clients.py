"""The clients that are made from the API's schema, against a running server."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from integrations.models import ServiceToken
from scripts import clients, typescript
from tests.office import Office

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
# Playwright brings a Node that runs TypeScript by leaving its types out.
NODE = compute_driver_executable()[0]
ASK = "Create Jira tasks from John's proposal email"
QUESTION = "I found emails from multiple Johns. Which one did you mean?"
STORY = f"""
import {{ Remit, RemitProblem }} from "./remit.ts";
const [origin, token] = process.argv.slice(2);
const remit = new Remit(origin, token);
const options = {{ idempotencyKey: "typescript-1" }};
const asked = await remit.chat({{ user_id: "maya", message: {json.dumps(ASK)} }}, options);
const again = await remit.chat({{ user_id: "maya", message: {json.dumps(ASK)} }}, options);
const started = await remit.chatStream(
  {{ user_id: "maya", message: "John Smith", session_id: asked.session_id }});
const types: string[] = [];
let answer: any;
for await (const event of remit.follow(started.stream_url)) {{
  types.push(event.type);
  if (event.type === "turn.finished") answer = (event.data as any).answer;
}}
const [card] = await remit.approvals({{ user_id: "maya", state: "pending", limit: 1 }});
const word = {{ user_id: "maya", decision: "confirm", digest: card.digest }} as const;
const decided = await remit.approvalDecide(card.id, word);
const problem = await remit.turn("00000000-0000-4000-8000-000000000000").catch((one) => one);
const page = await remit.conversations({{ user_id: "maya", limit: 1 }});
const file = await remit.ledgerExport({{ format: "csv" }});
await remit.conversationDelete(page.items[0].id);
console.log(JSON.stringify({{
  response: asked.response, same: again.turn_id === asked.turn_id, types,
  waiting: answer.pending_actions.length, status: decided.status, result: decided.result,
  problem: [problem instanceof RemitProblem, problem.status, problem.code],
  header: (await file.text()).split(",")[0],
  left: (await remit.conversations({{ user_id: "maya" }})).items.length,
}}));
"""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return clients.load_schema()


@pytest.fixture(scope="module")
def made(schema: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients")
    clients.write_python(schema, folder / clients.PYTHON)
    clients.write_typescript(schema, folder / clients.TYPESCRIPT)
    return folder


@pytest.fixture
def token(office: Office) -> str:
    office.sync()
    scopes = ["chat", "approvals", "audit:read"]
    return ServiceToken.issue(organisation=office.organisation, name="web", scopes=scopes)[1]


@pytest.fixture
def remit_client(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(made / clients.PYTHON.parent))
    yield importlib.import_module("remit_client")
    for name in [one for one in sys.modules if one.partition(".")[0] == "remit_client"]:
        del sys.modules[name]


def test_python_asks_confirms_and_reads_a_problem(
    office: Office, token: str, remit_client: Any
) -> None:
    def load(name: str) -> Any:
        return importlib.import_module(f"remit_client.{name}")

    models = load("models")
    with remit_client.AuthenticatedClient(base_url=office.origin, token=token, timeout=60) as api:
        chat, turn = load("api.chat.chat"), load("api.chat.turn")
        say = models.ChatRequest(user_id="maya", message=ASK)
        asked = chat.sync(client=api, body=say, idempotency_key="python-1")
        again = chat.sync(client=api, body=say, idempotency_key="python-1")
        answer = models.ChatRequest(
            user_id="maya", message="John Smith", session_id=asked.session_id
        )
        proposed = chat.sync(client=api, body=answer)
        card = proposed.pending_actions[0]
        word = models.Word(user_id="maya", decision=models.WordEnum.CONFIRM, digest=card.digest)
        decided = load("api.decisions.approval_decide").sync(card.id, client=api, body=word)
        missing = turn.sync_detailed("00000000-0000-4000-8000-000000000000", client=api)

    assert (asked.response, again.turn_id) == (QUESTION, asked.turn_id)
    assert len(proposed.pending_actions) == 3
    assert decided.status == "succeeded"
    assert len(office.calls()) == 1
    assert (missing.status_code, missing.parsed.code) == (404, "unknown_turn")


def test_typescript_asks_follows_confirms_and_reads_a_problem(
    office: Office, token: str, made: Path
) -> None:
    story = made / clients.TYPESCRIPT.with_name("story.ts")
    story.write_text(STORY)
    with office.worker():
        done = subprocess.run(
            [NODE, story, office.origin, token],
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
        )

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    result, types = said.pop("result"), said.pop("types")
    assert said == {
        "response": QUESTION,
        "same": True,
        "waiting": 3,
        "status": "succeeded",
        "problem": [True, 404, "unknown_turn"],
        "header": "sentence",
        "left": 0,
    }
    assert (types[0], types[-1]) == ("tool.started", "turn.finished")
    assert set(result) == {"task_key", "url"}
    assert len(office.calls()) == 1


@pytest.mark.skipif(shutil.which("tsc") is None, reason="needs tsc (Debian: node-typescript)")
def test_the_types_hold_what_fits_and_refuse_what_does_not(made: Path) -> None:
    folder = made / clients.TYPESCRIPT.parent
    usual = 'import { Remit } from "./remit";\nconst remit = new Remit("http://x", "t");\n'
    wrong = [
        'remit.chat({ user_id: "maya" });',  # no message
        'remit.chat({ user_id: "maya", message: "Hi", mesage: "Hi" });',
        'remit.approvals({ user_id: "maya", state: "waiting" });',
        "remit.usage({ days: true });",
        'remit.turn("x").then((turn) => turn.respons);',
    ]
    right = 'remit.chat({ user_id: "maya", message: "Hi" }).then((one) => one.response.trim());'
    (folder / "use.ts").write_text(usual + "\n".join([right, *wrong]))

    done = subprocess.run(
        [
            *("tsc", "--strict", "--noEmit", "--target", "es2020", "--lib"),
            *("es2020,dom,dom.iterable", folder / "use.ts"),
        ],
        capture_output=True,
        check=False,
        text=True,
    )

    found = [line.partition("(")[2].partition(",")[0] for line in done.stdout.splitlines()]
    lines = [int(line) for line in found if line.isdecimal()]
    assert lines == list(range(4, 4 + len(wrong))), done.stdout


def test_every_operation_has_a_method(schema: dict[str, Any], made: Path) -> None:
    text = (made / clients.TYPESCRIPT).read_text()
    operations = [
        one
        for path, methods in schema["paths"].items()
        for one in methods.values()
        if path.startswith("/api/") and one["operationId"] != "turn_events"
    ]
    assert len(re.findall(r"\n  async \w", text)) == len(operations)
    written = {path.stem for path in (made / clients.PYTHON / "api").glob("*/*.py")}
    assert {one["operationId"] for one in operations} <= written


def test_python_is_not_made_of_a_schema_that_leaves_something_out(
    schema: dict[str, Any], tmp_path: Path
) -> None:
    broken = json.loads(json.dumps(schema))
    broken["paths"]["/api/v1/turns/{turn_id}"]["get"]["parameters"][0]["in"] = "nowhere"
    with pytest.raises(RuntimeError, match="turn_id"):
        clients.write_python(broken, tmp_path / "remit_client")


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": "array", "items": {"type": ["integer", "null"]}}, "(number | null)[]"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Card"}}, "Card[]"),
        ({"enum": ["a", 'b"']}, r'"a" | "b\""'),
        ({"allOf": [{"$ref": "#/components/schemas/A"}], "readOnly": True}, "A"),
        ({"oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "null"}]}, "A | null"),
        ({"type": "object", "additionalProperties": {}}, "Record<string, unknown>"),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}}, "{ a?: boolean }"),
        ({"type": "string", "format": "binary"}, "Blob"),
        ({}, "unknown"),
    ],
)
def test_a_schema_is_expressed_as_a_type(schema: dict[str, Any], wanted: str) -> None:
    assert typescript.express(schema) == wanted


def test_a_schema_that_is_not_known_is_no_type() -> None:
    with pytest.raises(typescript.Unknown):
        typescript.express({"not": {"type": "string"}})
