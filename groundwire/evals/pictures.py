"""Confidence against truth, and what keeping more questions costs: two squares in one SVG."""

from collections.abc import Callable, Sequence

from .intents import Judged, coverage, reliability

SIDE, GAP, LEFT, TOP, BOTTOM = 260, 90, 60, 30, 50
INK, LINE = "#888", "#1f77b4"
Points = Sequence[tuple[float, float]]


def reliability_and_coverage(judged: Judged) -> str:
    """Left: the share that is right by confidence. Right: foreign questions answered by questions kept."""
    bins = reliability(judged.confidence, judged.right)
    left = [(said, was) for said, was, _ in bins]
    right = coverage(judged)
    width = LEFT + 2 * SIDE + GAP + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + SIDE + BOTTOM}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        "<title>Reliability, and foreign questions answered by the share of questions kept</title>",
        *_square(LEFT, (0.0, 1.0), (0.0, 1.0), ("confidence", "share right")),
        _path(LEFT, [(0.0, 0.0), (1.0, 1.0)], _at((0.0, 1.0)), _at((0.0, 1.0)), INK, 1),
        _path(LEFT, left, _at((0.0, 1.0)), _at((0.0, 1.0)), LINE, 2),
        *(_dot(LEFT, said, was, share) for said, was, share in bins),
    ]
    most = max(0.1, *(passed for _, passed in right))
    up = (0.0, most)
    place = LEFT + SIDE + GAP
    parts += _square(place, (0.5, 1.0), up, ("questions kept", "foreign answered"))
    parts.append(_path(place, right, _at((0.5, 1.0)), _at(up), LINE, 2))
    return "\n".join([*parts, "</svg>", ""])


def _at(ends: tuple[float, float]) -> Callable[[float], float]:
    return lambda value: SIDE * (value - ends[0]) / (ends[1] - ends[0])


def _square(
    left: float, across: tuple[float, float], up: tuple[float, float], names: tuple[str, str]
) -> list[str]:
    bottom = TOP + SIDE
    parts = [
        f'<path d="M{left} {TOP}V{bottom}H{left + SIDE}" fill="none" stroke="{INK}"/>',
        _text(left + SIDE / 2, bottom + 40, names[0], "middle"),
        _text(left, TOP - 10, names[1], "middle"),
    ]
    for part in (0.0, 0.5, 1.0):
        x, y = left + SIDE * part, bottom - SIDE * part
        parts.append(
            _text(x, bottom + 18, f"{across[0] + part * (across[1] - across[0]):.0%}", "middle")
        )
        parts.append(_text(left - 8, y + 4, f"{up[0] + part * (up[1] - up[0]):.0%}", "end"))
    return parts


def _path(
    left: float,
    points: Points,
    x: Callable[[float], float],
    y: Callable[[float], float],
    colour: str,
    width: int,
) -> str:
    bottom = TOP + SIDE
    line = "L".join(f"{left + x(one):.1f} {bottom - y(two):.1f}" for one, two in points)
    return f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _dot(left: float, said: float, was: float, share: float) -> str:
    size = 2 + 6 * share**0.5
    return (
        f'<circle cx="{left + SIDE * said:.1f}" cy="{TOP + SIDE - SIDE * was:.1f}" r="{size:.1f}" '
        f'fill="{LINE}"/>'
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
