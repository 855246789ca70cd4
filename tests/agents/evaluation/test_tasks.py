from pathlib import Path

import pytest

from agents.evaluation import tasks
from agents.evaluation.tasks import InvalidSuite

HEAD = """
clock: 2026-03-11T09:00:00+01:00
users: [{id: maya, name: Maya, address: maya@company.com, sources: [gmail]}]
policies: {office: {}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(HEAD)
    return tmp_path


def refused(folder: Path, text: str) -> str:
    (folder / "mail.yaml").write_text(text)
    with pytest.raises(InvalidSuite) as error:
        tasks.load(str(folder))
    return str(error.value)


def test_the_suite_that_comes_with_remit_can_be_read() -> None:
    suite = tasks.load("office")

    assert suite.name == "office"
    assert suite.task("archive-plants").script[0].say.startswith("Archive John Smith's mail")


def test_a_suite_that_is_nowhere_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidSuite, match=r"There is no suite “none”\. There is: office;"):
        tasks.load("none")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {id: a, kind: mail, say: Hi, sya: Hi}", "mail.yaml, task a, sya: Extra inputs"),
        ("- {id: a, kind: letter, say: Hi}", "mail.yaml, task a, kind: Input should be"),
        ("- {id: a, kind: mail}", "mail.yaml, task a, all of it: give say or turns."),
        ("- {kind: mail, say: Hi}", "mail.yaml, task 1, id: Field required."),
        ("- {id: a, kind: mail, say: Hi, user: eve}", "task a, user: the suite has no user “eve”."),
        ("- {id: a, kind: mail, say: Hi, policy: p}", "policy: the suite has no policy “p”."),
        (
            "- {id: a, kind: mail, say: Hi, changes: [{create: emails, delete: emails/1}]}",
            "task a, changes.0: give one of create, change and delete.",
        ),
        (
            "- {id: a, kind: mail, say: Hi, decisions: [{do: approve, action: explode}]}",
            "task a, decisions.0: there is no action “explode”.",
        ),
        (
            "- {id: a, kind: mail, say: Hi, decisions: [{do: change}]}",
            "decisions.0: params: only for change, which needs them.",
        ),
        ("- {id: a, kind: mail, say: Hi}\n- {id: a, kind: mail, say: Hi}", "two tasks of this id"),
        ("a: b", "mail.yaml: give a list of tasks."),
        ("- [", "mail.yaml: while parsing"),
    ],
)
def test_what_is_written_wrongly_is_named_by_file_task_and_field(
    folder: Path, text: str, said: str
) -> None:
    assert said in refused(folder, text)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (HEAD.replace("{office: {}}", "{other: {}}"), "policies: name one “office”"),
        (HEAD.replace("+01:00", ""), "clock: name the time zone"),
        (HEAD.replace("users:", "people:"), "suite.yaml, users: Field required"),
    ],
)
def test_the_head_of_a_suite_is_checked_too(folder: Path, head: str, said: str) -> None:
    (folder / "suite.yaml").write_text(head)

    assert said in refused(folder, "[]")


def test_yaml_makes_no_objects(folder: Path) -> None:
    assert "could not determine a constructor" in refused(folder, "- !!python/object:os.system {}")
