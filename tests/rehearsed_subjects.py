"""What a rehearsal serves, for tests that need no process of its own."""

from rehearse_server import GPU, LAUNCH
from vramledger.engine.read import read_launch
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.rehearse.subject import Question, Subject, subject_of


def subject(launch: str = LAUNCH) -> Subject:
    read = read_launch(launch)
    found = subject_of(Question(Case(read, model_of(read), accelerator_for(GPU))))
    assert isinstance(found, Subject)
    return found
