"""Lines that nothing uses, and those that only look so."""

# ruff: noqa: F841  (that is what they are about)

from function_judge.source_hints import never_used, overwritten


def one_is_not_used(scores):
    shifted = scores - scores.max()
    return scores


def used_in_an_inner_function(scores):
    shifted = scores - scores.max()

    def shown():
        return shifted

    return shown()


def used_by_a_lambda_above(scores):
    shown = lambda: shifted  # noqa: E731
    shifted = scores - scores.max()
    return shown()


def used_in_the_next_round(scores):
    total = scores[0]
    for score in scores:
        scores = total + score
        total = scores * 2
    return scores


def two_names_at_once(scores):
    first = second = scores - scores.max()
    return second


def names_taken_apart(scores):
    first, second = scores.sum(), scores.max()
    return second


def global_name(scores):
    global kept
    kept = scores - scores.max()
    return scores


def test_a_line_that_nothing_uses_is_said():
    assert "`shifted` isn't used after it" in never_used(one_is_not_used)


def test_what_is_used_elsewhere_or_may_be_is_not():
    for function in (
        used_in_an_inner_function,
        used_by_a_lambda_above,
        used_in_the_next_round,
        two_names_at_once,
        names_taken_apart,
        global_name,
    ):
        assert never_used(function) is None, function.__name__
        assert overwritten(function) is None, function.__name__
