from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agents.evaluation.recordings import Misfit, Recorder, Recording


def asked(*ids: str, port: int = 4711, text: str = "Hi") -> dict[str, Any]:
    shown = [{"id": id, "url": f"http://127.0.0.1:{port}/{id}"} for id in ids]
    return {"model": "m", "messages": [{"role": "user", "content": text, "shown": shown}]}


def answered(*ids: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": f"I take {', '.join(ids)}"}}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def record(path: Path, *kept: tuple[str, dict[str, Any], dict[str, Any]]) -> Recording:
    recorder = Recorder(path, suite="office", model="m")
    for one in kept:
        recorder.keep(*one)
    recorder.close()
    return Recording(path)


def test_an_answer_is_found_with_other_ids_and_ports_and_names_the_new_ones(path: Path) -> None:
    one, two, mail = str(uuid4()), str(uuid4()), "mail_0123456789abcdef"
    recording = record(path, ("a#1", asked(one, two, mail), answered(mail, one)))
    other, another, letter = str(uuid4()), str(uuid4()), "mail_fedcba9876543210"

    said = recording.take("a#1", asked(other, another, letter, port=1234))

    assert said == answered(letter, other)
    assert (recording.suite, recording.model, recording.tasks()) == ("office", "m", {"a#1"})


def test_answers_to_the_same_request_come_in_their_order_each_once(path: Path) -> None:
    kept = [("a#1", asked(), answered("x")), ("a#1", asked(), answered("y"))]
    recording = record(path, *kept)

    assert [recording.take("a#1", asked()) for _ in kept] == [answered("x"), answered("y")]
    with pytest.raises(Misfit):
        recording.take("a#1", asked())


@pytest.mark.parametrize(("task", "text"), [("a#1", "Hello"), ("a#2", "Hi"), ("b#1", "Hi")])
def test_a_recording_that_fits_no_more_says_so(path: Path, task: str, text: str) -> None:
    recording = record(path, ("a#1", asked(), answered("x")))

    with pytest.raises(Misfit, match=f"no answer for {task}: .* Record it anew with --record."):
        recording.take(task, asked(text=text))


def test_two_ids_that_were_one_are_another_request(path: Path) -> None:
    one = str(uuid4())
    recording = record(path, ("a#1", asked(one, one), answered("x")))

    with pytest.raises(Misfit):
        recording.take("a#1", asked(one, str(uuid4())))


@pytest.mark.parametrize("text", ["", "{}", '{"version": 0}', "no JSON"])
def test_a_file_that_is_no_recording_is_refused(path: Path, text: str) -> None:
    path.write_text(text)

    with pytest.raises(Misfit):
        Recording(path)
