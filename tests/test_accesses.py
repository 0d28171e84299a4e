"""What calls of built-in tools would touch, on a real disk: links, other names, patterns, addresses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hitl_cli.access import Command, Host, Opaque, Place, ReadPath, ToolUse, WritePath
from hitl_cli.accesses import accesses_of
from hitl_cli.links import Look, real
from hitl_cli.resolve import resolve
from tests.corpus.layout import read


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for folder in ("w/src", "w/.git/hooks", "home", "out"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "w" / "f.txt").write_text("x")
    root = str(tmp_path)
    return Place(f"{root}/w", (f"{root}/w",), f"{root}/home", (f"{root}/home/.config/hitl",))


def written(place: Place, path: str) -> WritePath | Opaque:
    (access, *_) = accesses_of("Write", {"file_path": path}, place)
    assert isinstance(access, (WritePath, Opaque))
    return access


class TestLinks:
    def test_a_plain_path_leads_nowhere_else(self, place: Place) -> None:
        assert written(place, "src/a.py") == WritePath(f"{place.cwd}/src/a.py")

    def test_a_link_is_followed_before_two_dots(self, place: Place) -> None:
        (Path(place.cwd) / "l").symlink_to(Path(place.cwd).parent / "out")
        found = written(place, "l/../x")
        assert isinstance(found, WritePath)
        assert (found.path, found.real) == (f"{place.cwd}/l/../x", str(Path(place.cwd).parent / "x"))

    def test_a_dangling_link_means_the_file_it_would_create(self, place: Place) -> None:
        (Path(place.cwd) / "l").symlink_to(".git/hooks/pre-commit")
        found = written(place, "l")
        assert isinstance(found, WritePath)
        assert found.real == f"{place.cwd}/.git/hooks/pre-commit"

    def test_links_in_a_circle_are_opaque(self, place: Place) -> None:
        (Path(place.cwd) / "a").symlink_to("b")
        (Path(place.cwd) / "b").symlink_to("a")
        assert isinstance(written(place, "a"), Opaque)
        assert real("a", place) is None

    def test_a_long_chain_of_links_ends_where_the_kernel_would(self, place: Place) -> None:
        for n in range(30):
            (Path(place.cwd) / f"l{n}").symlink_to(f"l{n + 1}" if n < 29 else "f.txt")
        assert real("l0", place) == f"{place.cwd}/f.txt"

    def test_the_kernels_own_links_mean_the_call_and_not_this_process(self, place: Place) -> None:
        assert real("/proc/self/cwd/x", place) == f"{place.cwd}/x"
        assert real("/proc/self/root/etc/hosts", place) == "/etc/hosts"
        assert real(f"/proc/{os.getpid()}/cwd/../y", place) == str(Path(place.cwd).parent / "y")
        assert real("/dev/fd/3", place) == "/dev/fd/3"
        (Path(place.cwd) / "l").symlink_to("/proc/self/cwd")
        assert real("l/z", place) == f"{place.cwd}/z"

    def test_agrees_with_the_system_on_ordinary_links(self, place: Place) -> None:
        root = Path(place.cwd)
        (root / "d" / "e").mkdir(parents=True)
        (root / "s").symlink_to("d/e")
        (root / "t").symlink_to("../w/s")
        for path in ("s", "t/../x", "s/./../e/../../f.txt", "t/none/y", "d//e/"):
            assert real(path, place) == os.path.realpath(root / path)


class TestOtherNames:
    def test_a_link_to_the_workspace_is_the_workspace(self, place: Place) -> None:
        link = Path(place.cwd).parent / "link"
        link.symlink_to(place.cwd)
        found = written(place, f"{link}/src/a")
        assert found == WritePath(f"{link}/src/a", real=f"{place.cwd}/src/a", alias=f"{place.cwd}/src/a")
        moved = accesses_of("Bash", {"command": f"cd {link} && wc -l f.txt"}, place)
        assert isinstance(moved[0], Command)
        assert moved[0].free
        assert moved[3] == ReadPath(
            f"{link}/f.txt", "wc -l f.txt", 2, real=f"{place.cwd}/f.txt", alias=f"{place.cwd}/f.txt"
        )

    def test_a_workspace_reached_through_a_link_is_no_obstacle(self, place: Place) -> None:
        link = str(Path(place.cwd).parent / "link")
        os.symlink(place.cwd, link)
        through = Place(link, (link,), place.home)
        assert written(through, "src/a") == WritePath(f"{link}/src/a")

    def test_another_name_of_a_protected_file_is_that_file(self, place: Place) -> None:
        hook = Path(place.cwd, ".git", "hooks", "pre-commit")
        hook.write_text("x")
        os.link(hook, Path(place.cwd, "src", "h"))
        (_, other) = accesses_of("Write", {"file_path": "src/h"}, place)
        assert other == WritePath(str(hook))


class TestFoldersAndPatterns:
    def test_a_folder_that_a_command_reads_stands_for_all_below_it(self, place: Place) -> None:
        accesses = accesses_of("Bash", {"command": "grep -r x src"}, place)
        below = [a for a in accesses if isinstance(a, ReadPath) and a.glob]
        assert [a.path for a in below] == [f"{place.cwd}/src/**"]
        assert not [a for a in accesses_of("Bash", {"command": "ls src"}, place) if isinstance(a, ReadPath) and a.glob]
        assert len(accesses_of("Grep", {"path": "src", "pattern": "x"}, place)) == 1

    @pytest.mark.parametrize("command", ["grep -r x l", "grep -r x src/up/l", "cd l && grep -r x .", "cp -r l/. y"])
    def test_a_folder_reached_through_a_link_stands_for_all_below_it_under_both_names(
        self, place: Place, command: str
    ) -> None:
        (Path(place.cwd) / "secrets").mkdir()
        (Path(place.cwd) / "l").symlink_to("secrets")
        (Path(place.cwd) / "src" / "up").symlink_to("..")
        found = [a.path for a in accesses_of("Bash", {"command": command}, place) if isinstance(a, ReadPath) and a.glob]
        assert f"{place.cwd}/secrets/**" in found
        assert len(found) == 2

    def test_the_links_that_a_pattern_matches_are_stated(self, place: Place) -> None:
        (Path(place.cwd) / "l1").symlink_to("/etc/hosts")
        accesses = accesses_of("Bash", {"command": "cat l*"}, place)
        assert [a.real for a in accesses if isinstance(a, ReadPath) and not a.glob] == ["/etc/hosts"]

    @pytest.mark.parametrize(
        "command", ["grep -r x .", "rg x", "cp -r . ../b", "grep -r x src", "find . -exec cat {} +"]
    )
    def test_so_does_one_of_a_workspace_that_is_reached_through_a_link(self, place: Place, command: str) -> None:
        link = f"{place.cwd}-link"
        os.symlink(place.cwd, link)
        for cwd, written in ((link, command), (place.cwd, f"cd {link} && {command}")):
            found = accesses_of("Bash", {"command": written}, Place(cwd, (cwd,), place.home))
            below = [a.path for a in found if isinstance(a, ReadPath) and a.glob and a.below]
            assert below, found

    @pytest.mark.parametrize(
        "pattern", ["'[x]'*", '"[x]"l*', "\\[x]*", "[[]x*", "?x\\]*", "*'x]l'", "[^a]x*", "[[:punct:]]x*", "'['?']'*"]
    )
    def test_a_link_whose_name_is_quoted_in_part_is_found(self, place: Place, pattern: str) -> None:
        (Path(place.cwd) / "[x]l").symlink_to("/etc/hosts")
        accesses = accesses_of("Bash", {"command": f"cat {pattern}"}, place)
        assert [a.real for a in accesses if isinstance(a, ReadPath) and not a.glob] == ["/etc/hosts"]

    @pytest.mark.parametrize("pattern", ["*/" * 2_100 + "x", "*/" * 30_000 + "x", "*a" * 30_000, "**/" * 20_000])
    def test_a_pattern_that_no_path_can_be_as_long_as_is_opaque(self, place: Place, pattern: str) -> None:
        assert [type(a) for a in accesses_of("Bash", {"command": f"cat {pattern}"}, place)][-1] is Opaque

    def test_a_link_is_found_among_all_that_a_pattern_matches_or_the_pattern_is_opaque(self, place: Place) -> None:
        folder = Path(place.cwd) / "many"
        folder.mkdir()
        for number in range(1_999):
            (folder / f"f{number}").touch()
        (folder / "link").symlink_to(Path(place.cwd).parent / "out")
        found = accesses_of("Bash", {"command": "cat many/*"}, place)
        assert f"{place.cwd}/many/link" in [a.path for a in found if isinstance(a, ReadPath)]
        assert isinstance(accesses_of("Bash", {"command": "cat many/* many/*"}, place)[-1], Opaque)

    def test_a_pattern_that_would_list_the_disk_is_opaque(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(30):
            (Path(place.cwd) / f"d{number}" / "e").mkdir(parents=True)
        monkeypatch.setattr("hitl_cli.below.COMPARED", 1_500)
        assert not isinstance(accesses_of("Bash", {"command": "cat d1*/*/x"}, place)[-1], Opaque)
        assert isinstance(accesses_of("Bash", {"command": "cat */*/*/x"}, place)[-1], Opaque)

    def test_of_many_patterns_a_bounded_number_is_looked_at(self, place: Place) -> None:
        accesses = accesses_of("Bash", {"command": "cat " + " ".join(f"a{n}*/b*" for n in range(900))}, place)
        assert sum(isinstance(access, Opaque) for access in accesses) == 1

    def test_a_git_folder_planted_in_the_workspace_is_opaque(self, place: Place) -> None:
        for name in ("objects", "refs"):
            (Path(place.cwd) / "src" / name).mkdir()
        (Path(place.cwd) / "src" / "HEAD").write_text("ref: refs/heads/m\n")
        (Path(place.cwd) / "link").symlink_to("src/refs")
        for command in (
            "cd src && git status",
            "git -C src log",
            "git -C src -C refs status",
            "cd src/objects; git log",
            "git -C link log",
        ):
            accesses = accesses_of("Bash", {"command": command}, place)
            assert [a for a in accesses if isinstance(a, Opaque)], command

    def test_a_git_folder_whose_data_is_elsewhere_is_opaque_as_well(self, place: Place) -> None:
        (Path(place.cwd) / "src" / "HEAD").symlink_to("refs/heads/none")
        (Path(place.cwd) / "src" / "commondir").write_text("../lib\n")
        accesses = accesses_of("Bash", {"command": "git -C src log"}, place)
        assert [a for a in accesses if isinstance(a, Opaque)]
        assert not [a for a in accesses_of("Bash", {"command": "git log"}, place) if isinstance(a, Opaque)]

    @pytest.mark.parametrize(
        ("input", "path"),
        [
            ({"pattern": "**/*.py"}, ""),
            ({"pattern": "*.py", "path": "src"}, "/src"),
            ({"pattern": "src/gen/*.py"}, "/src/gen"),
            ({"pattern": "f.txt", "path": "src"}, "/src"),
        ],
    )
    def test_a_search_begins_where_its_pattern_begins_to_vary(
        self, input: dict[str, str], path: str, place: Place
    ) -> None:
        (access,) = accesses_of("Glob", input, place)
        assert isinstance(access, ReadPath)
        assert (os.path.normpath(access.path), access.listing) == (place.cwd + path, True)

    def test_a_pattern_that_leaves_its_folder_is_seen(self, place: Place) -> None:
        (up,) = accesses_of("Glob", {"pattern": "../*"}, place)
        assert isinstance(up, ReadPath)
        assert up.real == str(Path(place.cwd).parent)
        assert isinstance(accesses_of("Glob", {"pattern": "*/../../x"}, place)[0], Opaque)
        (etc,) = accesses_of("Glob", {"pattern": "/etc/*"}, place)
        assert isinstance(etc, ReadPath)
        assert etc.path == "/etc"


@pytest.mark.parametrize("path", ["", "a\0b", "a\nb", "a\tb", "a\u202eb", "a\u200bb", "\ud800", None, 3, ["x"]])
def test_a_name_that_cannot_be_shown_as_it_is_is_opaque(path: object, place: Place) -> None:
    for tool in ("Read", "Write", "Edit"):
        assert isinstance(accesses_of(tool, {"file_path": path}, place)[0], Opaque)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.org/x", Host("https://Example.org/x", "https", "example.org")),
        ("https://example.org:443/", Host("https://example.org:443/", "https", "example.org")),
        ("https://example.org.:8443/", Host("https://example.org.:8443/", "https", "example.org:8443")),
        ("https://a@evil.test/", Host("https://a@evil.test/", "https", "evil.test")),
        ("https://bücher.example/", Host("https://bücher.example/", "https", "xn--bcher-kva.example")),
        ("https://[::1]:8080/", Host("https://[::1]:8080/", "https", "[::1]:8080")),
        ("file:///etc/passwd", None),
        ("https://", None),
        ("https://a\\@b/", None),
        ("https://a b/", None),
        ("https://a\0.b/", None),
        ("https://a:99999/", None),
        ("https://a%2f@b%2fc/", None),
        ("example.org", None),
        (None, None),
    ],
)
def test_addresses(url: object, host: Host | None, place: Place) -> None:
    (access,) = accesses_of("WebFetch", {"url": url}, place)
    assert access == host if host else isinstance(access, Opaque)


def test_a_tool_nobody_knows_is_its_name_and_arguments(place: Place) -> None:
    assert accesses_of("deploy", {"env": "x"}, place) == (ToolUse("deploy", {"env": "x"}),)
    assert isinstance(accesses_of("Bash", {"command": 3}, place)[0], Opaque)


def test_order_is_kept_and_what_is_added_comes_last(place: Place) -> None:
    accesses = resolve((Command(("a",)), WritePath("/x"), Command(("b",))), Look(place))
    assert [type(a).__name__ for a in accesses] == ["Command", "WritePath", "Command"]


def test_the_files_of_a_command_stand_between_it_and_the_next(place: Place) -> None:
    texts = [case["input"].get("command") for case in read(Path(__file__).parent / "corpus" / "cases.jsonl")]
    for text in (
        "a | cat b < c > d",
        "cat /dev/udp/h/9 b; e",
        "git -C src log; grep -r x src; e",
        *filter(None, texts),
    ):
        accesses = accesses_of("Bash", {"command": text}, place)
        owners = [a.by_command if isinstance(a, (ReadPath, WritePath)) else None for a in accesses]
        commands = [n for n, a in enumerate(accesses) if isinstance(a, Command)]
        for n, following in zip(commands, [*commands[1:], len(accesses)], strict=False):
            assert n not in owners or n < owners.index(n) < following, text


@pytest.mark.parametrize(
    ("root", "held", "others"),
    [
        ("/w", ("/w", "/w/a", "/w/a/b"), ("/", "/wa", "/a/w")),
        ("/", ("/", "/a", "/a/b"), ()),
        ("/w/a", ("/w/a/b",), ("/w",)),
    ],
)
def test_a_place_holds_its_roots_and_what_is_below_them(
    root: str, held: tuple[str, ...], others: tuple[str, ...]
) -> None:
    place = Place("/", ("/elsewhere", root), "/")
    assert all(map(place.holds, held))
    assert not any(map(place.holds, others))


class TestRemovedLinks:
    """Removing a link removes the link; what goes through it removes what it leads to."""

    @pytest.mark.parametrize(
        "command",
        [
            "rm l",
            "rm -rf l",
            "unlink l",
            "mv l src/",
            "trash l",
            "git rm -rf l",
            "find l -delete",
            "rm src/up/l",
            "rm l*",
        ],
    )
    def test_are_judged_by_their_own_name(self, place: Place, command: str) -> None:
        (Path(place.cwd) / "l").symlink_to(place.home)
        (Path(place.cwd) / "src" / "up").symlink_to("..")
        found = accesses_of("Bash", {"command": command}, place)
        assert not any(isinstance(a, Opaque) for a in found)
        removed = {a.real or a.path for a in found if isinstance(a, WritePath) and a.removes and not a.glob}
        assert removed <= {f"{place.cwd}/l"}

    @pytest.mark.parametrize(
        "command",
        [
            "rm -rf l/", "rm -rf l/.", "find -L l -delete", "find l/ -delete", "fd . l -X rm", "git worktree remove l",
            "rsync -a --delete src/ l", "shred -u l", "rm -rf src/../l/",
        ],
    )  # fmt: skip
    def test_are_not_where_the_program_goes_through_them(self, place: Place, command: str) -> None:
        (Path(place.cwd) / "l").symlink_to(place.home)
        found = accesses_of("Bash", {"command": command}, place)
        assert place.home in [a.real for a in found if isinstance(a, WritePath)]

    def test_a_link_in_a_circle_can_be_removed(self, place: Place) -> None:
        (Path(place.cwd) / "a").symlink_to("a")
        found = accesses_of("Bash", {"command": "rm a"}, place)
        assert [a.real or a.path for a in found if isinstance(a, WritePath)] == [f"{place.cwd}/a"]

    def test_the_workspace_is_known_by_its_real_name(self, place: Place) -> None:
        link = Path(place.cwd).parent / "link"
        link.symlink_to(place.cwd)
        there = Place(str(link), (str(link),), place.home)
        for command in (f"rm -rf {place.cwd}", f"rm -rf {link}"):
            found = accesses_of("Bash", {"command": command}, there)
            assert str(link) in [a.real or a.path for a in found if isinstance(a, WritePath)]


def test_of_a_pattern_outside_of_the_workspace_only_what_leads_home_is_spelled_out(tmp_path: Path) -> None:
    work, outside, home = tmp_path / "home" / "work", tmp_path / "outside", tmp_path / "home"
    for folder in (work, outside / "folder", home / ".ssh"):
        folder.mkdir(parents=True)
    (work / ".env").write_text("x")
    (home / ".ssh" / "id_rsa").write_text("x")
    for name, target in (("a", work / ".env"), ("b", home / ".ssh" / "id_rsa"), ("c", outside / "folder")):
        (outside / name).symlink_to(target)
    place = Place(str(work), (str(work),), str(home))
    found = accesses_of("Bash", {"command": f"cat {outside}/*"}, place)
    met = {access.real for access in found if isinstance(access, ReadPath) and not access.glob}
    assert met == {str(work / ".env"), str(home / ".ssh" / "id_rsa")}
    assert len(found) == 4
