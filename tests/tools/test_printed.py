"""The instructor's pages, as they are printed."""

import pytest

from tools.page.browser import open_browser
from workshop import printed


def test_a_page_that_is_not_there_is_said(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        printed.main(["halfday", "--to", str(tmp_path)])
    assert "there is no page 'halfday' in workshop; there are README, before," in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_sheet_begins_when_the_room_does(tmp_path, capsys):
    sheet = printed.printed("two_hours", "13:30")
    assert sheet.count("<td>13:30</td>") == 1
    assert "<td>15:30</td>" in sheet, "two hours later it ends"
    assert 'class="notebook" id="01' in sheet
    with pytest.raises(SystemExit, match="2"):
        printed.main(["two_hours", "--start", "24:00", "--to", str(tmp_path)])
    assert "'24:00' is no time; write hours and minutes, such as 13:30" in capsys.readouterr().err


@pytest.mark.browser
def test_a_sheet_prints_with_its_tables_and_code_inside_the_paper(tmp_path):
    printed.main(["half_day", "README", "--to", str(tmp_path)])
    with open_browser() as browser, browser.new_page() as page:
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 680, "height": 900})  # what A4 leaves between its margins
        for name in ("half_day", "README"):
            page.goto((tmp_path / f"{name}.html").as_uri())
            assert page.evaluate("document.querySelectorAll('table').length") > 0
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            broken = "[...document.querySelectorAll('td code span')].filter(name => name.getClientRects().length > 1)"
            assert page.evaluate(f"{broken}.map(name => name.textContent)") == []
        assert len(page.pdf()) > 10_000
