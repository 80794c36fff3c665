"""A function whose matrices, if there are any, are among its arguments."""

import functools
import re

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.calls.errors import CannotBeExaminedError
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
    item_of,
    unpacked,
)
from attention_doctor.subjects.subject import Arguments, converter, with_masks

_OVER_BATCH = Layout("(tokens, batch, features)", SWAPPED, usual=False, finding="attention-over-batch")


SCALE = re.compile(r"scal|temp|divisor", re.I)
D_K = re.compile(r"(d|dim|hidden)_?(k|key|head)$|(head|key)_?(dim|size)$|^dim$", re.I)
SEVERAL = re.compile(r"n_?heads?\b|num_?heads?|multi_?head|split_?heads", re.I)


class FunctionSubject:
    """A function, as the examination sees it."""

    kind = "function"
    unplaced = ()  # its matrices are ours
    more_forms = ()  # mistakes that only this subject can have

    def __init__(self, function, roles, framework, name, numbers=(), inputs=None):
        self.function, self.roles, self.framework, self.name = function, roles, framework, name
        self.numbers = dict(numbers)  # of a module without matrices, whose function this is
        self.given = Arguments(function, roles, inputs)
        self.to_framework = calling.to_framework(framework)
        self.has_matrices = self.given.has("W_V") or self.given.has("W_Q")
        # Queries, keys and values beside matrices are sequences of tokens, which it projects.
        self.has_tokens = self.given.has("X") or (self.has_matrices and self.given.has("queries"))
        # Beside matrices of ours, the code itself may say how many heads it cuts them into.
        self.fixed = heads.fixed_in(function) if self.has_matrices and not self.given.has("n_heads") else {}
        self.output_place = None  # among the arrays that come back
        self.meanings = mask_formats.AGREED + mask_formats.documented(function)
        if self.given.must_give("mask"):  # then none has a meaning that is agreed on: many add it
            self.meanings += mask_formats.ADDED

    @functools.cached_property
    def fillings(self):
        return self.given.fillings(self.meanings_of)

    @property
    def layouts(self):
        """The ways in which it can be read; the first is what the convention says."""
        sequence = Layout("one sequence at a time", loops=True)
        if self.has_tokens:
            return [Layout("(batch, tokens, features)"), sequence, _OVER_BATCH]
        if self.given.has("n_heads"):
            joined = Layout("(batch, tokens, heads * d_head), with a number of heads", joined=True)
            return [joined, Layout("(tokens, heads * d_head), with a number of heads", loops=True, joined=True)]
        return [
            Layout("(batch, heads, tokens, d_head)"),
            Layout("(batch, tokens, d_head)", HEADLESS, heads=False),
            Layout("(batch, tokens, heads, d_head)", TOKENS_BEFORE_HEADS, usual=False),
            Layout("(heads, tokens, d_head), one sequence at a time", loops=True),
            Layout("(tokens, d_head), one sequence at a time", HEADLESS, loops=True, heads=False),
        ]

    @property
    def precisions(self):
        return {"torch": ("float16", "bfloat16"), "numpy": ("float16",)}.get(self.framework, ())

    def n_heads_in(self, layout):
        """How many heads a question with several of them has."""
        return self.fixed.get("n_heads", 2) if self._several_heads(layout) else 1

    def _several_heads(self, layout):
        if "n_heads" in self.fixed:
            return True
        return layout.heads and (not self.has_matrices or self.given.has("n_heads"))

    def meanings_of(self, role):
        if role == "bias":
            return ("added, -inf hides", "added, -1e9 hides")
        return self.meanings

    def unusual_meaning(self, role, how):
        return 0 if how.entries == "lengths" else list(mask_formats.ENTRIES).index(how.entries)

    def mask_question(self, layout, kind):
        """A question in which batch, heads, queries and features differ, with a mask of this kind."""
        heads = self.n_heads_in(layout)
        return self.fitted(questions.Question(kind or "a batch", 3, 5, heads, 4, mask=kind, seed=20))

    def fitted(self, question):
        """The question in sizes that can be asked: a function takes any, unless its own code fixes them."""
        sizes = {name: self.fixed[name] for name in ("n_heads", "d_head") if name in self.fixed}
        return question.but(question.trait, **sizes) if sizes else question

    def designs(self):
        """What counts as right: the equation, with a divisor that the constructor was given, and nothing around it."""
        scale = [RIGHT["scale"]]
        for name, number in self.numbers.items():
            if SCALE.search(name) and number > 0:
                factors = ((number, f"× {number:g}"), (1 / number, f"/ {number:g}"))
            elif D_K.search(name) and number > 0:
                factors = ((number**-0.5, f"/ √{number:g}"),)
            else:
                factors = ()
            for factor, words in factors:
                form = scaled_by(lambda case, queries, values, factor=factor: factor)
                scale.append(Form("", "scale", form, f"{words}, its attribute {name}"))
        return {"hide": [RIGHT["hide"], ALWAYS_CAUSAL], "scale": scale}

    @functools.cached_property
    def source(self):
        return mask_formats.source_with_helpers(self.function)

    def ask_again(self, layout, question):
        return self.ask(layout, question)

    def severity_of(self, name, severity):
        return severity

    def trusts(self, layout, plain):
        """Whether a difference from attention can only be the code's: the matrices are ours, and so are the heads."""
        several = not self.has_matrices or self.given.has("n_heads") or "n_heads" in self.fixed
        return several or not SEVERAL.search(self.source)

    def attention_inside(self):
        """A function is examined as a whole."""
        return []

    def fresh(self):
        """Something to call that has kept nothing."""
        return self.function

    def answer_for(self, layout, X):
        """Put token vectors of one's own: (them, the output), for questions about what moves."""
        question = self.plain_questions(layout)[0].but("properties", n_queries=4)
        case = self.case(layout, question)
        if X is None:
            X = case.X if case.heads is None else case.heads[0][:, 0]
        if case.heads is not None:
            return None
        case = case.changed(X=X, context=X)
        reply = self.put(layout, question, case, None)
        return X, reply.output

    def plain_questions(self, layout):
        asked = list(questions.PLAIN)
        if self.given.is_cross:
            asked += questions.CROSS
        if self.has_tokens and self.given.has("values"):
            asked.append(questions.Question("three sequences", 3, 4, 2, 4, n_keys=6, three=True, seed=12))
        if not self._several_heads(layout):
            asked = [question.but(question.trait, n_heads=1) for question in asked]
        return [self.fitted(question) for question in asked]

    # ---- one question ------------------------------------------------------------------------

    def case(self, layout, question):
        """The question as the equation has it."""
        question = self.fitted(question)
        n_heads, d_head = question.n_heads, question.d_head
        width = n_heads * d_head
        mask = questions.allowed(question, n_heads)
        if not self.has_tokens:
            heads = tuple(
                question.spread * 1.25 * question.draws(letter, question.batch, n_heads, tokens, d_head)
                for letter, tokens in (("Q", question.n_queries), ("K", question.keys), ("V", question.keys))
            )
            if question.negative:
                heads = (heads[0] + 30, heads[1] - 30 * d_head**-0.5, heads[2])
            return Input(heads=heads, n_heads=n_heads, n_kv_heads=n_heads, allowed=mask, is_causal=question.is_causal)
        X = question.spread * question.draws("X", question.batch, question.n_queries, width)
        context, second = X, None
        if question.is_cross and self.given.is_cross:
            context = question.spread * question.draws("context", question.batch, question.keys, width)
        if question.three:
            second = question.spread * question.draws("second", question.batch, question.keys, width)
        kv_heads = self._kv_heads(n_heads)
        kv_width = kv_heads * d_head
        shapes = {"Q": (width, width), "K": (width, kv_width), "V": (width, kv_width), "O": (width, width)}
        matrices = {}
        for letter, shape in shapes.items():
            if self.given.has(f"W_{letter}"):
                matrices[letter] = question.draws(f"W_{letter}", *shape) * 1.25 / width**0.5
            if self.given.has(f"b_{letter}"):
                matrices[f"b_{letter}"] = 0.5 * question.draws(f"b_{letter}", shape[1])
        if question.negative and {"Q", "K"} <= set(matrices) and kv_heads == n_heads:
            matrices["K"] = 0.05 * matrices["K"] - matrices["Q"]
            X = context = X + 30
        return Input(X, context, matrices, n_heads, kv_heads, mask, question.is_causal, second=second)

    def _kv_heads(self, n_heads):
        if not self.given.has("n_kv_heads"):
            return self.fixed.get("n_kv_heads", n_heads)
        return next((n for n in (2, 3, 1) if n_heads % n == 0 and n != n_heads), 1)

    def ask(self, layout, question, how=None):
        """Put a question, with its mask delivered in a certain way."""
        return self.put(layout, question, self.case(layout, question), how)

    def put(self, layout, question, case, how):
        if layout.loops:
            batch = len(case.X if case.heads is None else case.heads[0])
            replies = [self._call(layout, question, item_of(case, i), how) for i in range(batch)]
            wrong = next((reply for reply in replies if reply.output is None), None)
            if wrong is not None:
                return wrong
            return Reply(
                np.concatenate([reply.output for reply in replies]),
                replies[0].others,
                changed=any(reply.changed for reply in replies),
            )
        return self._call(layout, question, case, how)

    def arguments(self, layout, question, case, how):
        """What a call is given, as ndarrays; None where the mask cannot be said in this form."""
        arguments, batch, name_of = {}, 1 if layout.loops else question.batch, self.given.name_of
        if case.heads is not None:
            sources = dict(zip(("queries", "keys", "values"), case.heads, strict=True))
        else:
            values_from = case.context if case.second is None else case.second
            sources = {"X": case.X, "queries": case.X, "context": case.context, "keys": case.context}
            sources["values"] = values_from
        for role, array in sources.items():
            from_context = case.heads is None and role in ("context", "keys", "values")
            if not self.given.has(role) or (from_context and not question.is_cross and not self.given.must_give(role)):
                continue
            packed = JOINED[0](array) if layout.joined else layout.axes[0](array)
            arguments[name_of[role]] = packed[0] if layout.loops else packed
        for name, matrix in case.matrices.items():
            arguments[name_of[name if name.startswith("b_") else f"W_{name}"]] = matrix
        arguments |= self.given.settings(case, start=question.start)
        return with_masks(arguments, self.given, question, case, how, batch)

    def _call(self, layout, question, case, how):
        arguments = self.arguments(layout, question, case, how)
        if arguments is None:
            return Reply(error=CannotBeExaminedError("this mask cannot be said in this form"))
        self.given.note(arguments)
        return self._read(
            layout, case, calling.call(self.function, arguments, converter(self.framework, question.precision))
        )

    def _read(self, layout, case, answer):
        if answer.error is not None:
            return Reply(error=answer.error)
        if case.heads is not None:
            wanted = (*case.heads[0].shape[:3], case.heads[2].shape[-1])
        else:
            width = (
                case.matrices["O"].shape[1]
                if "O" in case.matrices
                else case.matrices["V"].shape[1]
                if "V" in case.matrices
                else case.X.shape[-1]
            )
            wanted = (*case.X.shape[:2], width * case.n_heads // case.n_kv_heads if "O" not in case.matrices else width)
        found = {i: unpacked(layout, array, case, wanted) for i, array in enumerate(answer.arrays)}
        places = [i for i, output in found.items() if output is not None]
        if len(places) == 1 and self.output_place is None:
            self.output_place = places[0]
        if places:  # weights may have the same shape by chance
            i = self.output_place if self.output_place in places else places[0]
            return Reply(found[i], answer.arrays[:i] + answer.arrays[i + 1 :], changed=answer.changed)
        shapes = tuple(array.shape for array in answer.arrays)
        return Reply(others=answer.arrays, wrong_shape=shapes)
