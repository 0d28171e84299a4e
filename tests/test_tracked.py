"""What git keeps of a folder is what git itself says, or nothing is said."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hitl_cli.tracked import tracked

MOST = 1_000


def git(folder: Path, *words: str) -> str:
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": str(folder)}
    names = {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = ["git", "-C", str(folder), *words]
    env = {"PATH": os.environ["PATH"], **settings, **names}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def kept(folder: Path) -> list[str]:
    return [f"{folder}/{name}" for name in git(folder, "ls-files", "-z").split("\0") if name]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    (top / "sub" / "deep").mkdir(parents=True)
    git(top, "init", "-q")
    for name in ("a", ".env", "sub/b", "sub/deep/a name", "sub/deep/ä"):
        (top / name).write_text(name)
    git(top, "add", "-A")
    (top / "sub" / "not kept").write_text("x")
    return top


@pytest.mark.parametrize("inner", ["", "sub", "sub/deep"])
def test_the_names_are_those_that_git_gives(repository: Path, inner: str) -> None:
    folder = repository / inner
    assert sorted(tracked(str(folder), str(folder), MOST) or ()) == sorted(kept(folder))


def test_under_another_name_of_the_folder_both_are_given(repository: Path) -> None:
    found = tracked("/other", str(repository / "sub"), MOST)
    assert found is not None
    assert {f"{repository}/sub/b", "/other/b"} <= {*found}


def test_more_flags_and_names_of_every_length_are_read(repository: Path) -> None:
    git(repository, "add", "-N", "sub/not kept")  # an entry of version 3
    for n in range(1, 30):
        (repository / ("n" * n)).write_text("x")
    git(repository, "add", "-A")
    assert sorted(tracked(str(repository), str(repository), MOST) or ()) == sorted(kept(repository))


def test_a_further_work_tree_has_its_own(repository: Path) -> None:
    git(repository, "commit", "-qm", "x")
    for at in (repository / "inner", repository.parent / "beside"):
        git(repository, "worktree", "add", "-q", str(at))
        (at / "new").write_text("x")
        git(at, "add", "new")
        assert sorted(tracked(str(at), str(at), MOST) or ()) == sorted(kept(at))


def test_a_folder_that_is_no_repository_hides_none(repository: Path) -> None:
    (repository / "sub" / ".git").mkdir()
    assert f"{repository}/sub/b" in (tracked(str(repository / "sub"), str(repository / "sub"), MOST) or ())


class TestUnknown:
    """What cannot be read for sure."""

    def said(self, repository: Path) -> object:
        return tracked(str(repository), str(repository), MOST)

    def test_names_that_are_kept_elsewhere(self, repository: Path) -> None:
        git(repository, "update-index", "--split-index")
        assert self.said(repository) is None

    def test_another_version(self, repository: Path) -> None:
        git(repository, "update-index", "--index-version", "4")
        assert self.said(repository) is None

    def test_longer_checksums(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "--object-format=sha256")
        for n in range(20):
            (tmp_path / f"f{n}").write_text("x")
            git(tmp_path, "add", "-A")
            assert self.said(tmp_path) is None

    def test_no_repository(self, tmp_path: Path) -> None:
        assert self.said(tmp_path) is None

    def test_too_many(self, repository: Path) -> None:
        assert tracked(str(repository), str(repository), 3) is None

    def test_an_index_that_is_cut_or_is_none(self, repository: Path) -> None:
        index = repository / ".git" / "index"
        whole = index.read_bytes()
        for cut in (*range(0, len(whole), 7), len(whole) - 1):
            index.write_bytes(whole[:cut])
            assert self.said(repository) is None
        index.unlink()
        index.mkdir()
        assert self.said(repository) is None


def test_what_was_never_added_to_is_empty(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert tracked(str(tmp_path), str(tmp_path), MOST) == []
