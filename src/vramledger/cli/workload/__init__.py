"""``vram workload``: a group of verbs, one file each, imported only when called."""

from typing import Final

from vramledger.cli.verb_group import VerbGroup

VERBS: Final = {  # name -> (module here, the line of the help)
    "import": ("import_", "Read logs of any kind into a de-identified workload."),
    "profile": ("profile", "Lengths, arrivals, sharing and scenarios, as text or JSON."),
    "show": ("show", "Histograms in the terminal, or a one-page HTML report."),
    "slice": ("slice_", "A scenario or a stretch of time."),
    "scale": ("scale", "More or fewer arrivals, longer or shorter requests."),
    "mix": ("mix", "Two workloads at stated shares."),
    "merge": ("merge", "Workloads side by side in time."),
    "head": ("head", "The first requests."),
    "synth": ("synth", "A synthetic workload like a profile, and how close it is."),
}

_HELP: Final = """\
What your requests really look like, taken from logs without a word of their content.

import reads logs; profile and show describe what was stored; slice, scale, mix, merge and head
make other workloads of it; synth makes one like a profile."""

command: Final = VerbGroup("workload", __name__, VERBS, _HELP)
