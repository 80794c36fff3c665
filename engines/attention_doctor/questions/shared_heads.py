"""A function of queries, keys and values that takes fewer heads of keys and values: whose neighbours share one?"""

import numpy as np

from attention_doctor.equation.stages import compute
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.reports.remarks import Note
from function_judge.compare import fits

N_KV_HEADS, GROUP = 2, 3  # 0, 0, 0, 1, 1, 1 is neither 0, 1, 0, 1, 0, 1 nor its own reverse
QUESTION = Question("six heads of queries on two of keys and values", n_heads=N_KV_HEADS * GROUP, seed=30)


def ask(session, put):
    """Put a question with fewer heads of keys and values, by put(layout, question, case); most functions refuse it."""
    layout, case = session.layout, session.subject.case(session.layout, QUESTION)
    queries, (keys, values) = case.heads[0], (array[:, :N_KV_HEADS] for array in case.heads[1:])
    session.calls += 1
    output = put(layout, QUESTION, case.changed(heads=(queries, keys, values))).output
    if output is None:
        return

    def gives(share):
        shared = case.changed(heads=(queries, share(keys), share(values)))
        return fits(output, compute(shared, right=session.right)[0])

    if gives(lambda array: np.repeat(array, GROUP, axis=1)):
        yield Note("With fewer heads of keys and values, neighbouring heads of queries share one.")
    elif gives(lambda array: np.tile(array, (1, GROUP, 1, 1))):
        yield session.finding("kv-heads-tiled", where=((QUESTION.trait,), ()))
    elif session.known.named:
        yield session.unnamed(f"With {QUESTION.trait} its answer is not that of neighbours who share.")
