"""``vram trial``: a group of verbs, one file each, imported only when called."""

from typing import Final

from vramledger.cli.verb_group import VerbGroup

VERBS: Final = {  # name -> (module here, the line of the help)
    "run": ("run", "A workload against a live server, recorded as it goes."),
    "repeat": ("repeat", "The same trial several times, or two servers in turn."),
    "ramp": ("ramp", "A load that rises step by step: the knee and the safe load."),
    "soak": ("soak", "The same load for hours: does memory, latency or the idle cache grow?"),
    "resume": ("resume", "Go on with a run that was cut off, or close it."),
    "list": ("list_", "The runs in a folder."),
    "show": ("show", "The summary of a run."),
    "import": ("import_", "Results of other load generators as runs."),
    "export": ("export", "A run as CSV or JSON, or as other tools write it."),
    "plan": ("plan", "Which trials decide a contract, in what time; then run them."),
    "shadow": ("shadow", "The same prompts to two servers: do the answers agree?"),
    "warm": ("warm", "Wait until a server is ready and warm: a gate for roll-outs."),
}

_HELP: Final = """\
Replay your real load on a real server, with requests, server and GPUs on one clock.

run sends a workload and records it, repeat does so several times; ramp raises the load until the server says stop, soak sends it for hours; show, list and export read what was recorded; resume goes on after a crash; warm
waits for a server; shadow compares the answers of two servers; plan says which trials a contract needs, and runs them."""

command: Final = VerbGroup("trial", __name__, VERBS, _HELP)
