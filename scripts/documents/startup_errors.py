"""The errors that a start-up log is searched for."""

from vramledger.diagnose.startup.errors import ERRORS


def startup_errors() -> str:
    """One row an error: its id, its cause, and the first of its samples."""
    lines = ["| id | cause | more memory helps | a line of it |", "|---|---|---|---|"]
    for each in sorted(ERRORS, key=lambda row: int(row.id[1:])):
        sample = each.samples[0].strip().replace("|", "\\|").replace("`", "'")
        helps = "yes" if each.memory else "no"
        lines.append(f"| {each.id} | {each.cause.replace('-', ' ')} | {helps} | `{sample}` |")
    return "\n".join(lines)
