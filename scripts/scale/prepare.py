"""Install what the tests against Spark, Ray and PostgreSQL need and this machine lacks.

Python packages go into the environment that runs this; programs come from Debian's packages where
apt-get and the right to use it are there, and are named where they are not.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGES = {"pyspark": "spark", "psycopg": "postgres", "ray": "ray"}  # module -> extra of ours
PROGRAMS = {"java": "openjdk-17-jre-headless", "initdb": "postgresql"}  # program -> Debian package


def missing_extras() -> list[str]:
    return [extra for module, extra in PACKAGES.items() if find_spec(module) is None]


def missing_packages() -> list[str]:
    return [package for program, package in PROGRAMS.items() if not installed(program)]


def installed(program: str) -> bool:
    """Whether it is on the path, or where Debian puts PostgreSQL's."""
    folder = Path("/usr/lib/postgresql")
    return shutil.which(program) is not None or any(folder.glob(f"*/bin/{program}"))


def install_extras(extras: list[str]) -> None:
    target = f"{PROJECT}[full,{','.join(extras)}]"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", target], check=True)


def install_packages(packages: list[str]) -> None:
    """Raises SystemExit where they cannot be installed, with the command to run."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit(f"make scale needs {' and '.join(packages)}; install them and run it again.")
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-qq", *command], check=True, env=quiet)  # noqa: S607


def main() -> None:
    if extras := missing_extras():
        install_extras(extras)
    if packages := missing_packages():
        install_packages(packages)


if __name__ == "__main__":
    main()
