"""A ledger as Markdown: verdict, one table a group of equal ranks, tokens, findings."""

from vramledger.evidence import Figure, Unknown
from vramledger.ledger.ledger import Account, Ledger
from vramledger.report.ledger import RankGroup, rank_groups


def to_markdown(ledger: Ledger) -> str:
    """The whole account as Markdown text."""
    deployment = ledger.deployment
    word = "Fits." if ledger.fits else "Does not fit."
    if ledger.only_starts:
        word = "Does not hold."
    if deployment.model.weights_unknown:
        word = f"Cannot know.** {deployment.model.weights_unknown} **With those:"
    lines = [
        f"## {deployment.model.id} on {deployment.layout.gpus} x {deployment.accelerator.name}",
        "",
        f"**{word}** {ledger.reason}",
        "",
        " ".join((f"vLLM {deployment.version}.", *deployment.remarks)),
        "",
        *_tokens(ledger),
    ]
    for group in rank_groups(ledger):
        lines += ["", f"### {group.title.capitalize()}", "", *_table(group)]
    if ledger.host:
        lines += ["", "### Memory of the server", "", "| row | GiB | note |", "|---|---:|---|"]
        lines += [f"| {r.label} | {r.figure.value:.2f} | {r.note} |" for r in ledger.host]
    if ledger.findings:
        lines += ["", "### Findings", ""]
        lines += [f"- **{f.id}** ({f.severity}): {f.message}" for f in ledger.findings]
    if ledger.levers:
        lines += [
            "",
            "### What would change it",
            "",
            "| change | GiB | tokens |",
            "|---|---:|---:|",
        ]
        lines += [
            f"| `{v.change}` | {v.effect_gib:+.2f} | {v.effect_tokens:+,} |" for v in ledger.levers
        ]
    return "\n".join(lines) + "\n"


def _tokens(ledger: Ledger) -> list[str]:
    if isinstance(ledger.tokens, Unknown):
        return [f"KV cache: {ledger.tokens.reason}."]
    lines = ["| figure | expected | low | high |", "|---|---:|---:|---:|"]
    lines.append(f"| tokens as the engine prints them | {_counts(ledger.tokens)} |")
    if isinstance(ledger.capacity_tokens, Figure):
        figure = ledger.capacity_tokens
        lines.append(f"| {figure.source} | {_counts(figure)} |")
    return lines


def _table(group: RankGroup) -> list[str]:
    lines = ["| group | row | GiB | low | high | basis |", "|---|---|---:|---:|---:|---|"]
    for account in Account:
        for row in group.rank.rows:
            if row.account is account:
                place = "" if row.in_budget else " (outside the budget)"
                figure = row.figure
                lines.append(
                    f"| {account} | {row.label}{place} | {figure.value:.2f} | {figure.low:.2f} | "
                    f"{figure.high:.2f} | {figure.basis} |"
                )
    rank = group.rank
    lines.append(
        f"| | **budget** | **{rank.budget.value:.2f}** | {rank.budget.low:.2f} | "
        f"{rank.budget.high:.2f} | {rank.budget.basis} |"
    )
    return lines


def _counts(figure: Figure) -> str:
    return f"{figure.value:,.0f} | {figure.low:,.0f} | {figure.high:,.0f}"
