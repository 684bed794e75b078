"""What holds in every sound run, whoever wrote it; each rule is the SQL of a row that breaks it."""

from collections.abc import Iterable
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.query import connect
from vramledger.record.requests import OUTCOMES, REQUESTS, TOKENS_BASES
from vramledger.record.run import Run
from vramledger.record.samples import GPU, SERVER, STAGES, STEPS, MetricKind
from vramledger.record.table import Table


@frozen
class Rule:
    """One rule of a table: the condition of rows that break it, and what to say of them."""

    table: Table
    broken: str
    says: str


def check_sound(run: Run) -> None:
    """Look at every row of a run.

    Raises:
        BadInput: rows break a rule; the first rule broken is named with their number.
    """
    with connect([run]) as connection:
        for table in (each.table for each in run.tables.values()):
            rules = [rule for rule in RULES if rule.table == table]
            counts = ", ".join(f"count(*) FILTER ({rule.broken})" for rule in rules)
            found = connection.view(table.name).aggregate(counts).fetchall()[0]
            for rule, rows in zip(rules, found, strict=True):
                if rows:
                    raise BadInput(
                        f"{run.tables[table.name].path} has rows that {rule.says} ({rows:,}); it was "
                        "changed or wrongly recorded, so leave this run out."
                    )


def _none_of(names: Iterable[str]) -> str:
    return "NOT IN (" + ", ".join(f"'{name}'" for name in names) + ")"


def _falling(*moments: str) -> str:
    """Moments, as far as they happened, that are not in the order given."""
    happened = f"list_filter([{', '.join(moments)}], lambda moment: moment IS NOT NULL)"
    return f"list_sort({happened}) <> {happened}"


RULES: Final = (
    Rule(REQUESTS, f"outcome {_none_of(o.value for o in OUTCOMES)}", "have an unknown outcome"),
    Rule(REQUESTS, f"tokens_basis {_none_of(TOKENS_BASES)}", "have an unknown tokens_basis"),
    Rule(
        REQUESTS,
        "request_id IN (SELECT request_id FROM requests GROUP BY ALL HAVING count(*) > 1)",
        "share their request_id",
    ),
    Rule(
        REQUESTS,
        f"{_falling('due_s', 'dispatched_s', 'done_s')} OR {_falling('first_byte_s', 'first_role_s', 'done_s')} "
        f"OR {_falling('due_s', 'headers_s', 'first_byte_s', 'first_content_s', 'last_content_s', 'done_s')} "
        f"OR {_falling('first_content_s', 'first_answer_s', 'last_content_s')}",
        "have moments out of order",
    ),
    Rule(
        REQUESTS,
        "least(attempt, input_tokens_asked, input_tokens_got, output_tokens_asked, output_tokens_got, "
        "preemptions, recomputed_tokens, cached_tokens, queue_s) < 0",
        "have a negative count",
    ),
    Rule(
        REQUESTS,
        "len(chunk_offset_us) <> len(chunk_tokens)",
        "have chunk_offset_us and chunk_tokens of different lengths",
    ),
    Rule(
        REQUESTS,
        "chunk_offset_us[1] <> 0 OR list_sort(chunk_offset_us) <> chunk_offset_us",
        "have chunk offsets that do not rise from 0",
    ),
    Rule(REQUESTS, "last_step < first_step", "have a last_step before their first_step"),
    Rule(REQUESTS, "len(silent_steps) % 2 = 1", "have silent_steps that are no pairs"),
    Rule(SERVER, f"kind {_none_of(k.value for k in MetricKind)}", "have an unknown kind"),
    Rule(GPU, "utilization NOT BETWEEN 0 AND 1", "have a utilization outside 0..1"),
    Rule(
        GPU, "least(used_bytes, free_bytes, reserved_bytes, ours_bytes) < 0", "have negative bytes"
    ),
    Rule(STEPS, "end_s < start_s", "end before they start"),
    Rule(STAGES, "end_s < start_s", "end before they start"),
    Rule(STEPS, "kv_usage NOT BETWEEN 0 AND 1", "have a kv_usage outside 0..1"),
    Rule(STEPS, "least(scheduled_tokens, running, waiting) < 0", "have a negative count"),
)
