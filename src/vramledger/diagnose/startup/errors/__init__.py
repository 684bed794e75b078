"""The errors that are known, one table a subject; adding one is adding a row."""

from typing import Final

from vramledger.diagnose.startup.error import KnownError
from vramledger.diagnose.startup.errors.allocation import ROWS as ALLOCATION
from vramledger.diagnose.startup.errors.arguments import ROWS as ARGUMENTS
from vramledger.diagnose.startup.errors.llama_cpp import ROWS as LLAMA_CPP
from vramledger.diagnose.startup.errors.machine import ROWS as MACHINE
from vramledger.diagnose.startup.errors.memory import ROWS as MEMORY
from vramledger.diagnose.startup.errors.model_files import ROWS as MODEL_FILES
from vramledger.diagnose.startup.errors.network import ROWS as NETWORK
from vramledger.diagnose.startup.errors.other_engines import ROWS as OTHER_ENGINES

ERRORS: Final[tuple[KnownError, ...]] = (
    *MEMORY,
    *OTHER_ENGINES,
    *LLAMA_CPP,
    *ALLOCATION,
    *ARGUMENTS,
    *MODEL_FILES,
    *MACHINE,
    *NETWORK,
)
