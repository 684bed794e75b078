"""What the server under trial is: which engine and version, with what arguments, since when."""

from vramledger.trial.server.ask import ask_server
from vramledger.trial.server.facts import ServedModel, ServerFacts

__all__ = ["ServedModel", "ServerFacts", "ask_server"]
