"""Markdown to HTML whose formulas are MathML: every current browser shows them, and no script is loaded for it."""

import functools
import re

from latex2mathml.converter import convert
from mistune.plugins.table import render_table, render_table_cell
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from mha_helpers.drawing import palette
from tools.site.look.frames import framed
from tools.writing.notebooks import NotebookError

FUNCTION_NAME = re.compile(r"<mi>\w{2,}</mi>(?!<mo)")  # log p; a variable of the library's has one letter
# A role's colour is made for lines; letters in it are as dark as its name is in figures.
COLOURS = {colour: palette.role_text(role) for role, colour in palette.ROLES.items()}
THIN_SPACE = '<mspace width="0.167em" />'


def rendered(markdown, attachments=None):
    r"""Render a notebook's Markdown, formulas included.

    Parameters
    ----------
    markdown : str
        A cell's source; formulas stand between `$` and `$`, or `$$` and `$$` on lines of their own.
    attachments : dict, optional
        The cell's attached pictures.

    Returns
    -------
    str
        HTML. Where a page styles it, `mtd[columnalign="left"] { text-align: left; }` aligns the
        lines of `\begin{cases}`: browsers know it in style sheets alone.

    Raises
    ------
    NotebookError
        If a formula is not LaTeX that can be converted.
    """
    renderer = _Renderer(escape=False, attachments=attachments)
    return MarkdownWithMath(renderer=renderer).render(markdown)


class _Renderer(IPythonRenderer):
    """As in nbconvert's own HTML, where formulas are left to a script from another host."""

    def table_cell(self, text, align=None, head=False):
        # An empty header heads nothing, which is what a screen reader would say of it.
        return render_table_cell(self, text, align, head and bool(text))

    def table(self, text):
        return framed(render_table(self, text), "table")

    def inline_math(self, body):
        return _mathml(body, "inline")

    def block_math(self, body):
        # Formulas in a row may stand below each other where there is no room beside each other.
        row = body.split(r"\qquad") if r"\begin" not in body else [body]
        return framed("".join(_mathml(formula, "block") for formula in row), "formula", element="span")

    def latex_environment(self, name, body):
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")


@functools.cache  # a page and its slides have the same formulas
def _mathml(latex, display):
    try:
        mathml = convert(latex, xmlns="", display=display)
    except Exception as error:  # the library's errors have no narrower class in common
        raise NotebookError(f"has the formula {latex!r}, which cannot be converted: {error!r}; correct it") from error
    if "\\" in mathml:  # a command that the library does not know stays as it stands
        raise NotebookError(f"has the formula {latex!r} with a command that MathML has no form for; write it otherwise")
    mathml = mathml.replace(' xmlns=""', "")  # HTML needs no namespace, and nbconvert garbles it in headings
    mathml = re.sub("#[0-9a-f]{6}", lambda colour: COLOURS.get(colour[0], colour[0]), mathml)
    return FUNCTION_NAME.sub(rf"\g<0>{THIN_SPACE}", mathml)
