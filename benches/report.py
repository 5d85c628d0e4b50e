"""Figures, their targets, and the table that prints them."""

from dataclasses import dataclass, field

from measure import Ratio


@dataclass(frozen=True)
class Target:
    """A bound on one measured value: `<=` or `>=`."""

    sign: str
    bound: float
    unit: str = ""

    def met(self, value: float) -> bool:
        return value <= self.bound if self.sign == "<=" else value >= self.bound

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit not in ("", "x") else self.unit
        return f"{self.sign} {self.bound:g}{unit}"


def at_most(bound: float, unit: str = "") -> Target:
    return Target("<=", bound, unit)


def at_least(bound: float, unit: str = "") -> Target:
    return Target(">=", bound, unit)


@dataclass
class Row:
    """One line of the table. The target applies to `value`, by default the ratio."""

    figure: str
    ours: str
    rival: str = "-"
    ratio: float | None = None
    cpu_ratio: float | None = None
    target: Target | None = None
    value: float | None = None
    verdict: str = ""
    note: str = ""
    samples: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.value is None:
            self.value = self.ratio
        if not self.verdict:
            self.verdict = self._judge()

    def _judge(self) -> str:
        if self.target is None or self.value is None:
            return "info"
        return "ok" if self.target.met(self.value) else "MISS"

    def cells(self) -> list[str]:
        return [self.figure, self.ours, self.rival, decimal(self.ratio), interval(self.ratio), decimal(self.cpu_ratio),
                str(self.target or "-"), self.verdict]


def skipped(figure: str, reason: str) -> Row:
    return Row(figure, "-", verdict="skip", note=reason)


def failed(figure: str, reason: str) -> Row:
    return Row(figure, "-", verdict="FAIL", note=reason)


def decimal(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def interval(ratio: float | None) -> str:
    return f"{decimal(ratio.low)} to {decimal(ratio.high)}" if isinstance(ratio, Ratio) else "-"


HEADINGS = ["figure", "ours", "rival", "ratio", "95 % interval", "cpu ratio", "target", "verdict"]


def table(rows: list[Row]) -> str:
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    rule = ["-" * width for width in widths]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
            for line in [HEADINGS, rule, *lines[1:]]]
    notes = [f"  {row.figure}: {row.note}" for row in rows if row.note]
    return "\n".join(text + (["", "notes", *notes] if notes else []))


def seconds(value: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms")):
        if value >= size:
            return f"{value / size:.2f} {unit}"
    return f"{value * 1e6:.1f} us"


def rate(per_second: float, unit: str = "B/s") -> str:
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if per_second >= size:
            return f"{per_second / size:.2f} {prefix}{unit}"
    return f"{per_second:.0f} {unit}"


def size(count: float) -> str:
    return rate(count, "B")
