"""A function whose matrices, if there are any, are among its arguments."""

import functools
from collections.abc import Mapping

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation import trial_inputs as questions
from attention_doctor.equation.stages import RIGHT, Form, Input, scaled_by
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.readers import heads, mask_formats
from attention_doctor.readers.layouts import (
    HEADLESS,
    JOINED,
    SWAPPED,
    TOKENS_BEFORE_HEADS,
    Layout,
    Reply,
    unpacked,
)
from attention_doctor.subjects.arguments import Arguments
from attention_doctor.subjects.subject import Subject

_OVER_BATCH = Layout("(tokens, batch, features)", SWAPPED, usual=False, finding="attention-over-batch")


class FunctionSubject(Subject):
    """A function, as the examination sees it.

    Parameters
    ----------
    function : callable
    roles : dict of str to str
        By argument's name.
    framework, name : str
    numbers : dict of str to float, optional
        The attributes of a module without matrices, whose function this is.
    inputs : dict, optional
        What further arguments get.
    """

    kind = "function"
    has_own_sizes = False

    def __init__(self, function, roles, framework, name, numbers=(), inputs=None):
        super().__init__(name, function, framework, Arguments(function, roles, inputs))
        self.numbers = dict(numbers)
        self.has_matrices = self.arguments.has("W_V") or self.arguments.has("W_Q")
        # Queries, keys and values beside matrices are sequences of tokens, which it projects.
        self.has_tokens = self.arguments.has("X") or (self.has_matrices and self.arguments.has("queries"))
        # Beside matrices of ours, the code itself may say how many heads it cuts them into.
        self.fixed = heads.fixed_in(function) if self.has_matrices and not self.arguments.has("n_heads") else {}
        self.output_place = None  # among the arrays that come back
        self.meanings = mask_formats.AGREED + mask_formats.documented(function)
        if self.arguments.must_give("mask"):  # then none has a meaning that is agreed on: many add it
            self.meanings += mask_formats.ADDED

    @functools.cached_property
    def fillings(self):
        return self.arguments.fillings(self.meanings_of)

    @functools.cached_property
    def source(self):
        return mask_formats.source_with_helpers(self.function)

    @property
    def precisions(self):
        return {"torch": ("float16", "bfloat16"), "numpy": ("float16",)}.get(self.framework, ())

    # ---- what is asked -----------------------------------------------------------------------

    @property
    def layouts(self):
        """The ways in which it can be read; the first is what the convention says."""
        sequence = Layout("one sequence at a time", loops=True)
        if self.has_tokens:
            return [Layout("(batch, tokens, features)"), sequence, _OVER_BATCH]
        if self.arguments.has("n_heads"):
            joined = Layout("(batch, tokens, heads * d_head), with a number of heads", joined=True)
            return [joined, Layout("(tokens, heads * d_head), with a number of heads", loops=True, joined=True)]
        return [
            Layout("(batch, heads, tokens, d_head)"),
            Layout("(batch, tokens, d_head)", HEADLESS, heads=False),
            Layout("(batch, tokens, heads, d_head)", TOKENS_BEFORE_HEADS, usual=False),
            Layout("(heads, tokens, d_head), one sequence at a time", loops=True),
            Layout("(tokens, d_head), one sequence at a time", HEADLESS, loops=True, heads=False),
        ]

    def n_heads_in(self, layout):
        return self.fixed.get("n_heads", 2) if self._several_heads(layout) else 1

    def _several_heads(self, layout):
        if "n_heads" in self.fixed:
            return True
        return layout.heads and (not self.has_matrices or self.arguments.has("n_heads"))

    def fitted(self, question):
        """The question in the sizes that its own code fixes; it takes any others."""
        sizes = {name: self.fixed[name] for name in ("n_heads", "d_head") if name in self.fixed}
        return question.but(question.trait, **sizes) if sizes else question

    def plain_questions(self, layout):
        asked = list(questions.PLAIN)
        if self.arguments.is_cross:
            asked += questions.CROSS
        if self.has_tokens and self.arguments.has("values"):
            asked.append(questions.Question("three sequences", 3, 4, 2, 4, n_keys=6, three=True, seed=12))
        if not self._several_heads(layout):
            asked = [question.but(question.trait, n_heads=1) for question in asked]
        return [self.fitted(question) for question in asked]

    def mask_question(self, layout, kind):
        return self.fitted(questions.Question(kind or "a batch", 3, 5, self.n_heads_in(layout), 4, mask=kind, seed=20))

    def case(self, layout, question):
        question = self.fitted(question)
        case = self._with_tokens(question) if self.has_tokens else self._with_heads(question)
        return case.changed(
            n_heads=question.n_heads,
            allowed=questions.allowed(question, question.n_heads),
            second_allowed=questions.second_allowed(question, question.n_heads),
            is_causal=question.is_causal,
        )

    @staticmethod
    def _with_heads(question):
        """Queries, keys and values that are cut into heads already."""
        n_heads, d_head = question.n_heads, question.d_head
        queries, keys, values = (
            question.spread * 1.25 * question.draws(letter, question.batch, n_heads, n_tokens, d_head)
            for letter, n_tokens in (("Q", question.n_queries), ("K", question.keys), ("V", question.keys))
        )
        if question.negative:
            queries, keys = queries + 30, keys - 30 * d_head**-0.5
        return Input(heads=(queries, keys, values), n_kv_heads=n_heads)

    def _with_tokens(self, question):
        """Token vectors, and those of the four matrices that are among the arguments."""
        width, n_kv_heads = question.n_heads * question.d_head, self._n_kv_heads(question.n_heads)
        case, matrices = self.token_vectors(question, width, width, width), self._matrices(question, width, n_kv_heads)
        if question.negative and {"Q", "K"} <= set(matrices) and n_kv_heads == question.n_heads:
            matrices["K"] = 0.05 * matrices["K"] - matrices["Q"]
            shifted = case.X + 30
            case = case.changed(X=shifted, context=shifted)
        return case.changed(matrices=matrices, n_kv_heads=n_kv_heads)

    def _matrices(self, question, width, n_kv_heads):
        kv_width = n_kv_heads * question.d_head
        shapes = {"Q": (width, width), "K": (width, kv_width), "V": (width, kv_width), "O": (width, width)}
        matrices = {}
        for letter, shape in shapes.items():
            if self.arguments.has(f"W_{letter}"):
                matrices[letter] = question.draws(f"W_{letter}", *shape) * 1.25 / width**0.5
            if self.arguments.has(f"b_{letter}"):
                matrices[f"b_{letter}"] = 0.5 * question.draws(f"b_{letter}", shape[1])
        return matrices

    def _n_kv_heads(self, n_heads):
        if not self.arguments.has("n_kv_heads"):
            return self.fixed.get("n_kv_heads", n_heads)
        return next((n for n in (2, 3, 1) if n_heads % n == 0 and n != n_heads), 1)

    # ---- how it is called --------------------------------------------------------------------

    def call_arguments(self, layout, question, case, mask=None):
        call = super().call_arguments(layout, question, case, mask)
        if call is None:
            return None
        return call | {
            self.arguments.name_of[name if name.startswith("b_") else f"W_{name}"]: matrix
            for name, matrix in case.matrices.items()
        }

    def sources(self, case) -> Mapping[str, np.ndarray]:
        if case.heads is None:
            return super().sources(case)
        return dict(zip(("queries", "keys", "values"), case.heads, strict=True))

    def can_leave_out(self, role):
        return self.has_tokens and role in ("context", "keys", "values") and not self.arguments.must_give(role)

    def packed(self, layout, array):
        return JOINED[0](array) if layout.joined else super().packed(layout, array)

    def pick_output(self, layout, question, case, reply):
        shape = _output_shape(case)
        outputs = {i: unpacked(layout, array, case, shape) for i, array in enumerate(reply.others)}
        places = [i for i, output in outputs.items() if output is not None]
        if not places:
            return Reply(others=reply.others, wrong_shape=tuple(array.shape for array in reply.others))
        if len(places) == 1 and self.output_place is None:
            self.output_place = places[0]
        # Weights may have the output's shape by chance: then the output is where it was when nothing else had it.
        i = self.output_place if self.output_place in places else places[0]
        return Reply(outputs[i], reply.others[:i] + reply.others[i + 1 :], changed=reply.changed)

    def fresh(self):
        return self.function

    def answer_for(self, layout, X):
        if not self.has_tokens:
            return None
        question = self.plain_questions(layout)[0].but("properties", n_queries=4)
        case = self.case(layout, question)
        X = case.X if X is None else X
        return X, self.put(layout, question, case.changed(X=X, context=X)).output

    # ---- what is right in it -----------------------------------------------------------------

    def designs(self):
        """What counts as right: the equation, with a divisor that the constructor was given, and nothing around it."""
        scale = [RIGHT["scale"]]
        for name, number in self.numbers.items():
            if vocabulary.SCALE_SETTING.search(name) and number > 0:
                factors = ((number, f"× {number:g}"), (1 / number, f"/ {number:g}"))
            elif vocabulary.ROOTED_SETTING.search(name) and number > 0:
                factors = ((number**-0.5, f"/ √{number:g}"),)
            else:
                factors = ()
            for factor, words in factors:
                form = scaled_by(lambda case, queries, values, factor=factor: factor)
                scale.append(Form("", "scale", form, f"{words}, its attribute {name}"))
        return {"hide": [RIGHT["hide"], ALWAYS_CAUSAL], "scale": scale}

    def meanings_of(self, role):
        return ("added, -inf hides", "added, -1e9 hides") if role == "bias" else self.meanings

    def trusts(self, layout):
        """The matrices are ours; the heads are, too, unless its own code cuts them as it likes."""
        several = not self.has_matrices or self.arguments.has("n_heads") or "n_heads" in self.fixed
        return several or not vocabulary.SEVERAL_HEADS.search(self.source)


def _output_shape(case):
    """The shape of the output in the equation's axes: as wide as W_O makes it, or else as the values of all heads."""
    if case.heads is not None:
        return *case.heads[0].shape[:3], case.heads[2].shape[-1]
    if "O" in case.matrices:
        return *case.X.shape[:2], case.matrices["O"].shape[1]
    values_width = case.matrices["V"].shape[1] if "V" in case.matrices else case.X.shape[-1]
    return *case.X.shape[:2], values_width * case.n_heads // case.n_kv_heads
