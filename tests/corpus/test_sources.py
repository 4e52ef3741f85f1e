"""Paths into sources: which files, under what names, and what is said of those that can't be had."""

import os
from pathlib import Path

import pytest

from groundwire.corpus import Problem, Source, SourceFile, list_sources, load_source, read_source


def names(listing_of: Path) -> list[str]:
    return [file.name for file in list_sources([listing_of]).files]


def test_a_folder_that_links_back_to_itself_is_walked_once(tmp_path: Path) -> None:
    """The walk ends, names the link, and the rest goes in."""
    (tmp_path / "docs" / "inner").mkdir(parents=True)
    (tmp_path / "docs" / "inner" / "page.md").write_text("Text.")
    os.symlink(tmp_path / "docs", tmp_path / "docs" / "inner" / "again")
    listing = list_sources([tmp_path / "docs"])
    assert [file.name for file in listing.files] == ["inner/page.md"]
    assert listing.problems == [Problem("inner/again", "links back to a folder that it is in")]


def test_a_linked_folder_goes_in_once_however_many_links_lead_to_it(tmp_path: Path) -> None:
    """Links to links would else multiply without end."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "page.md").write_text("Text.")
    (tmp_path / "docs").mkdir()
    for name in ("one", "two"):
        os.symlink(tmp_path / "elsewhere", tmp_path / "docs" / name)
    listing = list_sources([tmp_path / "docs"])
    assert [file.name for file in listing.files] == ["one/page.md"]
    assert listing.ignored == ["two"]


def test_names_with_blanks_and_other_scripts_are_kept(tmp_path: Path) -> None:
    """In one Unicode form, so that a name from a Mac is the name that a person types."""
    for name in ("mit Leer zeichen.md", "re\u0301sume\u0301.md", "返金.txt", "سياسة.md"):
        (tmp_path / name).write_text("Text.")
    assert set(names(tmp_path)) == {
        "mit Leer zeichen.md",
        "r\xe9sum\xe9.md",
        "返金.txt",
        "سياسة.md",
    }


def test_a_name_that_is_no_text_is_named_as_well_as_it_can_be(tmp_path: Path) -> None:
    """It could not be cited."""
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("Text.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    listing = list_sources([tmp_path])
    assert listing.files == []
    assert listing.problems == [Problem("caf?.md", "its name is not valid UTF-8")]


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """Opening one would wait for a writer that never comes."""
    os.mkfifo(tmp_path / "pipe.md")
    file = list_sources([tmp_path]).files[0]
    assert load_source(file) == Problem("pipe.md", "is not a regular file")


def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes in is the file as it was at one moment."""
    path = tmp_path / "page.md"
    path.write_text("Old.")
    fstat, changes = os.fstat, iter(["Newer.", "Newest text."])

    def changing(handle: int) -> os.stat_result:
        status = fstat(handle)
        if (text := next(changes, None)) is not None:
            path.write_text(text)
        return status

    monkeypatch.setattr(os, "fstat", changing)
    assert load_source(SourceFile("page.md", path)) == Source("page.md", b"Newest text.")


def test_a_file_that_never_stands_still_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a few tries, and the rest goes in."""
    path = tmp_path / "page.md"
    path.write_text("x")
    fstat = os.fstat

    def growing(handle: int) -> os.stat_result:
        status = fstat(handle)
        path.write_text(path.read_text() + "x")
        return status

    monkeypatch.setattr(os, "fstat", growing)
    problem = load_source(SourceFile("page.md", path))
    assert problem == Problem("page.md", "changed while it was read")


def test_a_digest_covers_all_that_reading_depends_on() -> None:
    """Name, labels and bytes: the same digest is read to the same documents."""
    sources = [
        Source("a.md", b"x"),
        Source("b.md", b"x"),
        Source("a.md", b"y"),
        Source("a.md", b"x", ("staff",)),
    ]
    assert len({source.digest for source in sources}) == 4
    assert Source("a.md", b"x").digest == sources[0].digest


def test_a_character_is_found_on_its_line_of_the_source() -> None:
    """Counted from the first line of the file, front matter included."""
    reading = read_source(Source("a.md", b"---\r\ntitle: T\r\n---\r\n\r\n# Head\r\n\r\nText.\r\n"))
    document = reading.documents[0]
    place = document.place(document.text.index("Text"))
    assert place is not None
    assert (place.unit, place.number) == ("line", 7)


def test_labels_from_outside_hold_unless_a_page_names_its_own() -> None:
    """What stands nearest to the text wins."""
    own = Source("a.md", b"---\nlabels: [legal]\n---\nText.", ("staff",))
    none = Source("a.md", b"Text.", ("staff",))
    assert [read_source(source).documents[0].labels for source in (own, none)] == [
        ("legal",),
        ("staff",),
    ]


def labels(folder: Path) -> dict[str, tuple[str, ...] | None]:
    return {file.name: file.labels for file in list_sources([folder], ("given",)).files}


def test_a_folder_says_which_labels_its_documents_have(tmp_path: Path) -> None:
    """The last pattern that matches, of the nearest file that has one; else what the command says."""
    for name in ("a.md", "internal/b.md", "internal/legal/c.md", "other/d.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Text.")
    (tmp_path / "labels.toml").write_text(
        '"internal/" = ["staff"]\n"*/legal/*" = ["legal"]\n"other/d.md" = ["d"]'
    )
    assert labels(tmp_path) == {
        "a.md": ("given",),
        "internal/b.md": ("staff",),
        "internal/legal/c.md": ("legal",),
        "other/d.md": ("d",),
    }
    (tmp_path / "internal" / "labels.toml").write_text('"legal/*.md" = ["law", "staff"]')
    assert labels(tmp_path)["internal/legal/c.md"] == ("law", "staff")
    assert labels(tmp_path)["internal/b.md"] == ("staff",)
    alone = list_sources([tmp_path / "internal" / "legal" / "c.md"]).files
    assert alone[0].labels is None


@pytest.mark.parametrize("rules", ["x", '"*" = "staff"', '"*" = []', '"*" = ["a:b"]'])
def test_rules_that_cannot_be_read_leave_out_what_is_below_them(tmp_path: Path, rules: str) -> None:
    """It might not be public."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.md").write_text("Text.")
    (tmp_path / "b.md").write_text("Text.")
    (tmp_path / "inner" / "labels.toml").write_text(rules)
    listing = list_sources([tmp_path])
    assert [file.name for file in listing.files] == ["b.md"]
    assert {problem.source for problem in listing.problems} == {"inner/labels.toml", "inner/a.md"}
