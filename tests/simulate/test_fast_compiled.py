"""Where the compiled simulator keeps its machine code, and what it says while there is none."""

from pathlib import Path

import pytest

from vramledger.simulate.fast import compiled


def test_machine_code_is_kept_in_the_users_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = compiled._folder()

    assert folder is not None
    assert folder.is_dir()
    assert folder.parent == tmp_path / "vramledger"
    assert folder == compiled._folder()


def test_where_nothing_can_be_written_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    assert compiled._folder() is None


def test_the_first_compilation_is_announced_and_the_next_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiled, "CACHE", tmp_path)
    compiled.say_if_compiling("counting")
    first = capsys.readouterr()
    compiled.note_compiled("counting")
    compiled.say_if_compiling("counting")
    compiled.say_if_compiling("blocks")

    sentence = "Compiling the simulator, once on this machine ...\n"
    assert (first.out, first.err) == ("", sentence)
    assert capsys.readouterr().err == sentence  # of the other kernel


def test_without_a_cache_every_run_says_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiled, "CACHE", None)
    compiled.note_compiled("counting")
    compiled.say_if_compiling("counting")

    assert capsys.readouterr().err == (
        "Compiling the simulator (the cache folder cannot be written, so every run does) ...\n"
    )
