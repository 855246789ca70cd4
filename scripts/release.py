"""What a release is given out with: its source, what it is made of, and a signed list of both.

    python -m scripts.release FOLDER --key release.key

FOLDER then has `remit-<version>.tar.gz`, the commit's files; `sbom.cdx.json`, every package of
requirements.lock with its hashes, as CycloneDX; `SHA256SUMS`, the digests of both; and
`SHA256SUMS.sig`, their signature by the Ed25519 key in PEM. SECURITY.md says how the key is made
and how anybody verifies, with openssl and sha256sum alone. Nothing is asked of the network.
"""

import argparse
import hashlib
import subprocess
import sys
import tomllib
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from scripts.room_graph import PROJECT

BILL, SUMS, SIGNATURE = "sbom.cdx.json", "SHA256SUMS", "SHA256SUMS.sig"


def load_key(path: Path) -> Ed25519PrivateKey:
    """Raises ValueError for a file that holds no Ed25519 key in PEM without a passphrase."""
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is no private key in PEM without a passphrase.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path} is another kind of key than Ed25519.")
    return key


def read_version(project: Path) -> str:
    with (project / "pyproject.toml").open("rb") as file:
        version: str = tomllib.load(file)["project"]["version"]
    return version


def archive(project: Path, folder: Path) -> Path:
    """The files of the commit, as git gives them: the same commit gives the same bytes."""
    name = f"remit-{read_version(project)}"
    path = folder / f"{name}.tar.gz"
    command = ("git", "archive", "--format=tar.gz", f"--prefix={name}/", "-o", str(path), "HEAD")
    subprocess.run(command, cwd=project, check=True)
    return path


def list_parts(project: Path, folder: Path) -> Path:
    """What Remit is made of, by the schema of CycloneDX: the same lock gives the same bytes."""
    path = folder / BILL
    command = (
        *(sys.executable, "-m", "cyclonedx_py", "requirements", "requirements.lock"),
        *("--pyproject", "pyproject.toml", "--output-reproducible", "--validate"),
        *("--output-format", "JSON", "--output-file", str(path)),
    )
    subprocess.run(command, cwd=project, check=True)
    return path


def sign(folder: Path, files: list[Path], key: Ed25519PrivateKey) -> None:
    """Write the digests of `files`, as sha256sum reads them, and their signature."""
    lines = [f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in files]
    text = "".join(lines).encode()
    (folder / SUMS).write_bytes(text)
    (folder / SIGNATURE).write_bytes(key.sign(text))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.release", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--key", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    try:
        key = load_key(chosen.key)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    chosen.folder.mkdir(parents=True, exist_ok=True)
    files = [archive(PROJECT, chosen.folder), list_parts(PROJECT, chosen.folder)]
    sign(chosen.folder, files, key)
    print("\n".join(str(chosen.folder / name) for name in (*files, SUMS, SIGNATURE)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
