"""Draws the curves of a soak run as an SVG: a panel for memory, one for threads, one for descriptors."""

from html import escape

WIDTH, HEIGHT, LEFT, TOP, GAP = 860, 200, 70, 40, 60
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")
POINTS = 400
PANELS = (("memory, MB", lambda s: s.memory / 1e6), ("threads", lambda s: s.threads), ("descriptors", lambda s: s.descriptors))


def draw(results) -> str:
    """One curve for each result, over the share of its run that has passed."""
    results = [result for result in results if result.samples]
    height = TOP + len(PANELS) * (HEIGHT + GAP) + 20 * ((len(results) + 3) // 4)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for number, (title, value) in enumerate(PANELS):
        parts += panel(TOP + number * (HEIGHT + GAP), title, value, results)
    parts += legend(TOP + len(PANELS) * (HEIGHT + GAP), results)
    return "\n".join([*parts, "</svg>\n"])


def panel(top: int, title: str, value, results) -> list[str]:
    highest = max((value(sample) for result in results for sample in result.samples), default=1) * 1.1 or 1
    width = WIDTH - LEFT - 20
    parts = [f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{escape(title)}</text>',
             f'<rect x="{LEFT}" y="{top}" width="{width}" height="{HEIGHT}" fill="none" stroke="#999"/>',
             f'<text x="{LEFT}" y="{top + HEIGHT + 16}">start</text>',
             f'<text x="{LEFT + width}" y="{top + HEIGHT + 16}" text-anchor="end">end of the run</text>']
    for share in (0, 0.5, 1):
        y = top + HEIGHT * (1 - share)
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{highest * share:.0f}</text>')
    for result, colour in zip(results, COLOURS):
        end = result.samples[-1].at or 1
        points = " ".join(f"{LEFT + width * s.at / end:.1f},{top + HEIGHT * (1 - value(s) / highest):.1f}"
                          for s in result.samples[::max(1, len(result.samples) // POINTS)])
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>')
    return parts


def legend(top: int, results) -> list[str]:
    parts = []
    for number, (result, colour) in enumerate(zip(results, COLOURS)):
        x, y = LEFT + 195 * (number % 4), top + 20 * (number // 4)
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>'
                     f'<text x="{x + 18}" y="{y}">{escape(result.name)}</text>')
    return parts
