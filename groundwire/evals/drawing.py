"""Growth as a picture: an SVG without scripts or fonts of its own, readable in light and dark."""

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from .scale import Scale

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 24, 48
COLOURS = {"keyword": "#1f77b4", "vectors": "#d62728", "hybrid": "#7f7f7f"}
INK = "#888"

Line = list[tuple[int, float]]


def growth(found: Sequence[Scale]) -> str:
    """The p95 of each kind of search over the number of passages, both axes logarithmic."""
    lines = {name: line for name, line in _lines(found).items() if line}
    sizes = [one.passages for one in found]
    times = [time for line in lines.values() for _, time in line]
    across = (math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes) + 1)))
    up = (math.floor(math.log10(min(times))), math.ceil(math.log10(max(times) + 1e-9)))

    def x(size: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(size) - across[0]) / _span(across)

    def y(time: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(time) - up[0]) / _span(up)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape('p95 of a search by number of passages')}</title>",
    ]
    for power in range(across[0], across[1] + 1):
        parts.append(_text(x(10**power), HEIGHT - BOTTOM + 20, f"{10**power:,}", "middle"))
    for power in range(up[0], up[1] + 1):
        at = y(10.0**power)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="{INK}" opacity=".3"/>')
        parts.append(_text(LEFT - 8, at + 4, f"{10.0**power:g} ms", "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "passages", "middle"))
    for name, line in lines.items():
        path = "L".join(f"{x(size):.1f} {y(time):.1f}" for size, time in line)
        parts.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        size, time = line[-1]
        label = f"{name} {time:.1f} ms"
        parts.append(
            f'<g fill="{COLOURS[name]}">{_text(x(size) + 8, y(time) + 4, label, "start")}</g>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _lines(found: Sequence[Scale]) -> dict[str, Line]:
    return {
        "keyword": [(one.passages, one.keyword.search.p95_ms) for one in found],
        "vectors": [(one.passages, one.vectors.search.p95_ms) for one in found if one.vectors],
        "hybrid": [(one.passages, one.hybrid.p95_ms) for one in found if one.hybrid],
    }


def _span(ends: tuple[int, int]) -> int:
    return max(ends[1] - ends[0], 1)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
