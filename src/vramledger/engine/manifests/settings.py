"""A ``vllm serve --config`` file given on its own: flags as keys, the model among them."""

from vramledger.engine.invocation import Invocation
from vramledger.engine.manifests.document import Node
from vramledger.engine.manifests.found import Found
from vramledger.engine.programs import PROGRAMS, VLLM
from vramledger.engine.vllm.command import config_words
from vramledger.engine.vllm.config_file import settings_of
from vramledger.engine.vllm.flags import flag_table
from vramledger.engine.vllm.versions import rules_for


def recognises(documents: tuple[Node, ...]) -> bool:
    """Whether the only document names a model at its top."""
    return len(documents) == 1 and documents[0].is_mapping and documents[0].get("model") is not None


def read(documents: tuple[Node, ...]) -> tuple[Found, ...]:
    """The one engine start that the settings describe."""
    document = documents[0]
    program = next(program for program in PROGRAMS if program.engine == VLLM)
    words = config_words(settings_of(document), flag_table(rules_for(None).release))
    return (Found("vllm", Invocation(program, words), document.where),)
