"""What can be done to a bundle, and what the verifier must then say."""

import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

from audit.ledger import chain
from tests.audit.bundle import files as bundles, rotations
from tests.audit.bundle.files import Files


def swap(rows: list[Any], luck: random.Random) -> None:
    one, other = luck.sample(range(len(rows)), 2)
    rows[one], rows[other] = rows[other], rows[one]


def change_field(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    row = luck.choice(rows)
    row[luck.choice(["status", "decision", "actor_id", "recorded_at", "trigger"])] = "other"
    bundles.put(files, "ledger", rows)


def flip_bit(files: Files, luck: random.Random) -> None:
    part = luck.choice(["ledger.jsonl", "payloads.jsonl", "artifacts.jsonl", "checkpoint.note"])
    files[part] = bundles.altered_bit(files[part], luck.randrange(len(files[part]) - 1))


def drop_row(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    rows.pop(luck.randrange(len(rows)))
    bundles.put(files, "ledger", rows)


def drop_row_and_mend(files: Files, luck: random.Random) -> None:
    drop_row(files, luck)
    bundles.mend(files, size=len(bundles.lines(files, "ledger")))


def drop_action_and_mend(files: Files, luck: random.Random) -> None:
    chosen = luck.choice(bundles.lines(files, "ledger"))["action_id"]
    gone = {row["id"] for row in bundles.lines(files, "ledger") if row["action_id"] == chosen}
    for part, name in (("ledger", "id"), ("payloads", "row_id"), ("artifacts", "row_id")):
        rows = [row for row in bundles.lines(files, part) if row[name] not in gone]
        bundles.put(files, part, rows)
    bundles.mend(files, size=len(bundles.lines(files, "ledger")))


def empty_and_mend(files: Files, luck: random.Random) -> None:
    size = len(bundles.lines(files, "ledger"))
    for part in ("ledger", "payloads", "artifacts", "checkpoints"):
        files[f"{part}.jsonl"] = b""
    left = [luck.randbytes(32).hex() for _ in range(size.bit_count())]
    bundles.mend(files, first=size, left=left, since="2026-01-01T00:00:00.000000Z")


def insert_row(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    rows.insert(luck.randrange(len(rows)), luck.choice(rows) | {"id": 10**9})
    bundles.put(files, "ledger", rows)


def swap_rows(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    swap(rows, luck)
    bundles.put(files, "ledger", rows)


def cut_tail(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    bundles.put(files, "ledger", rows[: luck.randrange(1, len(rows))])


def cut_head_and_mend(files: Files, luck: random.Random) -> None:
    rows = bundles.lines(files, "ledger")
    bundles.put(files, "ledger", rows[4:])
    bundles.mend(files, first=4, left=[luck.randbytes(32).hex()])


def change_payload(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "payloads") as rows:
        luck.choice(rows)["body"]["resource_id"] += "0"


def add_a_blank_to_a_payload(files: Files, luck: random.Random) -> None:
    rows = files["payloads.jsonl"].splitlines(keepends=True)
    at = luck.randrange(len(rows))
    place = luck.choice([b"{", b',"row_id"', b',"salt"', b"}\n"])
    cut = rows[at].rindex(place) if place != b"{" else 1
    rows[at] = rows[at][:cut] + b" " + rows[at][cut:]
    files["payloads.jsonl"] = b"".join(rows)
    bundles.mend(files)


def move_salt_into_the_body(files: Files, luck: random.Random) -> None:
    """The same bytes are hashed, and the body would be another."""
    rows = bundles.lines(files, "payloads")
    row = luck.choice(rows)
    row["salt"] += "7b"
    bundles.put(files, "payloads", rows)
    text = chain.canonical_bytes(row)
    files["payloads.jsonl"] = files["payloads.jsonl"].replace(text, text.replace(b"{", b"", 2))
    bundles.mend(files)


def add_a_blank_line(files: Files, luck: random.Random) -> None:
    name = luck.choice(["ledger.jsonl", "payloads.jsonl", "artifacts.jsonl"])
    rows = files[name].splitlines(keepends=True)
    rows.insert(luck.randrange(len(rows)), b"\n")
    files[name] = b"".join(rows)
    bundles.mend(files)


def cut_off_the_last_line_break(files: Files, luck: random.Random) -> None:
    name = luck.choice(["ledger.jsonl", "payloads.jsonl"])
    files[name] = files[name].removesuffix(b"\n")
    bundles.mend(files)


def change_salt(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "payloads") as rows:
        luck.choice(rows)["salt"] = luck.randbytes(16).hex()


def swap_payloads(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "payloads") as rows:
        one, other = luck.sample(rows, 2)
        for name in ("salt", "body"):
            one[name], other[name] = other[name], one[name]


def reorder_payloads(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "payloads") as rows:
        swap(rows, luck)


def hide_payload(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "payloads") as rows:
        rows.pop(luck.randrange(len(rows)))


def add_payload(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "payloads") as rows:
        place = luck.randrange(len(rows))
        rows.insert(place, rows[place] | {"body": {}})


def change_artifact(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "artifacts") as rows:
        row = luck.choice(rows)
        name = luck.choice(["external_id", "kind", "provider", "url", "digest"])
        (row if name == "digest" else row["artifact"])[name] = "0" * 64


def drop_artifact(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "artifacts") as rows:
        rows.pop(luck.randrange(len(rows)))


def change_policy(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "policies") as rows:
        luck.choice(rows)["body"] = '{"rules":"other"}'


def drop_policy(files: Files, luck: random.Random) -> None:
    with bundles.edit(files, "policies") as rows:
        rows.pop(luck.randrange(len(rows)))


def sign_with_a_foreign_key(files: Files, luck: random.Random) -> None:
    change_field(files, luck)
    bundles.sign_again(files, rotations.FOREIGN)


def claim_another_size(files: Files, luck: random.Random) -> None:
    note = files["checkpoint.note"].decode()
    size = note.split("\n")[1]
    files["checkpoint.note"] = note.replace(f"\n{size}\n", f"\n{luck.randrange(19, 99)}\n").encode()


def name_another_tenant(files: Files, luck: random.Random) -> None:
    bundles.mend(files, tenant_id=str(UUID(int=luck.getrandbits(128))))


def change_a_file_beside(files: Files, luck: random.Random) -> None:
    files[luck.choice(["verify.py", "README.txt", "keys.json"])] += b"\n"


def smuggle_a_file_in(files: Files, luck: random.Random) -> None:
    files[f"ledger-{luck.random()}.csv"] = b"looks official"


def take_a_file_out(files: Files, luck: random.Random) -> None:
    del files[luck.choice(sorted(files))]


TAMPERING: dict[Callable[[Files, random.Random], None], str] = {
    change_field: "This is not the row that was sealed there",
    flip_bit: "FINDING",
    drop_row: "not the row that was sealed there|are missing, 1 of them",
    drop_row_and_mend: "not the row that was sealed there|are missing, 1 of them",
    drop_action_and_mend: "not the row that was sealed there|are missing, ",
    empty_and_mend: "The lines end at place",
    insert_row: "This is not the row that was sealed there",
    swap_rows: "This is not the row that was sealed there",
    cut_tail: "are missing, ",
    cut_head_and_mend: "Rows of the period may be missing",
    change_payload: "Its payload is not the one that was sealed",
    add_a_blank_to_a_payload: "Its payload is not the one|lines of payloads.jsonl cannot be read",
    move_salt_into_the_body: "1 lines of payloads.jsonl cannot be read",
    add_a_blank_line: "cannot be read",
    cut_off_the_last_line_break: "ends within a line",
    change_salt: "Its payload is not the one that was sealed",
    swap_payloads: "Its payload is not the one that was sealed",
    reorder_payloads: "Its payload is missing and no redaction says why",
    hide_payload: "Its payload is missing and no redaction says why",
    add_payload: "Its payload is not the one that was sealed",
    change_artifact: "Its artifacts are not those that",
    drop_artifact: "Its artifacts are not those that were sealed",
    change_policy: "The policy that decided it is missing or altered",
    drop_policy: "The policy that decided it is missing or altered",
    sign_with_a_foreign_key: "not signed by KEY",
    claim_another_size: "not signed by KEY",
    name_another_tenant: "another ledger",
    rotations.forge_a_rotation: "Rotation 1 in keys.json is not signed by both of its keys",
    rotations.alter_a_rotation: "Rotation 1 in keys.json is not signed by both of its keys",
    rotations.break_the_chain_of_keys: "Rotation 2 in keys.json does not follow",
    rotations.drop_a_rotation: "not signed by KEY",
    rotations.turn_back_to_a_key: "Rotation 2 in keys.json does not follow",
    rotations.bring_the_keys_of_another_ledger: "The rotations in keys.json are not about KEY",
    change_a_file_beside: "is not the file that the manifest describes",
    smuggle_a_file_in: "other files than it should",
    take_a_file_out: "FINDING",
}
