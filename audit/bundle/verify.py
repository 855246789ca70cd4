"""Is a ledger bundle what was sealed, whole and unaltered? Needs Python 3.11 and nothing else.

    python verify.py BUNDLE.zip KEY[@TIME] [CHECKPOINT ...]

KEY is the ledger's public key (origin+id+base64, or a file that holds it), CHECKPOINT a file
with a checkpoint that you received earlier. Keys that KEY named as its successors count too;
with @TIME (such as @2026-11-21) KEY itself counts for nothing that was recorded later. Take KEY
and this program from where you trust them, not from the bundle. Nothing is sent anywhere. One
line for each finding; exit code 0: sound, 1: not sound, 2: nothing was checked.
"""

import base64
import io
import json
import re
import struct
import sys
import zipfile
import zlib
from binascii import unhexlify
from collections.abc import Iterable, Iterator
from hashlib import sha256, sha512
from pathlib import Path
from typing import IO, Any

FORMAT = "remit-ledger-bundle/2"
# How rows are said. A manifest that names none is from when there was only the first.
WORDS = ("remit-ledger-words/1", "remit-ledger-words/2")
FILES = {
    *("ledger.jsonl", "payloads.jsonl", "artifacts.jsonl", "checkpoints.jsonl", "manifest.json"),
    *("checkpoint.note", "policies.jsonl", "keys.json", "verify.py", "README.txt"),
    *("newest.note", "proofs.jsonl", "redactions.jsonl", "anchors.jsonl", "stamps.py"),
    "leaves.bin",
}
TABLE, REPORT = "derived/ledger.csv", "derived/report.html"  # what people read of the rows
# Each byte of these is proven by the tree or by a row: the manifest holds no digest of them.
PROVEN = ("ledger.jsonl", "payloads.jsonl")
LEFT = re.compile(rb'\{"left":"([0-9a-f]{64})"\}')  # stands for a row that left by retention
# How lines that belong to rows end, and the length that no such end reaches.
PAYLOAD = rb',"row_id":(?P<row_id>[0-9]+),"salt":"([0-9a-f]{32})"\}\Z'
ARTIFACT = rb',"digest":"([0-9a-f]{64})","row_id":(?P<row_id>[0-9]+)\}\Z'
LONGEST = 120
CHUNK = 1 << 18
CANONICAL: Any = {"ensure_ascii": False, "sort_keys": True, "separators": (",", ":")}
# A row's columns in the order of its line: texts, but for numbers (#). Some may be null (?),
# and some are looked at here (*).
COLUMNS = (
    *("account_id?", "action_id*", "action_type*", "actor_id", "actor_type", "agent_id"),
    *("agent_version", "approval_id", "approved_by", "artifacts_digest*", "attempt_no*#"),
    *("credential_ref", "decision", "decision_reason", "envelope_mac", "error_code", "id*#"),
    *("idempotency_key", "latency_ms?#", "model_id", "occurred_at", "on_behalf_of"),
    *("parent_action_id?", "pattern_id", "payload_commitment*", "phase*", "policy_digest*"),
    *("provider", "provider_request_id", "recorded_at*", "resource_key", "resource_type"),
    *("run_id", "schema_version#", "skill_ref", "status*", "target_group_id", "target_key"),
    *("target_row?#", "tenant_id*", "trace_id", "trigger", "xact"),
)
# As a spreadsheet has it: first what people read, then the columns, then the payload.
CONTENT = ("artifacts", "payload", "resource_id", "target_id", "salt")
HEADER = (
    *("sentence", "object", "id", "action_id", "phase", "attempt_no", "schema_version"),
    *("tenant_id", "account_id", "actor_type", "actor_id", "on_behalf_of", "credential_ref"),
    *("agent_id", "agent_version", "model_id", "skill_ref", "pattern_id", "trigger", "run_id"),
    *("trace_id", "parent_action_id", "provider", "resource_type", "resource_key", "action_type"),
    *("target_key", "target_group_id", "decision", "decision_reason", "policy_digest"),
    *("approval_id", "approved_by", "idempotency_key", "status", "error_code"),
    *("provider_request_id", "latency_ms", "target_row", "payload_commitment"),
    *("artifacts_digest", "envelope_mac", "occurred_at", "recorded_at", "xact", *CONTENT),
)
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # a spreadsheet would run it
STATES = {
    "pending": "Begun",
    "succeeded": "Done",
    "noop": "Already so",
    "failed": "Not done",
    "blocked": "Refused",
    "denied": "Refused",
    "waiting": "Waiting",
    "recorded": "Noted",
    "unknown": "Nobody can tell whether it was done",
}
COLON = re.compile("\\A([^\u201c]*?): (?=[\u201c(])")  # before what the action is about
AGAIN = {  # how a sentence ends that says its state twice, and what is left of that
    "succeeded": (". Done.", "."),
    "noop": (". Nothing to do: it is already like this.", "."),
    "failed": ("; nothing was done.", "."),
    "blocked": (", so nothing was done.", "."),
    "unknown": (
        ". Nobody could find out whether the provider did this: please check.",
        ". Please check.",
    ),
}
LISTED = 5000  # rows that a report gives in words
HIDDEN = re.compile(  # signs that hide or reorder others
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
LOOKED_AT = {name.rstrip("*#"): int if "#" in name else str for name in COLUMNS if "*" in name}
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
BROKEN = (*UNREADABLE, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)

P, Q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # Ed25519, RFC 8032
D = -121665 * pow(121666, P - 2, P) % P
Point = tuple[int, int, int, int]
Row = tuple[bytes, ...]


def add(a: Point, b: Point) -> Point:
    e, f = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    g, h = 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    w, x, y, z = f - e, h - g, h + g, f + e
    return w * x % P, y * z % P, x * y % P, w * z % P


def times(number: int, point: Point) -> Point:
    rest: Point = times(number >> 1, add(point, point)) if number else (0, 1, 1, 0)
    return add(rest, point) if number & 1 else rest


def point_of(encoded: bytes) -> Point:
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (not x and sign):
        raise ValueError("not a point of the curve")
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    if len(public) != 32 or len(signature) != 64:
        return False
    try:
        key, r = point_of(public), point_of(signature[:32])
    except ValueError:
        return False
    s = int.from_bytes(signature[32:], "little")
    k = int.from_bytes(sha512(signature[:32] + public + message).digest(), "little") % Q
    a, b = times(s, BASE), add(r, times(k, key))
    return s < Q and not any((a[i] * b[2] - b[i] * a[2]) % P for i in (0, 1))


def unbase64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def key_id(name: str, public: bytes) -> bytes:
    return sha256(f"{name}\n".encode() + b"\1" + public).digest()[:4]


def key_of(text: str) -> tuple[str, bytes]:
    """Name and public key of a verifier key."""
    found = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})", text.strip())
    name, identifier, encoded = found.groups() if found else ("", "", "")
    public = unbase64(encoded)
    if public[:1] != b"\1" or identifier != key_id(name, public[1:]).hex():
        raise ValueError("KEY is no whole key of the form origin+id+base64.")
    return name, public[1:]


def signers(note: str, name: str, keys: Iterable[bytes]) -> tuple[list[str], list[bytes]]:
    """The lines of a note, and which of the keys signed it under this name."""
    text, _, signatures = note.partition("\n\n")
    found = []
    for line in signatures.splitlines():
        dash, signer, encoded = line.split(" ")
        if (dash, signer) == ("\u2014", name):
            signature = unbase64(encoded)
            likely = [key for key in keys if key_id(name, key) == signature[:4]]
            found += [k for k in likely if is_signed(k, f"{text}\n".encode(), signature[4:])]
    return text.split("\n"), found


def read_note(note: str, name: str, keys: Iterable[bytes]) -> tuple[int, bytes, bytes]:
    """The size and root that a checkpoint states, and the one of the keys that signed it.
    Raises ValueError unless one did."""
    (origin, size, root), by = signers(note, name, keys)
    if not by or origin != name:
        raise ValueError("not signed by KEY")
    return int(size), unbase64(root), by[0]


class Tree:
    def __init__(self, size: int, nodes: list[bytes]) -> None:
        if size < 0 or len(nodes) != size.bit_count() or any(len(node) != 32 for node in nodes):
            raise ValueError("The manifest's left side is that of no tree.")
        self.size, self.nodes = size, nodes

    def append(self, node: bytes) -> None:
        full = self.size
        while full & 1:
            node = sha256(b"\1" + self.nodes.pop() + node).digest()
            full >>= 1
        self.nodes.append(node)
        self.size += 1

    def root(self) -> bytes:
        *lefts, root = self.nodes or [sha256().digest()]
        for left in reversed(lefts):
            root = sha256(b"\1" + left + root).digest()
        return root


def root_of(line: bytes, place: int, size: int, proof: list[bytes]) -> bytes:
    """The root to which a line leads from its place by its proof (RFC 6962, 2.1.1)."""
    node, last, given = sha256(b"\0" + line).digest(), size - 1, iter(proof)
    while last:
        if place & 1 or place < last:
            other = next(given, b"")
            pair = other + node if place & 1 else node + other
            node = sha256(b"\1" + pair).digest()
        place, last = place >> 1, last >> 1
    return node if next(given, None) is None else b""


class Part:
    """Lines that belong to rows, in the order of the rows. `next` is how the next line ends, and
    `row_id` its row: empty when there is none."""

    def __init__(self, lines: Iterator[bytes], form: bytes) -> None:
        self.lines, self.form, self.broken = lines, re.compile(form), 0
        self.advance()

    def advance(self) -> None:
        for line in self.lines:
            if found := self.form.search(line, len(line) - LONGEST):
                self.next, self.row_id = found, found["row_id"]
                return
            self.broken += 1
        self.row_id = b""

    def of(self, row_id: bytes) -> list[re.Match[bytes]]:
        found = []
        while self.row_id == row_id:
            found.append(self.next)
            self.advance()
        return found


def read(line: bytes) -> Any:
    return json.loads(line.decode())


def digest_of(data: bytes) -> bytes:
    return sha256(data).hexdigest().encode()


def artifacts_in(body: bytes) -> list[bytes]:
    """The text of each artifact that a payload names. They stand first in its canonical JSON and
    are flat: a quotation mark within a text has a backslash before it."""
    if body.startswith(b'{"artifacts":[]'):
        return []
    texts = body[len(b'{"artifacts":[') : body.index(b'],"payload":')]
    return texts.replace(b'},{"', b'}\n{"').split(b"\n")


def form_of(column: str) -> str:
    """The plain JSON of a column: a number, or printable ASCII without escapes."""
    value = "(?:0|[1-9][0-9]*+)" if "#" in column else r"[ !#-\[\]-~]*+"
    value = f"({value})" if "*" in column else value
    value = value if "#" in column else f'"{value}"'
    return f'"{column.rstrip("*#?")}":' + (f"(?:null|{value})" if "?" in column else value)


PLAIN = re.compile(f"\\{{{','.join(map(form_of, COLUMNS))}\\}}".encode())


def looked_at(line: bytes) -> Row:
    """What is looked at of a row, in the order of its columns. Of a line in its plain form JSON
    would say the same, and take three times as long."""
    if found := PLAIN.fullmatch(line):
        return found.groups()
    row = read(line)
    if any(type(row[name]) is not kind for name, kind in LOOKED_AT.items()):
        raise ValueError("A column is of another type.")
    return tuple(str(row[name]).encode() for name in LOOKED_AT)


def said(kind: str, status: str, payload: Any, words: Any = WORDS[-1]) -> tuple[str, str]:
    """What a row is about, as it was called when the row was written, and the row as a sentence:
    without names where its payload was erased. The first words said things twice."""
    held = payload if isinstance(payload, dict) else {}
    texts = [held.get(name) for name in ("description", "name", "sentence")]
    called, name, why = (text if isinstance(text, str) else "" for text in texts)
    about = called or name
    what = (about or kind.replace("_", " ").replace(".", " ")).removesuffix(".")
    is_first = words == WORDS[0]
    what = what if is_first else COLON.sub(r"\1 ", what)
    sentence = f"{STATES.get(status, status)}: {what}.{why and f' {why}'}"
    again, left = AGAIN.get("" if is_first else status, ("", ""))
    return about, sentence.removesuffix(again) + left if sentence.endswith(again) else sentence


def cell(text: str) -> str:
    """A text as a cell that no spreadsheet runs. Alone, \\x03 would stand for nothing."""
    text = f"'{text}" if text.startswith(FORMULA) else text
    doubled = text.replace('"', '""')
    is_quoted = text == "\x03" or any(sign in text for sign in '",\n\r')
    return f'"{doubled}"' if is_quoted else text


def table_line(row: dict[str, Any], body: bytes, words: tuple[str, str], salt: str) -> str:
    """The row as a line of the table; the cells of its content are empty where it was erased."""
    artifacts, _, rest = body.partition(b'],"payload":')
    whole, _, ids = rest.rpartition(b',"resource_id":')
    content = [""] * len(CONTENT)
    if body:
        texts = (artifacts[len(b'{"artifacts":') :] + b"]").decode(), whole.decode()
        content = [*texts, *map(json.loads, ids[:-1].split(b',"target_id":')), salt]
    names = ("object", "sentence", *CONTENT)
    found = row | dict(zip(names, (*words, *content), strict=True))
    values = ("" if (value := found[name]) is None else str(value) for name in HEADER)
    return ",".join(map(cell, values)) + "\r\n"


def escape(text: str) -> str:
    texts = HIDDEN.sub(lambda sign: f"\u27e8U+{ord(sign[0]):04X}\u27e9", text)
    for sign, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot")):
        texts = texts.replace(sign, f"&{name};")
    return texts


class Report:
    """What people read of rows: how many of each kind, for whom, and the first of them in words.
    Rows of a period that were recorded outside of it are not counted."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        self.origin, self.is_whole = manifest["origin"], manifest["completeness"] == "proven"
        self.since, self.until = manifest["since"] or "", manifest["until"] or ""
        self.words = manifest.get("words", WORDS[0])
        self.kinds, self.people = dict[str, dict[str, int]](), dict[str, dict[str, int]]()
        self.rows, self.count, self.last = list[str](), 0, ""

    def said(self, row: dict[str, Any], payload: Any) -> tuple[str, str]:
        return said(row["action_type"], row["status"], payload, self.words)

    def add(self, row: dict[str, Any], payload: Any) -> None:
        at, status, person = row["recorded_at"], row["status"], row["on_behalf_of"]
        self.last = at
        is_outside = at < self.since or (self.until and at >= self.until)
        if (self.is_whole and is_outside) or row["phase"] == "attempt":
            return
        self.count += 1
        for name, group in ((row["action_type"], self.kinds), (person, self.people)):
            counts = group.setdefault(name, {})
            counts[STATES.get(status, status)] = counts.get(STATES.get(status, status), 0) + 1
        if len(self.rows) < LISTED:
            _, sentence = self.said(row, payload)
            texts = f"{at[:10]} {at[11:19]}", person or row["actor_id"], sentence
            self.rows.append(self.row("td", *texts))

    def row(self, tag: str, *cells: object) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(one))}</{tag}>" for one in cells) + "</tr>\n"

    def figures(self, title: str, group: dict[str, dict[str, int]]) -> str:
        states = dict.fromkeys(STATES.values())
        found = [state for state in states if any(state in one for one in group.values())]
        head = self.row("th", title, *found)
        lines = (
            self.row("td", name or "(nobody)", *(counts.get(state, 0) for state in found))
            for name, counts in group.items()
        )
        return f"<table>\n{head}{''.join(lines)}</table>\n"

    def text(self) -> str:
        when = f"from {self.since or 'the first row'} to {self.until or self.last}"
        claim = "All rows of that time" if self.is_whole else "Rows that match the bundle's filters"
        more = self.count - len(self.rows)
        return "".join(
            (
                '<!DOCTYPE html>\n<html lang="en-GB"><meta charset="utf-8"><title>Report</title>\n',
                "<style>body{font:1rem/1.5 sans-serif;max-width:70rem;margin:2rem auto;",
                "padding:0 1rem}td,th{text-align:left;vertical-align:top;padding:.2rem .5rem}",
                "td{overflow-wrap:anywhere}</style>\n<h1>What was done, asked and refused</h1>\n",
                f"<p>{escape(self.origin)}, {escape(when)} (UTC). {claim}: {self.count}. ",
                "An attempt is in it by its outcome. verify.py, beside this, finds whether each ",
                "word of this page is what the sealed rows say.</p>\n",
                f"{self.figures('Action', self.kinds)}{self.figures('For', self.people)}",
                f"<h2>In words</h2>\n<table>\n{self.row('th', 'When', 'For', 'What')}",
                *self.rows,
                "</table>\n",
                f"<p>{more} more rows stand in ledger.csv, in the same words.</p>\n"
                if more
                else "",
            )
        )


def call(row: Row, body: bytes) -> str:
    """The row as people call it: when, which action, and about what."""
    about, _ = said("", "", read(body)["payload"] if body else {})
    _, kind, _, _, _, _, _, _, at, _, _ = row
    return f" ({at.decode()}, {kind.decode()}{about and f' {about}'})"


def name_of(line: bytes, payloads: Part) -> str:
    """As `call` does, by the payloads that stand beside; empty for a line that cannot be read."""
    try:
        row = looked_at(line)
        given = payloads.of(row[4])
        body = given[0].string[len(b'{"body":') : given[0].start()] if given else b""
        proven = body and digest_of(unhexlify(given[0][2]) + body) == row[5]
        return call(row, body if proven else b"")
    except UNREADABLE:
        return ""


def once(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Where something is wrong and what, as one sentence the first time; the others counted."""
    counts = dict[str, int]()
    for where, sentence in found:
        if sentence not in counts:
            yield f"{where}{sentence}"
        counts[sentence] = counts.get(sentence, 0) + 1
    for sentence, count in counts.items():
        if count > 1:
            yield f"{count - 1} more: {sentence}"


class Views:
    """What people read of the rows, held against the rows one by one."""

    def __init__(self, archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
        held = archive.namelist()
        self.table = archive.open(TABLE) if TABLE in held else None
        self.given = archive.read(REPORT) if REPORT in held else None
        self.report, self.differs = Report(manifest), ""
        self.compare(",".join(HEADER) + "\r\n", "the first line")

    def compare(self, line: str, called: str) -> None:
        data = line.encode()
        if self.table and not self.differs and self.table.read(len(data)) != data:
            self.differs = called

    def add(self, line: bytes, body: bytes, salt: str) -> None:
        if not self.table and self.given is None:
            return
        row = read(line)
        payload = read(body)["payload"] if body else {}
        words = self.report.said(row, payload)
        called = f"the row of {row['recorded_at']} ({words[1]})"
        self.compare(table_line(row, body, words, salt), called)
        self.report.add(row, payload)

    def findings(self) -> Iterator[str]:
        if self.table and not self.differs and self.table.read(1):
            self.differs = "its end"
        if self.differs:
            yield f"{TABLE} is not what the rows say, from {self.differs} on."
        if self.given is not None and self.given != self.report.text().encode():
            yield f"{REPORT} is not what the rows say."


class Verification:
    def __init__(self, archive: zipfile.ZipFile, key: tuple[str, bytes], until: str) -> None:
        self.archive, (self.name, self.key), self.until = archive, key, until
        self.ledger, _, self.tenant = self.name.rpartition("/")
        self.tenant_id = self.tenant.encode()
        # Every key that counts and how KEY leads to it; for what only compares also those before.
        self.keys, self.known, self.by = {self.key: ""}, [self.key], self.key
        self.digests, self.stops = dict[str, str](), dict[int, list[tuple[bytes, str]]]()
        self.open = dict[tuple[bytes, bytes], bytes]()  # the row of each attempt
        self.missing, self.erased, self.policies = set[int](), set[int](), set[bytes]()
        self.undecided, self.has_ended = dict[bytes, bytes](), False  # by policy: a row
        self.manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
        self.is_whole = self.manifest["completeness"] == "proven"
        self.since = (self.manifest["since"] or "").encode()
        self.tree = self.begin_tree()
        self.first = self.sound = self.tree.size
        self.wrong = ""  # between which checkpoints a row is not what was sealed
        self.views = Views(archive, self.manifest)
        self.count, self.place, self.stamped = 0, -1, 0
        self.begin = self.last = self.redacted = b""  # first, last, last erasure behind: when
        self.gaps, self.left = list[int](), list[list[int]]()  # by retention: found, and recorded

    def begin_tree(self) -> Tree:
        return Tree(self.manifest["first"], [*map(bytes.fromhex, self.manifest["left"])])

    def note(self, name: str) -> tuple[tuple[int, bytes], bytes]:
        size, root, by = read_note(self.archive.read(name).decode(), self.name, self.keys)
        return (size, root), by

    def findings(self, older: list[tuple[str, str]]) -> Iterator[str]:
        yield from self.claims()
        yield from self.rotations(json.loads(self.archive.read("keys.json"))["rotations"])
        self.end, self.by = self.note("checkpoint.note")
        self.newest, self.newest_by = self.note("newest.note")
        if self.newest != self.end and self.newest[0] <= self.end[0]:
            yield "newest.note is older than checkpoint.note, or contradicts it."
        for file in ("checkpoints.jsonl", "anchors.jsonl"):
            for line in self.lines(file):
                at, expected, _ = read_note(read(line)["note"], self.name, self.known)
                self.stops.setdefault(at, []).append((expected, ""))
                self.stamped += file == "anchors.jsonl"
        self.stops.setdefault(self.end[0], []).append((self.end[1], ""))
        for line in self.lines("policies.jsonl"):
            self.policies.add(digest_of(read(line)["body"].encode()))
        for name, note in older:
            yield from self.compare(name, note)
        yield from self.redactions()
        yield from once(self.walk())
        yield from self.whole() if self.is_whole else ()
        yield from self.refused()
        yield from self.views.findings()
        for name, digest in self.manifest["files"].items():
            for _ in self.lines(name) if name not in self.digests else ():
                pass
            if self.digests[name] != digest:
                yield f"{name} is not the file that the manifest describes."

    def whole(self) -> Iterator[str]:
        """What is wrong with the rows as a whole."""
        if self.wrong or self.tree.size != self.end[0]:
            yield self.located()
        elif self.tree.size == self.first:
            yield f"The lines end at place {self.tree.size}, the checkpoint at {self.end[0]}."
        until = self.manifest["until"] or ""
        if self.last.decode() < until:
            yield f"The rows end before {until}, so later ones of the period may be missing."

    def refused(self) -> Iterator[str]:
        for by, at in ((self.by, self.last.decode()), (self.newest_by, self.redacted.decode())):
            if self.until and by == self.key and at > self.until:
                yield f"KEY signed rows of {at}, and you refuse it after {self.until}."

    def claims(self) -> Iterator[str]:
        names = self.archive.namelist()
        if sorted(name for name in names if name not in (TABLE, REPORT)) != sorted(FILES):
            yield f"The bundle holds other files than it should: {names}."
        about = [self.manifest[name] for name in ("format", "origin", "tenant_id")]
        claim, words = self.manifest["completeness"], self.views.report.words
        known = claim in ("proven", "not claimed") and words in WORDS
        if about != [FORMAT, self.name, self.tenant] or not known:
            yield "The manifest is of another ledger or format."

    def rotations(self, notes: list[str]) -> Iterator[str]:
        """Which keys count: each rotation is signed by the key before it and by the new one."""
        name, chain = f"{self.ledger}/keys", list[bytes]()
        for number, note in enumerate(notes, start=1):
            try:
                lines = note.partition("\n\n")[0].split("\n")
                said, old, new, at = lines[0], *map(unbase64, lines[1:3]), lines[3]
                both = {*signers(note, name, (old, new))[1]} == {old, new} and said == name
            except UNREADABLE:
                both = False
            if not both or old == new:
                yield f"Rotation {number} in keys.json is not signed by both of its keys."
                break
            if chain[-1:] not in ([], [old]) or new in chain:
                yield f"Rotation {number} in keys.json does not follow from the one before it."
                break
            if old == self.key and self.until and at > self.until:
                yield f"KEY named its successor on {at}, and you refuse it after {self.until}."
                break
            chain += [new] if chain else [old, new]
            if old in self.keys:
                who = key_id(self.name, old).hex()
                self.keys[new] = f", which key {who} named on {at}{self.keys[old]}"
        self.known = [*self.keys]
        if self.key in chain:
            self.known += chain[: chain.index(self.key)]
        elif chain:
            yield "The rotations in keys.json are not about KEY."

    def compare(self, name: str, note: str) -> Iterator[str]:
        try:
            at, expected, _ = read_note(note, self.name, self.known)
        except UNREADABLE:
            yield f"{name} is no checkpoint that KEY signed."
            return
        newest, root = self.newest
        if at > newest:
            yield f"ROLLBACK: {name} has {at} rows, this bundle's ledger only {newest}."
        elif self.is_whole and at <= self.end[0]:
            self.stops.setdefault(at, []).append((expected, name))
            if at <= self.first and (at < self.first or expected != self.tree.root()):
                yield f"{name} cannot be compared or differs: ask for a bundle that begins earlier."
        elif at < newest:
            yield f"{name} cannot be compared: ask for a whole bundle that goes on to row {at}."
        elif expected != root:
            yield f"REWRITE: the first {at} rows are not those of {name}."

    def redactions(self) -> Iterator[str]:
        """Erasures behind the last line, each proven alone."""
        for number, line in enumerate(self.lines("redactions.jsonl")):
            try:
                given = read(line)
                text, body = given["line"].encode(), given["body"].encode()
                _, kind, *_, commitment, phase, _, at, status, _ = looked_at(text)
                sealed = self.is_sealed(text, given, *self.newest)
                fits = sealed and digest_of(bytes.fromhex(given["salt"]) + body) == commitment
                if fits and self.explains(phase, kind, status, body):
                    self.redacted = max(self.redacted, at)
                    continue
            except UNREADABLE:
                pass
            yield f"redaction {number}: It is not what was sealed."

    def is_sealed(self, line: bytes, given: Any, size: int, root: bytes) -> bool:
        place, proof = given["place"], [*map(bytes.fromhex, given["proof"])]
        return 0 <= place < size and root_of(line, place, size, proof) == root

    def walk(self) -> Iterator[tuple[str, str]]:
        """Every line and what belongs to it; its proof or, in a whole bundle, the root of the
        tree wherever a checkpoint states it. Where something is wrong, and what."""
        payloads = Part(self.lines("payloads.jsonl"), PAYLOAD)
        artifacts = Part(self.lines("artifacts.jsonl"), ARTIFACT)
        proofs, tree = map(read, self.lines("proofs.jsonl")), self.tree
        for line in self.lines("ledger.jsonl"):
            self.count += 1
            proof = {"place": tree.size} if self.is_whole else next(proofs, {})
            if self.is_whole and line.startswith(b'{"left":') and (gap := LEFT.fullmatch(line)):
                self.gaps.append(tree.size)
                tree.append(unhexlify(gap[1]))
            else:
                for sentence in self.about(line, proof, payloads, artifacts):
                    yield f"place {proof.get('place')}{self.called}: ", sentence
                tree.append(sha256(b"\0" + line).digest())
            if self.is_whole and tree.size in self.stops:
                for sentence in self.stop(self.stops[tree.size]):
                    yield "", sentence
        if next(proofs, None) is not None:
            yield "", "There are more proofs than lines."
        for name, part in (("payload", payloads), ("artifact", artifacts)):
            if part.broken:
                yield "", f"{part.broken} lines of {name}s.jsonl cannot be read."
            while part.row_id:
                row_id = part.row_id.decode()
                yield f"row {row_id}: ", f"A {name} belongs to no line or is in disorder."
                part.advance()
        yield from self.unexplained()

    def unexplained(self) -> Iterator[tuple[str, str]]:
        for row_id in sorted(self.missing - self.erased):
            yield f"row {row_id}: ", "Its payload is missing and no redaction says why."
        for place in self.gaps:
            if not any(first <= place <= last for first, last in self.left):
                yield f"place {place}: ", "Its row is missing and no retention says why."
        for row in () if self.has_ended else self.undecided.values():
            yield f"row {row.decode()}: ", "The policy that decided it is missing or altered."

    def located(self) -> str:
        """The first row that is not what was sealed, where the leaves beside the rows are those of
        the checkpoint; else between which places it is."""
        tree, leaves = self.begin_tree(), self.archive.read("leaves.bin")
        for at in range(0, len(leaves), 32):
            tree.append(leaves[at : at + 32])
        if (tree.size, tree.root()) != self.end:
            ends = f"The lines end at place {self.tree.size}, the checkpoint at {self.end[0]}."
            return self.wrong or ends
        payloads, at, before = Part(self.lines("payloads.jsonl"), PAYLOAD), 0, "the first one"
        for line in self.lines("ledger.jsonl"):
            gap = LEFT.fullmatch(line)
            leaf = unhexlify(gap[1]) if gap else sha256(b"\0" + line).digest()
            name = f"place {self.first + at}{name_of(line, payloads)}"
            if leaf != leaves[32 * at :][:32]:
                return f"{name}: This is not the row that was sealed there, behind {before}."
            at, before = at + 1, name
        return f"The rows behind {before} are missing, {len(leaves) // 32 - at} of them."

    def about(self, line: bytes, proof: Any, payloads: Part, artifacts: Part) -> list[str]:
        """What is wrong with a row and with what belongs to it. A list: for a million rows,
        generators would take longer than what they check."""
        wrong: list[str] = []
        self.called = ""
        try:
            row = looked_at(line)
            _, _, sealed, _, row_id, _, _, _, self.last, _, _ = row
            self.phase(row, wrong)
            body, salt = b"", ""
            if payloads.row_id == row_id:
                given = payloads.of(row_id)
                body, salt = self.payload(row, given, wrong), given[0][2].decode()
            else:
                self.missing.add(int(row_id))
            if artifacts.row_id == row_id or (sealed and body):
                self.artifacts(sealed, artifacts.of(row_id), body, wrong)
            if not self.is_whole:
                wrong += self.proven(line, proof)
            if wrong:
                self.called = call(row, body)
            else:
                self.views.add(line, body, salt)
        except UNREADABLE as error:
            wrong.append(f"The line or what belongs to it cannot be read: {error!r}.")
        return wrong

    def phase(self, row: Row, wrong: list[str]) -> None:
        action, _, _, number, row_id, _, phase, policy, at, _, tenant = row
        if not self.begin:
            if self.first and not at < self.since:
                wrong.append("Rows of the period may be missing before this line.")
            self.begin = at
        if tenant != self.tenant_id:
            wrong.append("The row is another organisation's.")
        if policy and policy not in self.policies:
            self.undecided.setdefault(policy, row_id)
        if phase == b"attempt":
            self.open[action, number] = row_id
        elif phase == b"outcome" and not self.open.pop((action, number), self.first):
            wrong.append("This outcome has no attempt before it.")

    def payload(self, row: Row, given: list[re.Match[bytes]], wrong: list[str]) -> bytes:
        """The body of the row's payload; empty when it is not the one that was sealed."""
        _, kind, _, _, _, commitment, phase, _, _, status, _ = row
        line = given[0].string
        body = line[len(b'{"body":') : given[0].start()]
        digest = sha256(unhexlify(given[0][2]) + body).hexdigest().encode()
        if digest != commitment or len(given) > 1 or not line.startswith(b'{"body":'):
            wrong.append("Its payload is not the one that was sealed.")
            return b""
        if phase == b"redaction" or kind in (b"ledger.retention", b"ledger.end"):
            self.explains(phase, kind, status, body)
        return body

    def artifacts(self, sealed: bytes, given: list[Any], body: bytes, wrong: list[str]) -> None:
        digests = [end[1] for end in given]
        if body:
            named = [(b'{"artifact":' + text, digest_of(text)) for text in artifacts_in(body)]
            if named != [(end.string[: end.start()], end[1]) for end in given]:
                wrong.append("Its artifacts are not those that its payload names.")
        if sealed != (digest_of(b'["%b"]' % b'","'.join(digests)) if digests else b""):
            wrong.append("Its artifacts are not those that were sealed.")

    def explains(self, phase: bytes, kind: bytes, status: bytes, body: bytes) -> bool:
        """Whether the row says why others, or their payloads, are missing."""
        if phase == b"redaction":
            self.erased.update(json.loads(body)["payload"]["rows"])
        elif kind == b"ledger.retention" and status == b"succeeded":
            self.left += json.loads(body)["payload"].get("places", [])
        elif kind == b"ledger.end" and status == b"succeeded":
            self.has_ended = True
        else:
            return False
        return True

    def proven(self, line: bytes, proof: Any) -> Iterator[str]:
        if not proof:
            yield "It has no proof."
            return
        if not self.is_sealed(line, proof, *self.end):
            yield "Its proof does not lead from this line to the checkpoint."
        if proof["place"] <= self.place:
            yield "Its place is not after that of the line before."
        self.place = proof["place"]

    def stop(self, expected: list[tuple[bytes, str]]) -> Iterator[str]:
        root, size = self.tree.root(), self.tree.size
        for stated, name in expected:
            if name and stated != root:
                yield f"REWRITE: the first {size} rows are not those of {name}."
            elif stated == root:
                self.sound = size
            elif self.sound >= 0:
                self.wrong = f"Rows from place {self.sound} to {size - 1} are not what was sealed."
                self.sound = -1  # every later root differs too

    def remarks(self) -> Iterator[str]:
        """What a reader should know beside the verdict."""
        begin, end = (at.decode() or "none" for at in (self.begin, self.last))
        since, until = self.manifest["since"], self.manifest["until"]
        filters = f"actions with {json.dumps(self.manifest['filters'], **CANONICAL)}"
        period = f"{since or 'the start'} to {until or 'the last row'}"
        if how := self.keys[self.by]:
            yield f"Signed by key {key_id(self.name, self.by).hex()}{how}."
        asked = period if self.is_whole else filters
        yield f"Asked for: {asked}. Rows: {begin} to {end}."
        if self.stamped:
            yield f"{self.stamped} checkpoints are time stamped: stamps.py, beside this, checks it."
        if self.gaps:
            yield f"{len(self.gaps)} of these rows left by retention: their leaves stand for them."
        if self.has_ended and self.undecided:
            yield "This ledger has ended: the policies that decided went with its key."
        if held := [name for name in (TABLE, REPORT) if name in self.archive.namelist()]:
            yield f"Held against the rows, word for word: {', '.join(held)}."

    def verdict(self, findings: int) -> str:
        kind = f"NOT SOUND: {findings} findings in" if findings else "SOUND:"
        if not self.is_whole:
            intact = "" if findings else " Each was sealed at its place and is unaltered."
            claim = "Completeness is not claimed: other rows may match the filters."
            return f"{kind} {self.count} rows of {self.name}.{intact} {claim}"
        places = f"places {self.first} to {self.tree.size - 1} of {self.name}"
        return f"{kind} {places}.{'' if findings else ' None between them is missing or altered.'}"

    def lines(self, name: str) -> Iterator[bytes]:
        """A file line by line. It was read to its end when its digest is there."""
        digest, info = sha256(), self.archive.getinfo(name)
        left, is_proven = info.file_size, name in PROVEN
        with self.archive.open(info) as member, self.opened(info, member) as file:
            for line in file if left else ():
                left -= len(line)
                if not is_proven:
                    digest.update(line)
                elif left < 0 or line[-1:] != b"\n":
                    raise ValueError(f"{name} ends within a line.")
                yield line.removesuffix(b"\n")
                if not left:
                    break
        if left:
            raise ValueError(f"{name} is cut off.")
        self.digests[name] = digest.hexdigest()

    def opened(self, info: zipfile.ZipInfo, member: Any) -> IO[bytes]:
        """What is proven line by line is read where it lies in the zip file: zipfile would copy
        it and compute its CRC-32, which takes longer than to split it into lines."""
        as_it_is = info.compress_type, info.compress_size == info.file_size
        if info.filename not in PROVEN or as_it_is != (zipfile.ZIP_STORED, True):
            return io.BufferedReader(member, CHUNK)
        file = Path(str(self.archive.filename)).open("rb", CHUNK)  # noqa: SIM115  # it is closed
        file.seek(info.header_offset + 26)  # zipfile has looked at this header
        file.seek(sum(struct.unpack("<HH", file.read(4))), io.SEEK_CUR)
        return file


def say(kind: str, text: str) -> None:
    """Text from the bundle may hold what would steer a terminal."""
    print(f"{kind:7} " + "".join(sign if sign.isprintable() else "?" for sign in text))


def main(arguments: list[str]) -> int:
    count = 0
    try:
        bundle, given, *checkpoints = arguments
        Path(bundle).open("rb").close()
        whole = given if given.count("+") > 1 else Path(given).read_text(encoding="utf-8")
        text, _, refused = whole.strip().partition("@")
        key = key_of(text)
        older = [(name, Path(name).read_text(encoding="utf-8")) for name in checkpoints]
    except (OSError, ValueError) as error:
        print(f"Nothing was checked: {error}" if len(arguments) > 1 else __doc__)
        return 2
    try:
        with zipfile.ZipFile(bundle) as archive:
            verification = Verification(archive, key, refused)
            for sentence in verification.findings(older):
                count += 1
                say("FINDING", sentence)
        remarks = [*verification.remarks()]
    except BROKEN as error:
        say("FINDING", f"The bundle cannot be read to its end: {type(error).__name__}: {error}")
        print("NOT SOUND")
        return 1
    for (action_id, number), row_id in verification.open.items():
        what = f"attempt {number.decode()} of {action_id.decode()}"
        say("open", f"row {row_id.decode()}: {what} has no outcome here.")
    for remark in remarks:
        say("note", remark)
    print(verification.verdict(count))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
