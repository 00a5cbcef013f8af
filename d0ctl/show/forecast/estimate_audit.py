"""How good estimates were, as `eta --audit` prints it."""

from collections.abc import Sequence

from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.attempts.history import earlier_runs
from d0ctl.store.views.job_files.eta_audit import Audit
from d0ctl.units import count, duration, size

NO_ESTIMATES = "no job or package with an estimate has ended"


def audit(sheet: Sheet, audits: Sequence[Audit]) -> None:
    """Draw how estimates compare with what happened."""
    if not audits:
        sheet.say(NO_ESTIMATES)
        return
    for kind, title in (("job", "jobs, as estimated at submission"),
                        ("stage", "packages, as estimated at launch"),
                        ("memory", "memory of packages, as reserved at launch"),
                        ("disk", "disk of packages, as reserved at launch")):  # fmt: skip
        rows = [[audit.name, *_compared(audit)] for audit in audits if audit.kind == kind]
        if rows:
            sheet.head(title)
            sheet.table(rows)
    pairs = [pair for audit in audits if audit.kind == "stage" for pair in audit.pairs]
    inside = sum(audit.within for audit in audits if audit.kind == "stage")
    if (off := earlier_runs.error(pairs)) is not None:
        sheet.say(f"half of {count(len(pairs), 'package')} were off by less than a factor of "
                  f"{off:.2f}; {inside / len(pairs):.0%} ended within their range")  # fmt: skip


def _compared(audit: Audit) -> list[Cell]:
    expected = sum(pair[0] for pair in audit.pairs) / len(audit.pairs)
    happened = sum(pair[1] for pair in audit.pairs) / len(audit.pairs)
    if audit.kind in ("memory", "disk"):
        comparison = f"reserved {size(expected)}, took {size(happened)} on average"
        return [
            comparison,
            f"{audit.within / len(audit.pairs):.0%} of {count(len(audit.pairs))} within it",
        ]
    off = earlier_runs.error(audit.pairs)
    comparison = f"expected {duration(expected)}, took {duration(happened)}"
    if audit.kind == "job":
        return [comparison, "within its range" if audit.within else "outside its range", ""]
    within = (
        f"{audit.within / len(audit.pairs):.0%} of {count(len(audit.pairs))} within their range"
    )
    return [f"{comparison} on average", f"off by {off:.2f}" if off else "", within]
