"""The ways in which a module can be read: the order of its axes, its number of heads, and what its parameters are."""

import functools
import itertools

from attention_doctor import vocabulary
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.readers import latent
from attention_doctor.readers.heads import numbers_of_heads
from attention_doctor.readers.layouts import SAME, SWAPPED, Layout, Lazily
from attention_doctor.readers.parameter_orders import parameter_orders

CHANNELS_FIRST = (lambda array: array.swapaxes(1, 2), lambda array: array.swapaxes(1, 2) if array.ndim == 3 else array)
IMAGE = (
    lambda array: array.swapaxes(1, 2)[:, :, None],
    lambda array: array[:, :, 0].swapaxes(1, 2) if array.ndim == 4 else array,
)
IMAGE_CHANNELS_LAST = (lambda array: array[:, None], lambda array: array[:, 0] if array.ndim == 4 else array)
# By name: how token vectors are laid out, and whether the code takes one sequence instead of a batch.
AXES = {
    "(batch, tokens, features)": (SAME, False),
    "(tokens, batch, features)": (SWAPPED, False),
    "one sequence at a time": (SAME, True),
    "(batch, features, tokens)": (CHANNELS_FIRST, False),
    "(batch, features, height, width)": (IMAGE, False),
    "(batch, height, width, features)": (IMAGE_CHANNELS_LAST, False),
}
MAX_READINGS, MAX_CACHED = 400, 8


class ModuleLayouts:
    """The layouts of one module, made as far as they are looked at: there may be very many.

    Parameters
    ----------
    subject : ModuleSubject
    """

    def __init__(self, subject):
        self.subject = subject
        # The last few alone are kept: each holds all orders of the parameters for one number of heads.
        self._readings = functools.lru_cache(MAX_CACHED)(self._make_readings)
        self._answers = functools.cache(self._try)
        self._order = list(AXES)
        if subject.adapter.flags().get("batch_first") is False:  # as PyTorch's own layer says, and follows
            self._order = [self._order[1], self._order[0], self._order[2]]

    def all(self) -> Lazily:
        """All layouts, the most usual first.

        Raises
        ------
        CannotBeExaminedError
            If there is none.
        """
        made = self._of_latent() if self.subject.latent else self._of_readings()
        layouts = Lazily(itertools.islice(made, MAX_READINGS))
        if next(iter(layouts), None) is None:
            paths = ", ".join(parameter.path for parameter in self.subject.parameters[:8])
            raise CannotBeExaminedError(f"{self.subject.name}'s parameters ({paths}) cannot be read as attention's")
        return layouts

    def _of_readings(self):
        """The most usual readings of all numbers of heads first, then the others."""
        likely, possible = numbers_of_heads(self.subject.adapter.numbers(), self.subject.units)
        for is_usual in (True, False):
            for n_heads, axes in itertools.product([*likely, *possible], self._order):
                for reading in self._readings(n_heads):
                    if reading.usual == is_usual:
                        is_likely = is_usual and axes == self._first_axes() and n_heads in likely
                        yield self._layout(axes, n_heads, reading, is_likely)

    def _layout(self, axes, n_heads, reading, is_likely):
        transform, loops = AXES[axes]
        words = f"{axes}, {n_heads} head{'s' * (n_heads > 1)}" + f", {reading.name}" * bool(reading.name)
        return Layout(
            words, transform, loops, matrices=reading.make, n_heads=n_heads, n_kv_heads=reading.n_kv_heads,
            widths=reading.widths, usual=is_likely, finding=reading.finding or self._mistake_in(axes),
        )  # fmt: skip

    def _of_latent(self):
        """Latent attention, in the usual orders of axes: how its parameters are cut is a design of its own."""
        subject = self.subject
        unit = latent.output_of(subject.units, subject.latent)

        def make(values):
            if unit is None:
                return {}
            bias = unit.bias(values)
            return {"O": unit.matrix(values, unit.orientation or "outputs by inputs")} | (
                {} if bias is None else {"b_O": bias}
            )

        likely, possible = numbers_of_heads(subject.adapter.numbers(), subject.units)
        for n_heads, axes in itertools.product([*likely, *possible], list(AXES)[:3]):
            words, (transform, loops) = f"{axes}, {n_heads} heads, latent attention (MLA)", AXES[axes]
            yield Layout(
                words, transform, loops, matrices=make, n_heads=n_heads, n_kv_heads=n_heads,
                widths=(subject.d_model,), usual=n_heads in likely,
            )  # fmt: skip

    def _make_readings(self, n_heads):
        subject = self.subject
        return list(parameter_orders(subject.units, subject.values, n_heads, subject.d_model))

    def _first_axes(self):
        """The first order of axes in which anything of a fitting shape comes back."""
        return next(filter(self._answers, self._order), self._order[0])

    def _try(self, axes):
        layout, question = Layout(axes, *AXES[axes]), self.subject.fitted(Question("a batch", 2, 5))
        return self.subject.answer(layout, question, self.subject.unweighted_case(question)).error is None

    def _mistake_in(self, axes):
        """The name of the mistake that it is to be right in this order of axes, if it is one.

        Who unpacks a shape with the batch first has meant it so, and then attends over the batch.
        """
        is_over_batch = axes == self._order[1] and self._order[0] == "(batch, tokens, features)"
        return "attention-over-batch" if is_over_batch and vocabulary.BATCH_FIRST.search(self.subject.source) else ""
