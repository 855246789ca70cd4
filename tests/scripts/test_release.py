import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from scripts import release
from scripts.room_graph import PROJECT

PAGE = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")


def run(command: str, folder: Path) -> bool:
    return not subprocess.run(
        shlex.split(command), cwd=folder, check=False, capture_output=True
    ).returncode


def written(start: str) -> str:
    """The command of SECURITY.md that begins so."""
    [found] = re.findall(rf"(?m)^    ({re.escape(start)}.*)$", PAGE)
    return str(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release of two files, signed with a key that the page's own commands made."""
    for start in ("openssl genpkey", "openssl pkey -in"):
        assert run(written(start), tmp_path)
    files = [tmp_path / name for name in ("remit-0.1.0.tar.gz", release.BILL)]
    for one in files:
        one.write_text(f"what {one.name} holds")
    release.sign(tmp_path, files, release.load_key(tmp_path / "release.key"))
    return tmp_path


def is_sound(folder: Path) -> bool:
    return run(written("openssl pkeyutl -verify"), folder) and run(
        written("sha256sum --check"), folder
    )


def test_anybody_verifies_a_release_with_the_commands_of_the_page(folder: Path) -> None:
    assert is_sound(folder)


@pytest.mark.parametrize("name", ["remit-0.1.0.tar.gz", release.BILL, release.SUMS])
def test_a_file_that_was_changed_is_found(folder: Path, name: str) -> None:
    with (folder / name).open("a") as file:
        file.write(" ")

    assert not is_sound(folder)


def test_the_signature_of_another_key_does_not_hold(folder: Path) -> None:
    (folder / "other").mkdir()
    assert run(written("openssl genpkey"), folder / "other")
    files = [folder / "remit-0.1.0.tar.gz", folder / release.BILL]
    release.sign(folder, files, release.load_key(folder / "other" / "release.key"))

    assert not is_sound(folder)


def test_what_is_no_key_for_releases_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "release.key").write_text("secret")

    assert release.main([str(tmp_path), "--key", str(tmp_path / "release.key")]) == 1
    assert release.main([str(tmp_path), "--key", str(tmp_path / "nowhere")]) == 1
    assert "no private key" in (said := capsys.readouterr().err)
    assert "secret" not in said
    assert not (tmp_path / release.SUMS).exists()


def test_the_bill_names_every_package_of_the_lock_with_its_hashes(tmp_path: Path) -> None:
    text = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
    locked = {name.lower(): version for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", text)}

    first = release.list_parts(PROJECT, tmp_path).read_bytes()
    again = release.list_parts(PROJECT, tmp_path).read_bytes()

    bill = json.loads(first)
    assert first == again
    assert bill["bomFormat"] == "CycloneDX"
    assert {one["name"].lower(): one["version"] for one in bill["components"]} == locked
    assert bill["metadata"]["component"]["name"] == "remit"
    for one in bill["components"]:
        assert one["purl"].startswith("pkg:pypi/")
        hashes = [found for reference in one["externalReferences"] for found in reference["hashes"]]
        assert {found["alg"] for found in hashes} == {"SHA-256"}


def test_the_archive_holds_what_was_committed(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nversion = "7"\n')
    (project / "left.txt").write_text("not committed")
    author = "git -c user.name=a -c user.email=a@b.example"
    for command in ("git init -q", "git add pyproject.toml", f"{author} commit -qm One"):
        assert run(command, project)

    made = release.archive(project, tmp_path)

    listed = subprocess.run(["tar", "-tzf", made], capture_output=True, text=True, check=True)
    assert made.name == "remit-7.tar.gz"
    assert listed.stdout.split() == ["remit-7/", "remit-7/pyproject.toml"]
