"""Cookies, on a real hub with a certificate: no page of a learner's says to the hub who somebody else is.

Needs `workshop/hub/requirements.txt`, root, and an image of the course.
"""

import pytest

pytest.importorskip("pwd", reason="the hub runs on Linux")
from tools.page.browser import open_browser

pytestmark = pytest.mark.hub


@pytest.fixture(scope="module")
def hub():
    from tests.hub.load_hub import running_hub

    with running_hub(["anna", "bert"], encrypted=True) as hub:
        yield hub


def log_in(browser, hub, name):
    """Return a browser's page in which somebody has logged in, and its cookies."""
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(f"{hub.url}hub/login?next=/hub/home")
    page.fill("[name=username]", name)
    page.fill("[name=password]", hub.passwords()[name])
    page.click("#login_submit")
    page.wait_for_url(f"{hub.url}hub/home")
    return page, context.cookies(hub.url + "hub/")


TOSS = """cookies => {
  for (const {name, value} of cookies)
    for (const plain of [name, name.replace("__Host-", "")])
      for (const path of ["/", "/hub", "/hub/"])
        document.cookie = `${plain}=${value}; domain=hub.localhost; path=${path}; secure`;
}"""


def test_a_page_under_annas_address_does_not_log_bert_in_as_anna(hub):
    with open_browser() as browser:
        _, of_anna = log_in(browser, hub, "anna")
        page, _ = log_in(browser, hub, "bert")
        page.goto(f"{hub.own('anna').partition('/user/')[0]}/hub/health")  # as if it were a page of hers
        page.evaluate(TOSS, of_anna)
        page.goto(f"{hub.url}hub/home")
        shown = page.inner_text("body")
        assert "bert" in shown
        assert "anna" not in shown


def test_a_learner_comes_to_jupyterlab_with_a_certificate(hub):
    with open_browser() as browser:
        page, _ = log_in(browser, hub, "bert")
        page.goto(f"{hub.url}hub/spawn", wait_until="commit")
        page.wait_for_url(f"{hub.own('bert')}lab/tree/notebooks/01*", timeout=180_000, wait_until="commit")
