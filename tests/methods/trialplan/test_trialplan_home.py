"""Copies home: whole, verified, in the place of old ones; told and tried again where they cannot be made; by a real sshd too."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from vramledger.errors import BadInput
from vramledger.methods.trialplan.home.courier import Courier
from vramledger.methods.trialplan.home.directory import Directory
from vramledger.methods.trialplan.home.not_home import NotHome
from vramledger.methods.trialplan.home.place import home_of
from vramledger.methods.trialplan.home.remote import COMMAND, Remote

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/usr/local/sbin")


def test_what_has_a_host_is_remote() -> None:
    assert home_of("me@there:runs/a") == Remote("me@there", "runs/a")
    assert home_of("/mnt/a:b") == Directory(Path("/mnt/a:b"))
    assert home_of("copies") == Directory(Path("copies"))


@pytest.mark.parametrize("text", ["", "  ", "-oProxyCommand=x:y", "host:", ":dir"])
def test_what_is_no_home_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        home_of(text)


def test_a_copy_is_whole_and_replaces_an_old_one(tmp_path: Path) -> None:
    source, home = tmp_path / "a", Directory(tmp_path / "home")
    for content in (b"one", b"x" * 3_000_000, b""):
        source.write_bytes(content)
        home.put(source, PurePosixPath("run/sub/a"))
        assert (tmp_path / "home/run/sub/a").read_bytes() == content
    assert [each.name for each in (tmp_path / "home/run/sub").iterdir()] == ["a"]
    home.remove(PurePosixPath("run/sub"))
    home.remove(PurePosixPath("run/sub"))
    assert not (tmp_path / "home/run/sub").exists()


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_bytes(b"1")
    (tmp_path / "home").write_text("a file")
    with pytest.raises(NotHome) as raised:
        Directory(tmp_path / "home").put(source, PurePosixPath("run/a"))
    assert str(raised.value) == f"{tmp_path}/home/run/a cannot be written: Not a directory"


def test_a_full_disk_is_told_and_leaves_nothing_half(tmp_path: Path) -> None:
    """/dev/full takes no byte; the waiting file stands on it."""
    source, home = tmp_path / "a", tmp_path / "home"
    source.write_bytes(b"1" * 100_000)
    home.mkdir()
    (home / ".a.coming").symlink_to("/dev/full")
    with pytest.raises(NotHome) as raised:
        Directory(home).put(source, PurePosixPath("a"))
    assert str(raised.value) == f"{home}/a cannot be written: No space left on device"
    assert list(home.iterdir()) == []


def trial(folder: Path) -> Path:
    run = folder / "01-daily"
    (run / "segments").mkdir(parents=True)
    (run / "load").mkdir()
    (run / "run.json").write_text("{}")
    (run / "segments" / "requests.0.arrows").write_bytes(b"rows")
    (run / "load" / "w.parquet").write_bytes(b"scratch")
    (run / ".hidden").write_bytes(b"no")
    return run


def files(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


def test_everything_comes_home_but_scratch(tmp_path: Path) -> None:
    trial(tmp_path / "trials")
    said: list[str] = []
    with Courier(tmp_path / "trials", Directory(tmp_path / "home"), said.append, 0.01) as courier:
        pass
    assert courier.missing() == ()
    assert files(tmp_path / "home") == {"01-daily/run.json", "01-daily/segments/requests.0.arrows"}
    assert said == []


def test_segments_go_at_home_too_when_the_run_is_closed(tmp_path: Path) -> None:
    run = trial(tmp_path / "trials")
    courier = Courier(tmp_path / "trials", Directory(tmp_path / "home"), lambda _: None, 0.01)
    with courier:
        assert courier.missing() == ()
        shutil.rmtree(run / "segments")
        (run / "requests.parquet").write_bytes(b"table")
        assert courier.missing() == ()
    assert files(tmp_path / "home") == {"01-daily/run.json", "01-daily/requests.parquet"}


def test_a_home_that_comes_back_gets_everything(tmp_path: Path) -> None:
    """A failure is told once, tried again without end, and its end is told."""
    trial(tmp_path / "trials")
    (tmp_path / "home").write_text("in the way")
    said: list[str] = []
    with Courier(tmp_path / "trials", Directory(tmp_path / "home"), said.append, 0.02) as courier:
        _await(lambda: bool(said))
        assert courier.missing() == ("01-daily/run.json", "01-daily/segments/requests.0.arrows")
        (tmp_path / "home").unlink()
        _await(lambda: len(said) > 1)
    assert courier.missing() == ()
    assert said == [
        (
            f"Not copied home, and tried again: {tmp_path}/home/01-daily/run.json cannot be written: Not a directory. "
            "The trials go on."
        ),
        f"Copies reach {tmp_path}/home again.",
    ]


def _await(holds: object) -> None:
    end = time.monotonic() + 60
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real sshd on loopback for this user, with keys of its own; the words of an ssh that reaches it."""
    keygen = shutil.which("ssh-keygen")
    if SSHD is None or keygen is None:
        pytest.skip("no sshd here (Debian: openssh-server)")
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "mine"):
        subprocess.run(
            [keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    shutil.copy(folder / "mine.pub", folder / "authorized")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n"
        f"PidFile {folder}/pid\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # which sshd asks for when root starts it
    with subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(folder / "config")], stderr=subprocess.PIPE
    ) as server:
        try:
            _await(lambda: _listens(port))
            yield (
                f"ssh -p {port} -i {folder}/mine -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no "
                "-o LogLevel=ERROR -F none"
            )
        finally:
            server.terminate()
            server.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_copies_go_through_a_real_sshd(
    tmp_path: Path, sshd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMMAND, sshd)
    trial(tmp_path / "trials")
    (tmp_path / "trials/01-daily/it's $HOME.txt").write_bytes(os.urandom(2_500_000))
    home = home_of(f"{getpass.getuser()}@127.0.0.1:{tmp_path}/a home")
    said: list[str] = []
    with Courier(tmp_path / "trials", home, said.append, 60) as courier:
        assert courier.missing() == ()
        shutil.rmtree(tmp_path / "trials/01-daily/segments")
        assert courier.missing() == ()
    assert said == []
    assert files(tmp_path / "a home") == {"01-daily/run.json", "01-daily/it's $HOME.txt"}
    name = "01-daily/it's $HOME.txt"
    assert (tmp_path / "a home" / name).read_bytes() == (tmp_path / "trials" / name).read_bytes()


def test_what_the_other_side_says_is_told(
    tmp_path: Path, sshd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMMAND, sshd)
    source = tmp_path / "a"
    source.write_bytes(b"1" * 5_000_000)
    (tmp_path / "taken").write_text("")
    home = Remote(f"{getpass.getuser()}@127.0.0.1", f"{tmp_path}/taken")
    with pytest.raises(NotHome) as raised:
        home.put(source, PurePosixPath("run/a"))
    assert str(raised.value).startswith(f"{home.name} did not take it: mkdir: ")


def test_a_host_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("ssh") is None:
        pytest.skip("no ssh here")
    monkeypatch.setenv(COMMAND, "ssh -p 1 -F none")
    source = tmp_path / "a"
    source.write_bytes(b"1")
    with pytest.raises(NotHome) as raised:
        Remote("127.0.0.1", "x").put(source, PurePosixPath("a"))
    assert "Connection refused" in str(raised.value)


def test_a_missing_ssh_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMMAND, "no-such-ssh")
    source = tmp_path / "a"
    source.write_bytes(b"1")
    with pytest.raises(NotHome) as raised:
        Remote("127.0.0.1", "x").put(source, PurePosixPath("a"))
    assert str(raised.value) == (
        "127.0.0.1:x cannot be reached: [Errno 2] No such file or directory: 'no-such-ssh'"
    )
