"""`tools.site.formulas`: formulas become MathML, and only formulas; one that cannot is named."""

import re

import pytest
from bs4 import BeautifulSoup

from live_pictures import style
from mha_helpers.drawing import palette
from tools.site.formulas import rendered
from tools.writing.notebooks import NotebookError, course_notebooks, read


def formulas(markdown):
    return BeautifulSoup(rendered(markdown), "html.parser").find_all("math")


@pytest.mark.parametrize(
    ("markdown", "display"),
    [
        ("so $a + b$ is", "inline"),
        ("so $$a + b$$ is", "block"),
        ("$$\na + b\n$$", "block"),
        ("\\begin{equation}a + b\\end{equation}", "block"),
        ("## What $a + b$ does", "inline"),
        ("| what |\n|---|\n| $a + b$ |", "inline"),
        ("> $a + b$", "inline"),
    ],
)
def test_a_formula_becomes_mathml_wherever_it_stands(markdown, display):
    (formula,) = formulas(markdown)
    assert formula["display"] == display
    assert [(part.name, part.text) for part in formula(["mi", "mo"])] == [("mi", "a"), ("mo", "+"), ("mi", "b")]
    assert "$" not in rendered(markdown)


def test_a_colour_and_a_sign_of_html_survive():
    (formula,) = formulas(r"${\color{#123456} Q} < K_1$")
    assert formula.find("mstyle", mathcolor="#123456").text == "Q"
    assert formula.find("mo").text == "<"


def test_formulas_in_a_row_can_stand_below_each_other():
    assert [formula.text for formula in formulas(r"$$a = b, \qquad c = d$$")] == ["a=b,", "c=d"]
    assert len(formulas(r"$$\begin{cases} a & b \qquad \end{cases}$$")) == 1


@pytest.mark.parametrize("role", palette.ROLES)
def test_a_roles_letters_can_be_read_in_light_and_in_dark(role):
    (formula,) = formulas(rf"${{\color{{{palette.ROLES[role]}}} Q}}$")
    colour = formula.find("mstyle")["mathcolor"]
    assert style.contrast(colour, style.PAPER) >= 4.5
    assert style.contrast(style.turned(colour), style.turned(style.PAPER)) >= 4.5


@pytest.mark.parametrize(("latex", "spaces"), [(r"\log p", 1), (r"\log(p)", 0), ("ab", 0)])
def test_a_function_stands_off_its_argument(latex, spaces):
    (formula,) = formulas(f"${latex}$")
    assert len(formula("mspace")) == spaces


@pytest.mark.parametrize("markdown", ["`$a$`", "```\n$a$\n```", r"\$5 and \$6", "5 $"])
def test_code_and_lone_dollars_are_no_formulas(markdown):
    assert formulas(markdown) == []
    assert "$" in rendered(markdown)


@pytest.mark.parametrize("latex", [r"\unheard x", r"\left( a", "x^2^3"])
def test_a_formula_that_cannot_be_converted_is_named(latex):
    with pytest.raises(NotebookError, match=re.escape(repr(latex))):
        rendered(f"so ${latex}$ is")


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.name)
def test_no_formula_of_the_course_is_left_raw(path):
    sources = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    page = BeautifulSoup("".join(map(rendered, sources)), "html.parser")
    assert page.find("math"), "there is no formula to look at"
    for code in page(["code", "pre"]):
        code.decompose()
    assert "$" not in page.text
    assert "\\" not in page.text
