"""Sample files through recognition, framing and parsing, without the rest of an import."""

from pathlib import Path
from typing import NamedTuple

from vramledger.workload.formats.format import Context, LogFormat
from vramledger.workload.framing.frame import framed
from vramledger.workload.framing.framed import Flaw
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.recognise import recognise


class Parsed(NamedTuple):
    """What a file gave."""

    format: LogFormat
    requests: list[RawRequest]
    problems: list[str]  # reasons of what was no request
    inferred: list[str]
    assumed: list[str]


def parsed(folder: Path, file_name: str, content: bytes) -> Parsed:
    path = folder / file_name
    path.write_bytes(content)
    found = recognise(path)
    result = Parsed(found.format, [], [], [], [])
    context = Context(found.head, infer=result.inferred.append, assume=result.assumed.append)
    parser = found.format.parser(context)
    with framed(path, found.head.framing) as file:
        for row in file.rows:
            if isinstance(row, Flaw):
                result.problems.append(row.reason)
                continue
            try:
                records = list(found.format.rows_of(row))
            except RowProblem as problem:
                result.problems.append(problem.reason)
                continue
            for record in records:
                try:
                    result.requests.extend(parser.parse(record))
                except RowProblem as problem:
                    result.problems.append(problem.reason)
    result.requests.extend(parser.finish())
    return result
