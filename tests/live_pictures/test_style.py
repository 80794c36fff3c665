"""Colours of lines and text can be seen and read."""

import pytest

from live_pictures import style


def test_lines_and_frames_stand_out_from_the_page():
    colours = [*style.PALETTE, style.GOOD, style.ALARM]
    assert [colour for colour in colours if style.contrast(colour, style.PAPER) < 3] == []


@pytest.mark.parametrize("ground", [style.PAPER, style.PANEL])
def test_text_can_be_read(ground):
    assert [ink for ink in (style.INK, style.QUIET, style.ALARM) if style.contrast(ink, ground) < 4.5] == []
