"""The curves of evidence as an SVG: which share of the questions of each kind reaches a strength."""

from collections.abc import Sequence

from muisti.service.evaluation.evidence import FOREIGN, HIDDEN, OWN, Curve, Fitted

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 320, 240, 44, 36, 30
COLOURS = {OWN: "#1a7f37", HIDDEN: "#bf8700", FOREIGN: "#cf222e"}
INK, PAPER = "#57606a", "#ffffff"


def plot(fitted: Sequence[Fitted]) -> str:
    """Draw one panel for each mode, side by side."""
    width = WIDTH * len(fitted)
    panels = "".join(
        f'<g transform="translate({WIDTH * place} 0)">{_panel(one)}</g>' for place, one in enumerate(fitted)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 24}" font-family="sans-serif" '
        f'font-size="11" fill="{INK}"><rect width="100%" height="100%" fill="{PAPER}"/>{panels}{_legend(width)}</svg>\n'
    )


def _panel(fitted: Fitted) -> str:
    end = max(2 * fitted.thresholds.strong, 0.1)
    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{fitted.mode}</text>']
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 10}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    thresholds = fitted.thresholds
    for name, at, anchor in (("weak", thresholds.weak, "end"), ("strong", thresholds.strong, "start")):
        x = _x(at, end)
        parts.append(f'<path d="M{x:.1f} {TOP}V{_y(0):.1f}" stroke="{INK}" stroke-dasharray="3 3"/>')
        parts.append(f'<text x="{x:.1f}" y="{_y(0) + 14:.1f}" text-anchor="{anchor}">{name} {at:.2f}</text>')
    parts += [_line(curve, end, COLOURS[kind]) for kind, curve in fitted.curves.items()]
    parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{_y(0) + 29:.1f}" text-anchor="middle">strength</text>')
    return "".join(parts)


def _line(curve: Curve, end: float, colour: str) -> str:
    points = [
        f"{_x(float(at), end):.1f} {_y(float(share)):.1f}"
        for at, share in zip(curve.at, curve.share, strict=True)
        if at <= end
    ]
    return f'<path d="M{"L".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _legend(width: int) -> str:
    step = min(180, width // len(COLOURS))
    return "".join(
        f'<rect x="{LEFT + step * place}" y="{HEIGHT + 8}" width="12" height="4" fill="{colour}"/>'
        f'<text x="{LEFT + 18 + step * place}" y="{HEIGHT + 14}">{kind}</text>'
        for place, (kind, colour) in enumerate(COLOURS.items())
    )


def _x(at: float, end: float) -> float:
    return LEFT + (WIDTH - 10 - LEFT) * at / end


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share
