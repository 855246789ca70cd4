"""A directory as CSV: as mail systems write it, and as nobody should."""

from contextlib import suppress

import pytest
from hypothesis import example, given, strategies as st

from guardrails.policies import directory_file
from guardrails.policies.directory_file import DirectoryFileError, Entry, read

ZOE = Entry(address="zoe@company.com", name="Zoë Müller")


def problems(content: str | bytes) -> tuple[str, ...]:
    raw = content.encode() if isinstance(content, str) else content
    with pytest.raises(DirectoryFileError) as caught:
        read(raw)
    return caught.value.problems


@pytest.mark.parametrize(
    "text",
    [
        "address,name\nzoe@company.com,Zoë Müller\n",
        "Name;E-Mail\r\nZoë Müller;zoe@Company.COM\r\n",
        "Email\tFirst Name\tLast Name\tPhone\nzoe@company.com\t Zoë\tMüller \t+49 1\n",
        "First Name [Required],Last Name [Required],Email Address [Required]\n"
        "Zoë,Müller,zoe@company.com",
        "Display name,First name,Last name,User principal name\n"
        '"Zoë  Müller",Zoë,Müller,zoe@company.com\n\n,,,\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_of_mail_systems_and_spreadsheets_are_read(text: str, encoding: str) -> None:
    assert read(text.encode(encoding)) == (ZOE,)


def test_other_names_and_groups_are_read() -> None:
    text = (
        "address,name,other names,kind\n"
        "zoe@company.com,Zoë Müller,Zo; Desk Lead,person\n"
        "all@company.com,Everyone,,Distribution list\n"
    )
    assert read(text.encode()) == (
        Entry(
            address="zoe@company.com",
            name="Zoë Müller",
            other_names=("Zo", "Desk Lead"),
            is_group=False,
        ),
        Entry(address="all@company.com", name="Everyone", other_names=(), is_group=True),
    )


def test_every_wrong_line_is_named_and_nothing_is_read() -> None:
    text = (
        "address,name,kind\n"
        "zoe@company.com,Zoë Müller,person\n"
        "not an address,Tom Becker,person\n"
        'zoe@company.com,"Zoë\nAgain",person\n'
        "zoe@company.com,Zoe Again,person\n"
        "tom@company.com,Tom Becker,robot\n"
        "tom@company.com\n"
        "ann@company.com,,person\n"
    )
    assert problems(text) == (
        "Line 3: the address is not one plain address such as ada@company.com.",
        "Line 4: a name contains the hidden character U+000A.",
        "Line 6: this address stands on line 2 already.",
        "Line 7: “robot” is no kind: write person or group.",
        "Line 8: has 1 cells, and the columns need 3.",
        "Line 9: a name has no letter.",
    )


@pytest.mark.parametrize(
    "name",
    [
        "=HYPERLINK(0)",
        "=cmd|' /C calc'!A0",
        "+Priya",
        "-Priya",
        "@SUM(A1)",
        "P\u200briya Shah",
        "Priya\u202eShah",
        "\u0420riya Shah",  # one Cyrillic letter
        "Priya <priya@company.com>",
        "123",
        "x" * 201,
        "x" * 1_001,
    ],
)
def test_what_is_no_name_is_refused_by_line(name: str) -> None:
    (problem,) = problems(f"address;name\npriya@company.com;{name}\n")
    assert problem.startswith("Line 2: ")
    assert "\u200b" not in problem
    assert "\u202e" not in problem


@pytest.mark.parametrize(
    "address",
    [
        "priya@c\u043empany.com",  # a Cyrillic o
        "priya@xn--company.com",
        "Priya <priya@company.com>",
        "priya@company.com,eve@evil.example",
        "=priya@company.com@evil.example",
        "",
    ],
)
def test_what_is_no_plain_address_is_refused_by_line(address: str) -> None:
    (problem,) = problems(f'name;address\nPriya Shah;"{address}"\n')
    assert problem.startswith("Line 2: the address ")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "Line 1: name the columns there: address and name, or first name and last name; "),
        (b"zoe@company.com,Zoe\n", "Line 1: name the columns there: "),
        (b"address,name\n", "The file names nobody."),
        (b"address,name,email\n", "Line 1: two columns hold the address. Keep one."),
        ("address,name\nz@c.com,Zoë".encode("latin-1"), "Line 2: the file is not UTF-8. "),
        (b"address,name\nz@c.com,Zo\0e", "Line 2: the file holds a NUL: it is no text."),
        (b'address,name\nz@c.com,"Zoe\ny@c.com,Yan\n', "Line 2: no CSV: "),
        (b'address,name\nz@c.com,"Zoe"x\n', "Line 2: no CSV: "),
        (b"address,name\nz@c.com," + b"x" * 700_000, "Line 2: no CSV: field larger than "),
        (b"address,name\n" + b"x" * 1_000_000, "The file is longer than 750000 bytes."),
        (b"PK\x03\x04\x14\x00\x08\x00", "Line 1: the file holds a NUL: it is no text."),
    ],
)
def test_what_is_no_such_file_is_refused_in_words(content: bytes, problem: str) -> None:
    (found,) = problems(content)
    assert found.startswith(problem)


def test_of_many_problems_the_first_are_named() -> None:
    found = problems("address,name\n" + "x,Tom\n" * 50)
    assert (len(found), found[-1]) == (21, "30 more lines are wrong.")


def test_a_file_of_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_file, "MOST_LINES", 2)
    text = "address,name\na@c.com,Ann\nb@c.com,Bob\n"
    assert problems(text) == ("The file has more than 2 lines.",)


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(str.encode),
    st.sampled_from((b"", b"zoe@company.com,Zo", b"zoe@company.com,Zoe,a")),
)
@example(content=b"\0e,b", before=b"zoe@company.com,Zo")
@example(content=b"\0", before=b"zoe@company.com,Zoe,a")
def test_no_file_breaks_it(content: bytes, before: bytes) -> None:
    with suppress(DirectoryFileError):
        found = read(b"address,name,other names\n" + before + content)
        assert all(one.address.isascii() and one.name for one in found)
        texts = "".join(one.name + "".join(one.other_names or ()) for one in found)
        assert "\0" not in texts
        assert texts.encode()
