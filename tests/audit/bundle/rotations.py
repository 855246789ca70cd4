"""What somebody can do to the keys that a bundle names."""

import json
import random
from typing import Any

from audit.seals import notes
from audit.seals.notes import Signer
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.bundle.files import Files

FOREIGN = Signer(b"another signing key, not trusted")
SECOND, THIRD = (Signer(bytes([number]) * 32) for number in (2, 3))


def rotations_of(files: Files) -> Any:
    return json.loads(files["keys.json"])


def forge_a_rotation(files: Files, luck: random.Random) -> None:
    """The thief has no old key: another one signs that it names theirs."""
    bundles.rotate(files, sealed.SIGNER, FOREIGN)
    keys = rotations_of(files)
    origin = json.loads(files["manifest.json"])["origin"]
    name = notes.rotations_name(origin.rpartition("/")[0])
    said = notes.Rotation(
        name=name, old=sealed.SIGNER.public, new=FOREIGN.public, at=bundles.ROTATED
    )
    keys["rotations"] = [luck.choice([FOREIGN, SECOND]).sign(said) + FOREIGN.signature(said)]
    bundles.put_keys(files, keys)


def alter_a_rotation(files: Files, luck: random.Random) -> None:
    bundles.rotate(files, sealed.SIGNER, SECOND)
    keys = rotations_of(files)
    note = keys["rotations"][0]
    keys["rotations"] = [note.replace("2026-11-20T22", f"2026-11-{luck.randrange(10, 20)}T22")]
    bundles.put_keys(files, keys)


def break_the_chain_of_keys(files: Files, luck: random.Random) -> None:
    bundles.rotate(files, sealed.SIGNER, SECOND, THIRD, FOREIGN)
    keys = rotations_of(files)
    del keys["rotations"][1]
    bundles.put_keys(files, keys)


def drop_a_rotation(files: Files, luck: random.Random) -> None:
    bundles.rotate(files, sealed.SIGNER, SECOND)
    bundles.put_keys(files, rotations_of(files) | {"rotations": []})


def turn_back_to_a_key(files: Files, luck: random.Random) -> None:
    bundles.rotate(files, sealed.SIGNER, SECOND, sealed.SIGNER)


def bring_the_keys_of_another_ledger(files: Files, luck: random.Random) -> None:
    keys = rotations_of(files)
    bundles.rotate(files, SECOND, THIRD)
    others = rotations_of(files)["rotations"]
    bundles.sign_again(files, sealed.SIGNER)
    bundles.put_keys(files, keys | {"rotations": others})
