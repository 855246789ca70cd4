"""Since when has a ledger been as its bundle says? Checks the time stamps (RFC 3161) in it.

    python stamps.py BUNDLE.zip [CERTIFICATES.pem]

Run verify.py first: it says whether the bundle's checkpoints are signed and are those of its
rows. This program says of some of these checkpoints when they existed at the latest: each leads
to a root over all ledgers of that hour, which an authority outside has time stamped. With
CERTIFICATES, the authorities' root certificates that you trust, openssl also checks who signed
the time stamps; without them only what they are about. Needs Python 3.11, and openssl for that.
Nothing is sent anywhere. Exit code 0 when everything fits, 1 when it does not.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SHA256 = bytes.fromhex("608648016503040201")
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
BROKEN = (*UNREADABLE, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)


def parts(data: bytes) -> list[bytes]:
    """The values that stand one behind another in DER. Raises ValueError."""
    found = []
    while data:
        if len(data) < 2:
            raise ValueError("cut off")
        size, start = data[1], 2
        if size & 128:
            start += size & 127
            size = int.from_bytes(data[2:start], "big")
        if start + size > len(data):
            raise ValueError("cut off")
        found.append(data[start : start + size])
        data = data[start + size :]
    return found


def read_time_stamp(response: bytes) -> tuple[bytes, datetime, list[bytes]]:
    """The SHA-256 digest that a time stamp is about, its time, and all fields of its TSTInfo.

    The way there is response, content, SignedData, encapsulated content, TSTInfo. Raises one
    of UNREADABLE for what is no granted time stamp over a SHA-256 digest.
    """
    status, content = parts(parts(response)[0])
    if parts(status)[0] not in (b"\0", b"\1"):
        raise ValueError("not granted")
    signed = parts(parts(parts(content)[1])[0])
    fields = parts(parts(parts(parts(signed[2])[1])[0])[0])
    algorithm, digest = parts(fields[2])
    if parts(algorithm)[0] != SHA256 or len(digest) != 32:
        raise ValueError("another digest than SHA-256")
    seconds = fields[4].decode().removesuffix("Z").partition(".")[0]
    return digest, datetime.strptime(seconds, "%Y%m%d%H%M%S").replace(tzinfo=UTC), fields


def is_signed(response: bytes, digest: bytes, at: datetime, certificates: Path) -> bool:
    """Whether openssl finds the time stamp signed under one of these certificates, as they
    were valid when it was made."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "response.tsr"
        file.write_bytes(response)
        command = ["openssl", "ts", "-verify", "-digest", digest.hex(), "-in", str(file)]
        trusted = ["-CAfile", str(certificates), "-attime", str(int(at.timestamp()))]
        return not subprocess.run([*command, *trusted], capture_output=True, check=False).returncode


def root_of(line: bytes, place: int, size: int, proof: list[bytes]) -> bytes:
    """The root to which a leaf leads from its place by its proof (RFC 6962, 2.1.1)."""
    if not 0 <= place < size:
        raise ValueError("no place of the tree")
    node, last, given = hashlib.sha256(b"\0" + line).digest(), size - 1, iter(proof)
    while last:
        if place & 1 or place < last:
            other = next(given, b"")
            pair = other + node if place & 1 else node + other
            node = hashlib.sha256(b"\1" + pair).digest()
        place, last = place >> 1, last >> 1
    return node if next(given, None) is None else b""


def check(anchor: Any, certificates: Path | None) -> Iterator[tuple[str, str]]:
    """What there is to say of one line of anchors.jsonl, each with its kind."""
    text = anchor["note"].partition("\n\n")[0] + "\n"
    rows = int(text.split("\n")[1])
    proof = [*map(bytes.fromhex, anchor["proof"])]
    root = root_of(text.encode(), anchor["place"], anchor["size"], proof)
    if not anchor["tokens"]:
        yield "FINDING", f"The checkpoint with {rows} rows has no time stamp."
    for token in anchor["tokens"]:
        response = base64.b64decode(token["response"], validate=True)
        digest, at, _ = read_time_stamp(response)
        who = f"The time stamp of {token['authority']} for the checkpoint with {rows} rows"
        if digest != root:
            yield "FINDING", f"{who} is about something else."
        elif certificates and not is_signed(response, digest, at, certificates):
            yield "FINDING", f"{who} is not signed under your certificates."
        else:
            existed = f"{rows} rows existed at {at:%Y-%m-%d %H:%M:%S} UTC"
            yield "stamped", f"The first {existed}, says {token['authority']}."


def say(kind: str, text: str) -> None:
    """Text from the bundle may hold what would steer a terminal."""
    print(f"{kind:7} " + "".join(sign if sign.isprintable() else "?" for sign in text))


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2:
        print(__doc__)
        return 2
    certificates = Path(arguments[1]) if len(arguments) > 1 else None
    stamped = findings = 0
    try:
        if certificates and not certificates.read_bytes():
            raise ValueError("the file of certificates is empty")
        with zipfile.ZipFile(arguments[0]) as archive, archive.open("anchors.jsonl") as lines:
            for line in lines:
                for kind, text in check(json.loads(line), certificates):
                    say(kind, text)
                    findings += kind == "FINDING"
                    stamped += kind == "stamped"
    except BROKEN as error:
        say("FINDING", f"The time stamps cannot be read: {type(error).__name__}: {error}")
        findings += 1
    if findings:
        print(f"NOT STAMPED: {findings} findings.")
        return 1
    if not certificates:
        say("note", "Who signed them was not checked: name the authorities' root certificates.")
    print(f"STAMPED: {stamped} time stamps fit." if stamped else "There are no time stamps.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
