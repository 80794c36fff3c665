"""`python -m tools.doctor.picture` photographs the README's report, on two bugs of public repositories."""

import html
from pathlib import Path

from mha_helpers import doctor
from mha_helpers.drawing import style
from mha_helpers.maths.attention import softmax
from tools.page.browser import open_browser

PICTURE = Path(__file__).parents[2] / ".github" / "doctor.png"
WIDTH, SHARPNESS = 800, 2

# Heads cut by a reshape alone, as in https://github.com/hyunwoongko/transformer/issues/15, and the divisor of
# https://github.com/karpathy/ng-video-lecture/pull/6.
SHOWN = """\
def attention(X, W_Q, W_K, W_V, W_O, n_heads):
    batch, length, d_model = X.shape
    cut = lambda Y: Y.reshape(batch, n_heads, length, d_model // n_heads)
    q, k, v = cut(X @ W_Q), cut(X @ W_K), cut(X @ W_V)
    weights = softmax(q @ k.swapaxes(-1, -2) / d_model**0.5)
    heads = (weights @ v).swapaxes(1, 2)
    return heads.reshape(batch, length, d_model) @ W_O

doctor.examine(attention)"""


def page():
    """Return the picture as HTML: the code, and the report below it."""
    namespace = {"softmax": softmax, "doctor": doctor}
    definition, _, call = SHOWN.rpartition("\n")
    exec(definition, namespace)
    report = eval(call, namespace)
    code = (
        f'<pre style="margin:0 0 8px; padding:8px 12px; background:#f2f2f2; color:{style.INK}; font-size:13px">'
        f"{html.escape(SHOWN)}</pre>"
    )
    return (
        f'<body style="margin:0; padding:10px; background:{style.PAPER}; font:14px {style.FONT}">{code}'
        f"{report._repr_html_()}</body>"
    )


def main():
    with open_browser() as browser:
        sheet = browser.new_page(viewport={"width": WIDTH, "height": 300}, device_scale_factor=SHARPNESS)
        sheet.set_content(page())
        sheet.screenshot(path=str(PICTURE), full_page=True)
    print(PICTURE.name)


if __name__ == "__main__":
    main()
