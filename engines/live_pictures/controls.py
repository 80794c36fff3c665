"""The controls of the labs: core ipywidgets that have a name and a value, for screen readers too.

There is no slider: ipywidgets cannot name one. A choice is a row of radio buttons, a drop-down or check boxes; a
quantity is a number field.
"""

from collections.abc import Iterable

import ipywidgets

from live_pictures.marks import Value

NAMED = {"description_width": "initial"}


def radio(name: str, options: Iterable[Value], value: Value | None = None) -> ipywidgets.RadioButtons:
    """Return a row of radio buttons, which the arrow keys move through."""
    options = list(options)
    return ipywidgets.RadioButtons(
        options=options, value=options[0] if value is None else value, description=name, style=NAMED,
        layout={"width": "auto"},
    )  # fmt: skip


def dropdown(
    name: str, options: Iterable[Value], value: Value | None = None, *, width: str = "auto"
) -> ipywidgets.Dropdown:
    """Return a drop-down."""
    options = list(options)
    return ipywidgets.Dropdown(
        options=options, value=options[0] if value is None else value, description=name, style=NAMED,
        layout={"width": width},
    )  # fmt: skip


def whole_number(
    name: str, value: int, lowest: int, highest: int, *, width: str = "130px"
) -> ipywidgets.BoundedIntText:
    """Return a number field."""
    return ipywidgets.BoundedIntText(
        value=value, min=lowest, max=highest, description=name, style=NAMED, layout={"width": width}
    )


def check_box(name: str, value: bool = False) -> ipywidgets.Checkbox:
    """Return a check box."""
    return ipywidgets.Checkbox(value=value, description=name, indent=False, layout={"width": "auto"})


def in_a_row(controls: Iterable[ipywidgets.Widget]) -> ipywidgets.HBox:
    """Arrange controls in a row that wraps where the page is narrow."""
    return ipywidgets.HBox([*controls], layout={"flex_flow": "row wrap"})


def folded(name: str, *content: ipywidgets.Widget) -> tuple[ipywidgets.Checkbox, ipywidgets.VBox]:
    """Fold rarely needed controls behind a check box: core ipywidgets' own folds cannot be opened by keyboard.

    Returns
    -------
    fold : ipywidgets.Checkbox
        For a row of the form.
    box : ipywidgets.VBox
        The content, which is there while it is checked.
    """
    box = ipywidgets.VBox([*content], layout={"display": "none"})
    fold = check_box(name)
    fold.observe(lambda change: setattr(box.layout, "display", "flex" if change["new"] else "none"), "value")
    fold.add_class("mha-fold")
    return fold, box
