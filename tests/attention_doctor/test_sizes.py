"""Size changes nothing: what is said of a module of 64 features is said of it at 768, with 12 heads."""

import pytest
import wrong_at_a_line_torch as modules

from mha_helpers import doctor
from mha_helpers.attention import multi_head_attention

FEW = (modules.ScaledByTheEmbedding, modules.MaskTheWrongWayRound, modules.RotaryOnQueriesAlone)


def said(report):
    lines = [finding.line and finding.line.number for finding in report.findings]
    return (
        report.healthy,
        report.names,
        lines,
        report.untested,
        report.notes,
        report.layout.replace("12 heads", "4 heads"),
    )


@pytest.mark.parametrize("kind", FEW, ids=lambda kind: kind.__name__)
def test_a_report_is_the_same_at_any_size(kind):
    small, large = (doctor.examine(modules.build(kind, *size)) for size in ((64, 4), (768, 12)))
    assert small.names, small
    assert said(large) == said(small)


def test_threads_are_given_back():
    before = modules.torch.get_num_threads()
    seen = []

    def attention(X, W_Q, W_K, W_V, W_O, n_heads):
        seen.append(modules.torch.get_num_threads())
        return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)[0]

    assert doctor.examine(attention).healthy
    assert set(seen) == {1}
    assert modules.torch.get_num_threads() == before
