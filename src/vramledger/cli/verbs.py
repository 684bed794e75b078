"""The verbs and their groups. A verb is one row here and one file with a `command`."""

from typing import Final

from vramledger.frozen import frozen


@frozen
class Verb:
    """One verb: where its command lives and the line the help shows for it."""

    name: str
    group: str
    help: str

    @property
    def module(self) -> str:
        return f"vramledger.cli.{self.name}"


VERBS: Final = (
    Verb("size", "Size", "From a requirement to the cards and layouts that hold it."),
    Verb("ledger", "Size", "Where every GiB of a launch command goes, per GPU."),
    Verb("inspect", "Size", "What a model weighs and what a token costs."),
    Verb("plan", "Size", "Write and check a plan file."),
    Verb("gpus", "Size", "The accelerators we know, with reported memory."),
    Verb("simulate", "Try", "A workload on a deployment, simulated: latency, queue, KV use."),
    Verb("sweep", "Try", "The same simulation with other settings, one by one or all."),
    Verb("predict", "Try", "Latency and throughput of a launch under a steady load."),
    Verb("rehearse", "Try", "A deployment as a server, simulated in real time, to practise on."),
    Verb("workload", "Try", "What your requests look like, from logs, without a word of them."),
    Verb("trial", "Measure", "Your load on a real server, replayed and recorded on one clock."),
    Verb("calibrate", "Measure", "What a run teaches of its host, for size, simulate and predict."),
    Verb("probe", "Measure", "What a rented machine and its GPUs are, before a trial on it."),
    Verb("diagnose", "Judge", "What makes a server slow, and would more memory help?"),
    Verb("accept", "Judge", "PASS, FAIL or INCONCLUSIVE for every line of a plan's contract."),
    Verb("report", "Judge", "Runs or a bundle as a page: the verdict, then all behind it."),
    Verb("compare", "Judge", "What differs between runs, is it the cause, and by how much."),
    Verb("verify", "Judge", "Seal runs as evidence; check that nothing in them changed since."),
)

BY_NAME: Final = {verb.name: verb for verb in VERBS}
