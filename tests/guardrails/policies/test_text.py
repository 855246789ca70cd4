"""The text of a policy file: nothing is misread, and nothing costs more than it is long."""

import pytest

from guardrails.policies.text import MAX_CHARS, PolicyFileError, read


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not a policy file"),
        ("[1", "neither YAML nor JSON"),
        ("version: 2", "version"),
        ("version: 1\nrules: []", "rules"),
        ("version: 1\nallowed_actions: [{action: archive, mode: always}]", "mode"),
        ("version: 1\nversion: 1", "given twice"),
        ('{"version": 1, "groups": [], "groups": []}', "given twice"),
        ("version: 1\ngroups: &x []\ntargets: *x", "alias"),
        ("version: 1\nallowed_actions: !!python/object:os.system {}", "neither YAML nor JSON"),
        (
            "version: 1\ngroups: [{name: A, cardinality: multi}, {name: A, cardinality: single}]",
            "listed twice",
        ),
        ("version: 1\ngroups: [{<<: {name: A}, name: B, cardinality: multi}]", "merge key"),
        (
            'version: 1\ngroups: [{name: "a\\0b", cardinality: multi}]',
            "“a⟨U\\+0000⟩b” contains the control character U\\+0000",
        ),
        (
            '{"version": 1, "allowed_actions": [{"action": "archive", "mode": "auto", '
            '"conditions": [{"kind": "subject", "words": ["\\ud800"]}]}]}',
            "contains the control character",
        ),
        ("#" * (MAX_CHARS + 1), "longer than 300000 characters"),
        ("[" * 200_000, "nested more than 20 levels deep"),
        ("{a: " * 50_000, "nested more than 20 levels deep"),
        (f"version: {'9' * 5000}", "more than 20 digits"),
        (f"version: 0x{'f' * 5000}", "more than 20 digits"),
    ],
)
def test_a_file_that_could_be_misread_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(PolicyFileError, match=sentence):
        read(text)


def test_many_entries_are_looked_through_once_each() -> None:
    lines = "".join(
        f"- {{action: classify, kind: label, id: l{number}, name: n}}\n" for number in range(4000)
    )
    found = read(f"version: 1\ntargets:\n{lines}")
    assert found.targets is not None
    assert len(found.targets) == 4000


def test_many_unknown_keys_are_refused_shortly() -> None:
    text = "version: 1\n" + "".join(f"k{number}: 1\n" for number in range(10_000))
    with pytest.raises(PolicyFileError, match="k0: Extra inputs") as caught:
        read(text)
    assert len(str(caught.value)) < 500
