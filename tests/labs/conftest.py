"""What the labs in JupyterLab and those on a page without a kernel are both asked."""

import pytest

KINDS = (
    ("radio]:checked", ("ArrowRight", "ArrowLeft")),
    ("checkbox]", (" ",)),
    ("range]", ("ArrowRight", "ArrowLeft")),
    ("button]", ("Enter",)),
)


@pytest.fixture
def press_each_kind():
    """Press a key on one input of each kind: another picture comes, and the focus stays in the lab."""

    def press(page, lab):
        picture = lab.locator(".mha-picture .widget-html-content").element_handle()
        for kind, keys in KINDS:
            for control in lab.locator(f".mha-over [type={kind}").all()[:1]:  # which may take the others with it
                before = picture.inner_html()
                stands = control.evaluate(
                    "input => input.type === 'range' && input.value === input.max"
                )  # its track ends there
                control.focus()
                page.keyboard.press(keys[-1] if stands else keys[0])
                page.wait_for_function("([picture, before]) => picture.innerHTML !== before", arg=[picture, before])
                assert lab.evaluate("lab => lab.contains(document.activeElement)"), kind

    return press
