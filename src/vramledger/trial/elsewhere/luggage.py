"""What a worker needs on another machine: its job, with the files that the job names."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from vramledger.trial.client.job import WorkerJob
from vramledger.trial.load.rest import Rest

KEY_ENV: Final = "VRAM_TRIAL_KEY"  # where the key stands, in the environment of that worker alone


def packed(job: WorkerJob, ahead_ns: int, *, with_key: bool) -> WorkerJob:
    """The job on a clock that is ahead by so much; the key is named where it will be."""
    target = replace(job.target, key_env=KEY_ENV if with_key else None, key_file=None)
    return replace(job, target=target, zero_ns=job.zero_ns + ahead_ns, cpu=None)


def files_of(job: WorkerJob) -> dict[str, bytes]:
    """The content of every file that the job names, by its path here.

    Raises:
        OSError: one cannot be read.
    """
    load = json.loads(job.load)
    named = (load["workload"], load["prompts"]["own"], job.tokenizer, job.target.ca_file)
    found = {path: Path(path).read_bytes() for path in named if path is not None}
    return found | ({} if job.rest is None else {job.rest.done: Path(job.rest.done).read_bytes()})


def unpacked(job: WorkerJob, files: Mapping[str, bytes], folder: Path) -> WorkerJob:
    """The job as it is done in a folder there, with the files in it."""
    places: dict[str, str] = {}
    for number, (path, content) in enumerate(files.items()):
        place = folder / f"{number}-{Path(path).name}"
        place.write_bytes(content)
        places[path] = str(place)
    load: dict[str, Any] = json.loads(job.load)
    load["workload"] = places[load["workload"]]
    if load["prompts"]["own"] is not None:
        load["prompts"]["own"] = places[load["prompts"]["own"]]
    ca_file = job.target.ca_file
    return replace(
        job,
        target=replace(job.target, ca_file=None if ca_file is None else places[ca_file]),
        load=json.dumps(load, separators=(",", ":")),
        folder=str(folder),
        rest=None if job.rest is None else Rest(places[job.rest.done], job.rest.from_s),
        tokenizer=None if job.tokenizer is None else places[job.tokenizer],
    )
