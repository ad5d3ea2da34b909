"""Plots as inline SVG: colours are the page's own variables, text stays text, and the output is identical byte for byte.

matplotlib is imported only when a plot is made, so that no other command has to wait for it.
"""

from __future__ import annotations

import io
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from eval.measures.formulas import Point
from eval.measures.losses import FATES, Fate
from retrieval.core.values import Stance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, NARROW = 760, 350
"""Widths in CSS pixels for desktop and phone: type has the same size on both."""
_VARIABLES = ("ink", "soft", "line", "card", "contradict-bar", "support-bar", *FATES, *(f"on-{fate}" for fate in FATES))
_COLOURS = {name: f"#a0b0{i:02x}" for i, name in enumerate(_VARIABLES)}
"""A placeholder for every variable of the page's style: matplotlib wants fixed colours, but a page has a light and a dark set."""
_SALT = "counterpoint"
_TEXT, _SMALL = 13.0, 11.5


def stacked_bars(bars: Mapping[str, Mapping[Fate, int]], fates: Sequence[Fate], total: int, stance: Stance, width: int) -> str:
    """A bar for each variant, split by what became of the gold documents; counts are shown where there is room for them."""
    row, bar, foot = 46, 19, 40
    height = row * len(bars) + foot
    with _figure(width, height) as figure:
        axes = _panel(figure, 1, foot, width - 2, row * len(bars))
        axes.set_xlim(0, total)
        axes.set_ylim(row * len(bars), 0)
        for i, (name, counts) in enumerate(bars.items()):
            top, start = i * row, 0
            axes.text(0, top + 8, _short(name), color=_COLOURS["ink"], size=_TEXT, va="center", parse_math=False)
            label = f"{counts.get('found', 0)} of {total} found"
            axes.text(total, top + 8, label, color=_COLOURS["soft"], size=_SMALL, va="center", ha="right")
            for fate in fates:
                if not (count := counts.get(fate, 0)):
                    continue
                [patch] = axes.barh(top + 26, count, bar, start, color=_COLOURS[fate], edgecolor=_COLOURS["card"], linewidth=1.5)
                patch.set_clip_on(False)
                if count / total * width >= 9 * len(str(count)) + 4:
                    middle = start + count / 2
                    axes.text(middle, top + 26.5, str(count), color=_COLOURS[f"on-{fate}"], size=_SMALL, ha="center", va="center")
                start += count
        axes.set_yticks([])
        axes.set_xticks(*_whole_ticks(total, 10 if width >= WIDE else 5))
        axes.tick_params(axis="x", colors=_COLOURS["soft"], labelsize=_SMALL, length=4)
        axes.spines[["left", "right", "top"]].set_visible(False)
        axes.spines["bottom"].set_color(_COLOURS["line"])
        return _svg(figure, f"bars-{stance}-{width}")


def precision_recall(variants: Mapping[str, Sequence[Point]], stance: Stance, width: int) -> str:
    """A panel for each variant, with its curve drawn over all the others' and a dot for all that it returns.

    With panels of one colour, nobody has to tell eight colours apart.
    """
    columns = min(4 if width >= WIDE else 2, len(variants))
    rows = math.ceil(len(variants) / columns)
    # Room for the name above a panel and the axis labels below and beside it.
    header, footer, margin, gap = 26, 24, 34, 24
    wide = min((width - margin - gap * columns) / columns, 260)
    size = wide * 0.92
    height = rows * (header + size + footer) + 22
    with _figure(width, height) as figure:
        for i, (name, points) in enumerate(variants.items()):
            row, column = divmod(i, columns)
            bottom = height - (row + 1) * (header + size + footer) + footer
            axes = _panel(figure, margin + column * (wide + gap), bottom, wide, size)
            _frame(axes, first=column == 0, last=i + columns >= len(variants))
            axes.text(0, 1.09, _short(name, wide), color=_COLOURS["ink"], size=_TEXT, va="center", parse_math=False)
            for other, theirs in variants.items():
                if other != name:
                    axes.plot(*_line(theirs), color=_COLOURS["soft"], alpha=0.3, linewidth=1.2)
            if points:
                colour = _COLOURS[f"{stance}-bar"]
                axes.plot(*_line(points), color=colour, linewidth=2.2, clip_on=False, zorder=4)
                axes.plot(points[-1].recall, points[-1].precision, "o", color=colour, markersize=7, clip_on=False, zorder=5)
            else:
                box = {"facecolor": _COLOURS["card"], "edgecolor": "none", "pad": 4}
                axes.text(0.5, 0.5, "returns nothing", color=_COLOURS["soft"], size=_SMALL, ha="center", va="center", bbox=box)
        centre = (margin + columns * (wide + gap) - gap) / 2 / width
        figure.text(centre, 4 / height, "recall", color=_COLOURS["soft"], size=_SMALL, ha="center", va="bottom")
        figure.text(2 / width, 0.5, "precision", color=_COLOURS["soft"], size=_SMALL, ha="left", va="center", rotation=90)
        return _svg(figure, f"curves-{stance}-{width}")


def _line(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [one.recall for one in points], [one.precision for one in points]


def _frame(axes: Axes, first: bool, last: bool) -> None:
    """A unit square with ticks at the halves; only the left and bottom edges of the grid have tick labels."""
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"] if last else ["", "", ""])
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"] if first else ["", "", ""])
    axes.tick_params(colors=_COLOURS["soft"], labelsize=_SMALL, length=0, pad=4)
    axes.grid(color=_COLOURS["line"], linewidth=0.6)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(_COLOURS["line"])


def _whole_ticks(total: int, most: int) -> tuple[list[int], list[str]]:
    """Ticks at round counts, from 0 to the total; the last but one is dropped where it would touch the last."""
    step = next(s * 10**power for power in range(10) for s in (1, 2, 5) if total / (s * 10**power) <= most)
    ticks = [tick for tick in range(0, total, step) if total - tick >= step / 2 or tick == 0]
    return [*ticks, total], [str(tick) for tick in [*ticks, total]]


def _short(name: str, width: float = 280) -> str:
    longest = int(width / 8)
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place in pixels."""
    full_width, full_height = figure.get_figwidth() * 72, figure.get_figheight() * 72
    axes = figure.add_axes((left / full_width, bottom / full_height, width / full_width, height / full_height))
    axes.patch.set_visible(False)
    return axes


@contextmanager
def _figure(width: int, height: float) -> Iterator[Figure]:
    """A figure with a size in pixels, made without a display and independent of the user's own matplotlib settings."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": _SALT, "font.family": "DejaVu Sans"})
        # One point of the SVG is one pixel of the page.
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        figure.patch.set_visible(False)
        yield figure


def _svg(figure: Figure, prefix: str) -> str:
    """The figure as SVG without what would disturb a page: a global style, duplicate ids, sizes in points, a date."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    root = ET.fromstring(buffer.getvalue())
    svg = ET.Element("svg", {"viewBox": root.attrib["viewBox"]})
    svg.extend(child for child in root if not child.tag.endswith("metadata"))
    for parent in list(svg.iter()):
        for child in list(parent):
            if child.tag.endswith("style"):
                parent.remove(child)
    for element in svg.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib.update(
            {name.rpartition("}")[2]: element.attrib.pop(name) for name in list(element.attrib) if name.startswith("{")}
        )
    _own_ids(svg, prefix)
    text = ET.tostring(svg, encoding="unicode")
    return re.sub(r"#a0b0([0-9a-f]{2})", lambda match: f"var(--{_VARIABLES[int(match[1], 16)].replace('_', '-')})", text)


def _own_ids(root: ET.Element, prefix: str) -> None:
    """Make ids unique within the page: ids that are referenced get new names, the others are removed."""
    reference = re.compile(r"#([\w-]+)")
    targets = set()
    for element in root.iter():
        for name in ("href", "clip-path"):
            if name in element.attrib:
                targets |= set(reference.findall(element.attrib[name]))
                element.set(name, reference.sub(rf"#{prefix}-\1", element.attrib[name]))
    for element in root.iter():
        identifier = element.attrib.pop("id", None)
        if identifier in targets:
            element.set("id", f"{prefix}-{identifier}")
