"""What only modules are asked: what was set aside in them, `is_causal` with gradients, and a missing W_O."""

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.equation.stages import RIGHT
from attention_doctor.names import DESIGN
from attention_doctor.reports.remarks import Note, Untested


def ask(session):
    """Say what was left out of the comparison, and ask what the plain calls can't show."""
    subject, layout = session.subject, session.layout
    if subject.set_to_zero:
        yield Untested(f"{', '.join(subject.set_to_zero)} (set to 0)")
    if subject.mixes_no_heads:
        yield Untested(f"{', '.join(subject.mixes_no_heads)} (set so that heads are not mixed)")
    if subject.unused:
        yield Note(f"{', '.join(subject.unused)}: no answer depends on it.")
    if "dropout" in subject.source.lower():
        yield Untested("dropout in training")
    yield from _causal_with_gradients(session)
    if layout.n_heads > 1 and session.known.named and "O" not in subject.matrices_of(layout):
        whole = "add" in layout.right or session.right["add"].text != RIGHT["add"].text
        whole &= not any(unit.is_residual for unit in subject.units)  # a layer of its own, such as AutoInt's
        yield session.finding("mha-no-output-projection", severity=None if whole else DESIGN)


def _causal_with_gradients(session):
    """Whether PyTorch's own layer, told `is_causal` without a mask, refuses the call that a training makes.

    Without gradients its fast path doesn't look at the hint, and says nothing.
    """
    subject, layout = session.subject, session.layout
    is_told = hasattr(subject.adapter, "with_gradients") and vocabulary.CAUSAL_HINT.search(subject.source)
    if not is_told or layout.loops or session.right["hide"] is not RIGHT["hide"]:
        return
    question = subject.plain_questions(layout)[0]
    arguments = subject.call_arguments(layout, question, subject.case(layout, question))
    outcome = calling.call(subject.adapter.with_gradients, arguments, subject.to_framework)
    if outcome.error is not None and "is_causal" in str(outcome.error):
        error = calling.error_line(outcome.error)
        evidence = f"Without gradients every token sees all. With them it stops with {error}"
        yield session.finding("causal-ignored", evidence=evidence)
