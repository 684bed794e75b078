"""Programs that start another program: what to skip before the command they run."""

from collections.abc import Sequence
from typing import Final

from vramledger.engine.launch import Argument
from vramledger.frozen import frozen


@frozen
class Wrapper:
    """One wrapper's own words: a subcommand, options that take a value, leading positionals."""

    subcommands: tuple[str, ...] = ()  # one of them must follow
    valued: frozenset[str] = frozenset()
    positionals: int = 0


def options(text: str) -> frozenset[str]:
    """Option names from a blank-separated list."""
    return frozenset(text.split())


WRAPPERS: Final = {
    "sudo": Wrapper(valued=options("-u -g -h -p -C -r -t -T -D --user --group --prompt --chdir")),
    "doas": Wrapper(valued=options("-u -C")),
    "nohup": Wrapper(),
    "env": Wrapper(valued=options("-u -C --unset --chdir")),
    "time": Wrapper(valued=options("-f -o --format --output")),
    "exec": Wrapper(valued=options("-a")),
    "command": Wrapper(),
    "then": Wrapper(),
    "do": Wrapper(),
    "else": Wrapper(),
    "!": Wrapper(),
    "{": Wrapper(),
    "nice": Wrapper(valued=options("-n --adjustment")),
    "ionice": Wrapper(valued=options("-c -n -p --class --classdata")),
    "numactl": Wrapper(valued=options("-N -m -C -i -p -P --cpunodebind --membind --physcpubind")),
    "taskset": Wrapper(positionals=1),
    "timeout": Wrapper(valued=options("-s -k --signal --kill-after"), positionals=1),
    "stdbuf": Wrapper(valued=options("-o -e -i --output --error --input")),
    "setsid": Wrapper(),
    "unbuffer": Wrapper(),
    "tini": Wrapper(valued=options("-p -e")),
    "dumb-init": Wrapper(valued=options("-r --rewrite")),
    "uv": Wrapper(
        ("run",),
        options("--with --with-requirements --with-editable --extra --group --python -p --project "
                 "--directory --env-file --package --index --index-url --extra-index-url "
                 "--torch-backend --isolated-from"),
    ),
    "uvx": Wrapper(valued=options("--from --with --python -p --index --torch-backend")),
    "pipx": Wrapper(("run",), options("--spec --python")),
    "poetry": Wrapper(("run",)),
    "pdm": Wrapper(("run",)),
    "hatch": Wrapper(("run",)),
    "pipenv": Wrapper(("run",)),
    "pixi": Wrapper(("run",), options("-e --environment --manifest-path")),
    "conda": Wrapper(("run",), options("-n --name -p --prefix --cwd")),
    "mamba": Wrapper(("run",), options("-n --name -p --prefix --cwd")),
    "micromamba": Wrapper(("run",), options("-n --name -p --prefix --cwd")),
    "srun": Wrapper(valued=options("-n -N -c -p -t -w -J -A -q -G --gres --nodes --ntasks "
                                    "--partition --gpus --time --nodelist --container-image")),
    "mpirun": Wrapper(valued=options("-n -np --np -H --host --hostfile -x")),
    "nsys": Wrapper(("profile",), options("-o -t -s -c -y -d --output --trace --capture-range")),
    "singularity": Wrapper(
        ("exec", "run"), options("--bind -B --env --env-file --pwd --home -H --workdir"), 1
    ),
    "apptainer": Wrapper(
        ("exec", "run"), options("--bind -B --env --env-file --pwd --home -H --workdir"), 1
    ),
}  # fmt: skip


def unwrap(words: Sequence[Argument]) -> Sequence[Argument] | None:
    """The command that a wrapper runs, None when the first word is not a wrapper."""
    if not words:
        return None
    wrapper = WRAPPERS.get(program_name(words[0]))
    if wrapper is None:
        return None
    rest = words[1:]
    if wrapper.subcommands:
        if not rest or rest[0].text not in wrapper.subcommands:
            return None
        rest = rest[1:]
    rest = skipoptions(rest, wrapper.valued)
    return rest[wrapper.positionals :]


def skipoptions(words: Sequence[Argument], valued: frozenset[str]) -> Sequence[Argument]:
    """The words after leading options; those in `valued` take the word that follows."""
    index = 0
    while index < len(words) and words[index].text.startswith("-"):
        option = words[index].text
        index += 1
        if option == "--":
            break
        if option in valued:
            index += 1
    return words[index:]


def program_name(word: Argument) -> str:
    """The last part of a program's path."""
    return word.text.rpartition("/")[2]
