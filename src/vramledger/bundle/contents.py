"""What lies in a bundle, and where: runs, plan, load, challenge, software, environment and configuration."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.bundle.archive import MANIFEST, SIGNATURE
from vramledger.bundle.canonical import canonical_bytes
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record import description as run_json
from vramledger.record import journal
from vramledger.record.tables import BY_NAME

if TYPE_CHECKING:
    from vramledger.record.run import Run

RUNS: Final = "runs"
SERIES: Final = "series"
PLAN: Final = "plan.yaml"
CHALLENGE: Final = "challenge/challenge.json"
CONFIGURATION: Final = "configuration.json"
ENVIRONMENT: Final = "environment.json"
SOFTWARE: Final = "software.json"
VERDICT: Final = "verdict.json"
RESERVED: Final = frozenset(
    {
        MANIFEST,
        SIGNATURE,
        RUNS,
        SERIES,
        PLAN,
        "challenge",
        CONFIGURATION,
        ENVIRONMENT,
        SOFTWARE,
        VERDICT,
    }
)  # the first parts of names that are taken
_LIBRARIES: Final = (
    "numpy",
    "scipy",
    "statsmodels",
    "pyarrow",
    "duckdb",
    "cryptography",
    "rfc8785",
)


@frozen
class Placed:
    """A run in a bundle: the name of its folder under `runs`, or its whole folder where it is of a series, and the run."""

    name: str
    run: "Run"

    @property
    def folder(self) -> str:
        """Where it lies in the bundle."""
        return self.name if self.is_of_series else f"{RUNS}/{self.name}"

    @property
    def is_of_series(self) -> bool:
        """Whether it is one of a series."""
        return self.name.startswith(f"{SERIES}/")

    @classmethod
    def at(cls, folder: str, run: "Run") -> "Placed":
        """The run of that folder of a bundle."""
        return cls(folder.removeprefix(f"{RUNS}/"), run)


def place_runs(runs: "Sequence[Run]", folder: Path) -> list[Placed]:
    """Copy what belongs to closed runs, in the order given; what else lies in their folders stays there."""
    return [place_run(run, f"{RUNS}/{number:03d}", folder) for number, run in enumerate(runs, 1)]


def place_run(run: "Run", name: str, folder: Path) -> Placed:
    """Copy a closed run to that folder of the bundle."""
    from vramledger.record.run import read_run

    target = folder / name
    target.mkdir(parents=True)
    tables = (BY_NAME[each].file for each in run.tables)
    for file in (run_json.FILE, journal.FILE, *tables):
        shutil.copyfile(run.path / file, target / file)
    return Placed.at(name, read_run(target))


def place_plan(placed: Sequence[Placed], folder: Path) -> None:
    """Write the plan that the runs carry.

    Raises:
        BadInput: they carry different ones.
    """
    plans = {each.run.description.plan.sha256: each for each in placed if each.run.description.plan}
    if len(plans) > 1:
        one, other = (each.name for each in list(plans.values())[:2])
        raise BadInput(
            f"Runs {one} and {other} were made for different plans, and a bundle is evidence for one; seal them apart."
        )
    for each in plans.values():
        if each.run.description.plan is not None:
            (folder / PLAN).write_bytes(each.run.description.plan.text.encode())


def challenge_of(run: "Run") -> dict[str, Any] | None:
    """The challenge that a run was made for, as it carries it."""
    found = (run.description.model_extra or {}).get("challenge")
    return found if isinstance(found, dict) else None


def described(placed: Sequence[Placed]) -> Mapping[str, Any]:
    """The documents beside the records, by the name of their file; each is made from the runs alone, but `software`."""
    about = {each.name: each.run.description for each in placed}
    plain = {name: run.model_dump(mode="json") for name, run in about.items()}
    machine = ("gpu", "gpu_uuids", "driver", "uptime_s")
    return {
        CONFIGURATION: {
            name: {"asked": run["asked"], "in_effect": run["in_effect"]}
            for name, run in plain.items()
        },
        ENVIRONMENT: {
            name: {key: run["in_effect"].get(key) for key in machine}
            | {key: run[key] for key in ("clock", "started_at", "ended_at", "ended")}
            for name, run in plain.items()
        },
        SOFTWARE: {
            "sealed_with": _versions(),
            "runs": {
                name: {
                    "client": run["client_version"],
                    "engine": run["in_effect"].get("engine"),
                    "engine_version": run["in_effect"].get("engine_version"),
                }
                for name, run in plain.items()
            },
        },
    }


def _versions() -> dict[str, str | None]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from vramledger import __version__

    found: dict[str, str | None] = {
        "vramledger": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def write_json(folder: Path, name: str, content: Any) -> None:
    """Write a document of the bundle in canonical form."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(canonical_bytes(content))
