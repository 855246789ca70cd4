"""The page that verifies a bundle says what verify.py says, and sends nothing anywhere."""

import base64
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.audit.vectors import VECTORS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
# What a line that cannot be read says of it is each language's own.
OWN_WORDS = re.compile(r"(cannot be read)( to its end)?: .*")
CHECK = """async ({data, key, older}) => {
    const found = [];
    const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
    const told = await verify({bundle: new Blob([bytes]), key, older}, (kind, text) => {
        found.push(`${kind.padEnd(7)} ${text}`);
    });
    return [...found, told.verdict];
}"""


@pytest.fixture
def page(browser: Browser, live_server: Any) -> Iterator[Page]:
    context = browser.new_context(base_url=live_server.url, viewport={"width": 390, "height": 844})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text))
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto("/ledger/verify")
    yield opened
    context.close()
    assert problems == []


def in_browser(page: Page, data: bytes, key: str, *older: str) -> list[str]:
    kept = [{"name": f"kept-{number}.note", "note": note} for number, note in enumerate(older)]
    given = {"data": base64.b64encode(data).decode(), "key": key, "older": kept}
    found: list[str] = page.evaluate(CHECK, given)
    return found


def in_python(folder: Path, capsys: Any, data: bytes, key: str, *older: str) -> list[str]:
    from tests.audit.bundle import files as bundles

    bundles.check(folder, data, key, *older)
    said: list[str] = capsys.readouterr().out.replace(f"{folder}/", "").splitlines()
    return said


def in_common(lines: list[str]) -> list[str]:
    return [OWN_WORDS.sub(r"\1", line) for line in lines]


def test_page_and_program_say_the_same_of_rows_that_left(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles, leaving

    tenant_id, data = leaving.example()
    key = sealed.key(tenant_id)
    for doctored in (data, *(bundles.pack(files) for files in leaving.doctored(data))):
        expected = in_common(in_python(tmp_path, capsys, doctored, key))
        assert in_common(in_browser(page, doctored, key)) == expected


def test_page_and_program_say_the_same_of_an_organisation_that_ended(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from audit.keeping import end
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles

    tenant_id = uuid4()
    bundles.fill(tenant_id)
    bundles.make(tenant_id)
    end.end(tenant_id, reason="contract 7 ended", actor_id="command:olga")
    sealed.seal(tenant_id)
    key = sealed.key(tenant_id)
    for chosen in ({}, {"action_type": "archive"}):
        data = bundles.make(tenant_id, **chosen)
        files = bundles.unpack(data)
        bundles.put(files, "redactions", [])
        bundles.mend(files)
        for one, is_sound in ((data, True), (bundles.pack(files), not chosen)):
            expected = in_common(in_python(tmp_path, capsys, one, key))
            assert expected[-1].startswith("SOUND" if is_sound else "NOT SOUND")
            assert in_common(in_browser(page, one, key)) == expected


def test_page_and_program_say_the_same_of_every_kind_of_tampering(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles, test_extent, test_verify

    for program in (test_verify, test_extent):
        tenant_id, data = program.example()
        key, said = sealed.key(tenant_id), set()
        for tamper in program.TAMPERING:
            for trial in range(3):
                files = bundles.unpack(data)
                tamper(files, random.Random(trial))
                doctored = bundles.pack(files)
                expected = in_common(in_python(tmp_path, capsys, doctored, key))
                assert in_common(in_browser(page, doctored, key)) == expected, tamper.__name__
                said.add(expected[-1])
        assert len(said) > 1


def test_page_and_program_say_the_same_of_clean_bundles_and_kept_checkpoints(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from audit.seals import progress
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles, rotations, tampering
    from tests.audit.entries import append_action

    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, status="pending")
    bundles.fill(tenant_id, actions=4)
    older = bundles.make(tenant_id)
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    newest = progress.find_newest_checkpoint(tenant_id)
    assert newest
    key, data = sealed.key(tenant_id), bundles.make(tenant_id)
    kept = bundles.unpack(older)["checkpoint.note"].decode()
    files = bundles.unpack(data)
    tampering.change_field(files, random.Random(1))
    bundles.sign_again(files, sealed.SIGNER)
    rotated = bundles.unpack(data)
    bundles.rotate(rotated, sealed.SIGNER, rotations.SECOND, rotations.THIRD)
    filtered = bundles.make(tenant_id, action_type="archive", status="succeeded")
    for number, (bundle, notes) in enumerate(
        [
            (bundles.pack(rotated), (kept,)),
            (data, ()),
            (data, (kept,)),
            (filtered, ()),
            (filtered, (newest.note,)),
            (filtered, (kept,)),  # cannot be compared
            (data, ("no note", kept)),
            (older, (newest.note,)),  # ROLLBACK
            (bundles.pack(files), (kept, newest.note)),  # REWRITE
            (b"no zip", ()),
            (data[:-40], ()),
        ]
    ):
        expected = in_common(in_python(tmp_path, capsys, bundle, key, *notes))
        assert in_common(in_browser(page, bundle, key, *notes)) == expected, number
        assert expected[-1].startswith("SOUND") == (number < 5), expected
    for refused in ("2026-01-01", "2999-01-01"):
        for bundle in (data, bundles.pack(rotated)):
            limited = f"{key}@{refused}"
            expected = in_common(in_python(tmp_path, capsys, bundle, limited))
            assert in_common(in_browser(page, bundle, limited)) == expected


def test_page_and_program_say_the_same_of_what_people_read(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles, test_derived

    tenant_id = test_derived.settle()
    key, data = sealed.key(tenant_id), test_derived.make(tenant_id)
    assert in_browser(page, data, key) == in_python(tmp_path, capsys, data, key)
    for alter in test_derived.ALTERATIONS:
        files = bundles.unpack(data)
        alter(files)
        bundles.mend(files)
        doctored = bundles.pack(files)
        expected = in_python(tmp_path, capsys, doctored, key)
        assert in_browser(page, doctored, key) == expected, alter.__name__


def test_page_and_program_hold_a_bundle_to_the_words_that_its_manifest_names(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles, words

    tenant_id = words.settle()
    first = words.KEY, words.FIRST.read_bytes()
    new = sealed.key(tenant_id), words.make(tenant_id)
    for is_new, (key, data) in enumerate((first, new)):
        for alter, findings in words.FINDINGS.items():
            files = bundles.unpack(data)
            alter(files)
            doctored = bundles.pack(files)
            expected = in_python(tmp_path, capsys, doctored, key)
            assert in_browser(page, doctored, key) == expected, alter.__name__
            verdict = "NOT SOUND" if findings[is_new] else "SOUND"
            assert expected[-1].startswith(verdict), alter.__name__
        assert in_browser(page, data, key)[-1].startswith("SOUND")


def test_page_and_program_hold_rows_to_time_stamped_checkpoints(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.audit import sealed, stamped
    from tests.audit.bundle import files as bundles
    from tests.tsa import running_authority

    tenant_id = uuid4()
    with running_authority(tmp_path / "tsa") as authority:
        data = stamped.bundle(tenant_id, authority)
    key, files = sealed.key(tenant_id), bundles.unpack(data)
    rows = bundles.lines(files, "ledger")
    rows[3]["status"] = "failed"
    bundles.put(files, "ledger", rows)
    bundles.sign_again(files, sealed.SIGNER)
    for bundle, verdict in ((data, "SOUND"), (bundles.pack(files), "NOT SOUND")):
        expected = in_common(in_python(tmp_path, capsys, bundle, key))
        assert in_common(in_browser(page, bundle, key)) == expected
        assert expected[-1].startswith(verdict)
        assert any("2 checkpoints are time stamped" in line for line in expected)


def test_the_page_gives_the_answers_that_are_known(page: Page) -> None:
    for unit, times, digest in VECTORS["sha256"]["cases"]:
        script = "([unit, times]) => hex(sha256(encoder.encode(unit.repeat(times))))"
        assert page.evaluate(script, [unit, times]) == digest
    tree = VECTORS["tree"]
    roots = page.evaluate(
        """(inputs) => {
            const tree = new Tree(0, []);
            const root = () => hex(tree.root());
            const leaf = (input) => sha256(Uint8Array.of(0), unhex(input));
            const grown = (input) => { tree.append(leaf(input)); return root(); };
            return [root(), ...inputs.map(grown)];
        }""",
        tree["inputs"],
    )
    assert roots == tree["roots"]
    note = VECTORS["note"]
    for case in VECTORS["proof"]["cases"]:
        script = """({line, place, size, proof}) =>
            hex(rootOf(unhex(line), place, size, proof.map(unhex)))"""
        assert page.evaluate(script, case) == case["root"]
    for line, is_row in VECTORS["line"]["cases"]:
        script = """(line) => {
            try { lookedAt(encoder.encode(line)); return true; } catch { return false; }
        }"""
        assert page.evaluate(script, line) is is_row, line
    for case in VECTORS["integer"]["lines"]:
        script = """({line}) => {
            const {attempt_no, id} = lookedAt(encoder.encode(line));
            return [String(attempt_no), String(id)];
        }"""
        assert page.evaluate(script, case) == [case["attempt_no"], case["row_id"]]
    script = """({body}) => {
        const one = Object.create(Verification.prototype);
        one.erased = new Set();
        one.explains({phase: "redaction"}, body);
        return [...one.erased].map(String);
    }"""
    redaction = VECTORS["integer"]["redaction"]
    assert page.evaluate(script, redaction) == redaction["erased"]
    for case in VECTORS["payload"]["cases"]:
        script = """async ({row_id, line, artifact_lines, commitment, artifacts_digest}) => {
            const part = (lines, form) => new Part(async function* () {
                yield* lines.map((one) => encoder.encode(one));
            }(), form).start();
            const [one, told] = [Object.create(Verification.prototype), []];
            const given = await (await part([line], PAYLOAD)).of(String(row_id));
            const body = one.payload({payload_commitment: commitment}, given, told);
            const made = await (await part(artifact_lines, ARTIFACT)).of(String(row_id));
            one.artifacts(artifacts_digest, made, body, told);
            return [body, artifactsIn(body), made.map(({digest}) => digest), told];
        }"""
        known = [case["body"], case["artifacts"], case["digests"], []]
        assert page.evaluate(script, case) == known
    script = """async ({key, text, signature}) => (await crypto.subtle.verify({name: "Ed25519"},
        (await keyOf(key)).key, unbase64(signature).slice(4), encoder.encode(text)))"""
    assert page.evaluate(script, note) is True
    assert page.evaluate(script, note | {"text": f"{note['text']} "}) is False


def test_page_and_program_tell_rows_apart_whose_numbers_doubles_round(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from audit.keeping import erasure
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles

    tenant_id = uuid4()
    bundles.fill(tenant_id, actions=4)
    first, *_ = bundles.lines(bundles.unpack(bundles.make(tenant_id)), "ledger")
    scope = erasure.Scope(tenant_id=tenant_id, action_id=UUID(first["action_id"]))
    erasure.erase(scope, reason="asked for", actor_id="command:olga")
    sealed.seal(tenant_id)
    files = bundles.unpack(bundles.make(tenant_id))
    ids = bundles.renumber(files, by=2**53 + first["id"] % 2)
    bundles.sign_again(files, sealed.SIGNER)
    key, erased = sealed.key(tenant_id), ids[:2]
    clean = bundles.pack(files)
    kept, last = bundles.lines(files, "payloads")[:-1], files["payloads.jsonl"].splitlines()[-1]
    files["payloads.jsonl"] = last + b"\n"  # what says which were erased
    bundles.mend(files)
    for data, verdict in ((clean, "SOUND"), (bundles.pack(files), "NOT SOUND")):
        expected = in_common(in_python(tmp_path, capsys, data, key))
        assert in_common(in_browser(page, data, key)) == expected
        assert expected[-1].startswith(verdict)
    row_id = min(line["row_id"] for line in kept)
    assert [line for line in expected if "Its payload is missing" in line] == [
        f"FINDING row {row_id}: Its payload is missing and no redaction says why.",
        f"FINDING {len(kept) - 1} more: Its payload is missing and no redaction says why.",
    ]
    assert not {*erased} & {line["row_id"] for line in kept}


def test_an_auditor_drops_a_bundle_and_reads_the_verdict(page: Page, tmp_path: Path) -> None:
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles, tampering, test_verify as program

    tenant_id, data = program.example()
    files = bundles.unpack(data)
    tampering.change_payload(files, random.Random(2))
    (tmp_path / "clean.zip").write_bytes(data)
    (tmp_path / "doctored.zip").write_bytes(bundles.pack(files))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))

    page.get_by_label("Bundle (a zip file)").set_input_files(tmp_path / "clean.zip")
    page.get_by_label("Public key of the ledger").fill(sealed.key(tenant_id))
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Verify").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("SOUND: places 0 to 17 of remit.example")
    expect(page.get_by_role("status")).to_be_focused()

    page.get_by_label("Bundle (a zip file)").set_input_files(tmp_path / "doctored.zip")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status")).to_contain_text("NOT SOUND: 1 findings")
    expect(page.locator(".finding")).to_contain_text("payload is not the one that was sealed")
    # The browser fetches the page's icon when it likes.
    assert [url for url in requests if not url.endswith("/icon.svg")] == []


def test_without_a_key_the_page_says_that_nothing_was_checked(page: Page, tmp_path: Path) -> None:
    from tests.audit.bundle import test_verify as program

    (tmp_path / "clean.zip").write_bytes(program.example()[1])
    page.get_by_label("Bundle (a zip file)").set_input_files(tmp_path / "clean.zip")
    page.get_by_label("Public key of the ledger").fill("remit.example/ledger+1234")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status")).to_have_text(
        "Nothing was checked: KEY is no whole key of the form origin+id+base64."
    )
    expect(page.locator("#list li")).to_have_count(0)


def test_the_page_moves_while_a_bundle_is_checked_and_says_how_far_it_is(page: Page) -> None:
    from tests.audit import sealed
    from tests.audit.bundle import test_verify as program

    tenant_id, data = program.example()
    given = {"data": base64.b64encode(data).decode(), "key": sealed.key(tenant_id)}
    seen = page.evaluate(
        """async ({data, key}) => {
            const seen = [];
            const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
            const given = {bundle: new Blob([bytes]), key, older: []};
            await verify(given, () => {}, async (...told) => seen.push(told));
            return seen;
        }""",
        given,
    )
    assert seen == [[checked, 18] for checked in range(1, 19)]


def test_the_browser_itself_forbids_the_page_to_send_anything(page: Page, live_server: Any) -> None:
    policy = page.request.get("/ledger/verify").headers["content-security-policy"]
    told = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert (told["connect-src"], told["form-action"]) == ("'none'", "'none'")
    assert told["script-src"] == told["style-src"] == "'self'"
