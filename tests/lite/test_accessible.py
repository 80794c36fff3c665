"""Nobody is kept from any page of the site: axe finds nothing, light and dark, on a wide screen and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tools.page.static import open_site

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.whole]

WIDE, PHONE = ({"width": width, "height": 844} for width in (1280, 390))


@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide, light", "phone, dark"])
def test_axe_finds_nothing_on_any_page(browser, site, viewport, scheme):
    pages = [path.relative_to(site.folder) for path in sorted(site.folder.glob("*.html"))]
    pages += [path.relative_to(site.folder) for path in sorted(site.folder.glob("slides/*.html"))]
    assert len(pages) > 20
    found = {}
    for path in pages:
        with open_site(browser, site, viewport=viewport, color_scheme=scheme, reduced_motion="reduce") as seen:
            seen.page.goto(site.url + path.as_posix())
            for violation in Axe().run(seen.page).response["violations"]:
                found[f"{path}: {violation['id']}"] = [node["html"][:200] for node in violation["nodes"]]
    assert found == {}
