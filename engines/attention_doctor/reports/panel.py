"""The report as a panel in a notebook: what was found, and the equation with the altered step marked."""

import html
from collections.abc import Iterator

from attention_doctor.equation.stages import RIGHT, STEPS
from attention_doctor.reports.report import Finding, Report
from live_pictures import style

# The heading says the same in words: colour is never the only carrier.
BORDERS: dict[bool | None, str] = {True: style.GOOD, False: style.ALARM, None: style.QUIET}
SHOWN = tuple(step for step in STEPS if step not in ("place", "add"))
NAMES = {
    "project": "project", "split": "split", "place": "positions", "scores": "scores", "scale": "scale", "hide": "mask",
    "softmax": "softmax", "mix": "mix", "merge": "merge", "output": "output", "add": "add",
}  # fmt: skip


def html_of(report: Report) -> str:
    """Return the panel as HTML; `str(report)` has the same as text."""
    parts = [f"<b>{html.escape(f'{report.subject}: {report.verdict}')}</b>"]
    if report.reason:
        parts.append(_paragraph(report.reason))
    if report.healthy is not None and any(finding.altered for finding in report.findings):
        parts.append(_equation(report))
    for finding in report.findings:
        parts.append(_finding(finding))
    parts.append(_paragraph(" ".join(_below(report)), "opacity:0.75; font-size:90%"))
    return (
        f'<div style="border-left:6px solid {BORDERS[report.healthy]}; padding:8px 12px; max-width:56em; '
        f'background:{style.THEME_PAPER}; color:{style.THEME_INK}; line-height:1.45">{"".join(parts)}</div>'
    )


def _below(report: Report) -> Iterator[str]:
    """How it was read, and what was not tested."""
    if report.layout:
        yield f"Read as: {report.layout}."
    yield from report.notes
    if not report.healthy:  # otherwise the verdict says them
        yield from (f"{caveat}." for caveat in report.caveats)
    if report.asked:
        yield f"{report.asked} calls compared."
    in_the_verdict = report.untested_masks if report.healthy else []
    if rest := [text for text in report.untested if text not in in_the_verdict]:
        yield "Not tested: " + "; ".join(rest) + "."


def _paragraph(text: str, more: str = "") -> str:
    return f'<div style="margin-top:4px; {more}">{html.escape(text)}</div>'


def _equation(report: Report) -> str:
    """One cell for each step; altered ones have a thick border, and show both what is computed and what is right."""
    altered: dict[str, tuple[list[str], str]] = {}
    for finding in report.findings:
        for step, computed, right in finding.altered if finding.is_sick else ():
            texts, _ = altered.setdefault(step, ([], right))
            texts += [computed] if computed not in texts else []
    cells = []
    for step in [step for step in STEPS if step in SHOWN or step in altered]:
        text = html.escape(RIGHT[step].text)
        if step in altered:
            texts, right = altered[step]
            computed = html.escape("; ".join(texts))
            text = f'<b style="color:{style.THEME_ALARM}">✗ {computed}</b><br>right: {html.escape(right)}'
        border = f"3px solid {style.THEME_ALARM}" if step in altered else "1px solid {style.QUIET}"
        cells.append(
            f'<div style="border:{border}; border-radius:4px; padding:3px 7px; background:{style.THEME_PAPER}; '
            f'font-size:90%"><span style="opacity:0.75">{NAMES[step]}</span><br>{text}</div>'
        )
    arrow = '<div style="opacity:0.75; align-self:center">→</div>'
    return (
        f'<div style="display:flex; flex-wrap:wrap; gap:4px; margin:8px 0" role="img" '
        f'aria-label="The equation, step by step">{arrow.join(cells)}</div>'
    )


def _finding(finding: Finding) -> str:
    lines = [
        f"<b><code>{html.escape(finding.name or 'no name for it')}</code></b> ({html.escape(finding.severity)})"
        + (f", or {html.escape(' or '.join(finding.also))}: the same on every input" if finding.also else "")
    ]
    lines.append(html.escape(finding.sentence))
    if finding.line:
        lines.append(f"{html.escape(finding.line.place)}: <code>{html.escape(finding.line.text)}</code>")
    lines += [html.escape(finding.evidence)] if finding.evidence else []
    if finding.shows:
        lines.append(html.escape(finding.where))
    if finding.repair:
        lines.append(f"<b>Repair:</b> {html.escape(finding.repair)}")
    if finding.example:
        link = html.escape(finding.example, quote=True)
        lines.append(f'Seen in: <a href="{link}">{link.removeprefix("https://")}</a>')
    return f'<div style="margin-top:8px">{"<br>".join(lines)}</div>'
