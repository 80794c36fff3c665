"""What is examined, as the examination sees it: something that answers questions in one or several layouts."""

import numpy as np

from mha_helpers.doctor import calling, delivery, questions
from mha_helpers.doctor.equation import Case, compute, fits
from mha_helpers.doctor.layouts import (
    HEADLESS,
    JOINED,
    SWAPPED,
    TOKENS_BEFORE_HEADS,
    Layout,
    Reply,
    item_of,
    unpacked,
)
from mha_helpers.doctor.signature import CannotBeExaminedError, parameters_of

_OVER_BATCH = Layout("(tokens, batch, features)", SWAPPED, usual=False, finding="attention-over-batch")


class FunctionSubject:
    """A function whose matrices, if there are any, are among its arguments."""

    kind = "function"

    def __init__(self, function, roles, framework):
        self.function, self.roles, self.framework = function, roles, framework
        self.name = calling.name_of(function)
        self.by_role = {}
        for name, role in roles.items():
            if role:
                self.by_role.setdefault(role, name)
        self.to_framework = calling.to_framework(framework)
        self.has_matrices = "W_V" in self.by_role or "W_Q" in self.by_role
        self.output_place = None  # among the arrays that come back
        self.blank = None  # how a mask that must be given, and hides nothing, is given
        self.meanings = delivery.AGREED + delivery.documented(function)

    def has(self, role):
        return role in self.by_role

    @property
    def is_cross(self):
        return self.has("context") or self.has("keys")

    @property
    def layouts(self):
        """The ways in which it can be read; the first is what the convention says."""
        sequence = Layout("one sequence at a time", loops=True)
        if self.has("X"):
            return [Layout("(batch, tokens, features)"), sequence, _OVER_BATCH]
        if self.has("n_heads"):
            joined = Layout("(batch, tokens, heads * d_head), with a number of heads", joined=True)
            return [joined, Layout("(tokens, heads * d_head), with a number of heads", loops=True, joined=True)]
        return [
            Layout("(batch, heads, tokens, d_head)"),
            Layout("(batch, tokens, d_head)", HEADLESS, heads=False),
            Layout("(batch, tokens, heads, d_head)", TOKENS_BEFORE_HEADS, usual=False),
            Layout("(heads, tokens, d_head), one sequence at a time", loops=True),
            Layout("(tokens, d_head), one sequence at a time", HEADLESS, loops=True, heads=False),
        ]

    is_torchs_own = False

    @property
    def precisions(self):
        return {"torch": ("float16", "bfloat16"), "numpy": ("float16",)}.get(self.framework, ())

    def n_heads_in(self, layout):
        """How many heads a question with several of them has."""
        return 2 if self._several_heads(layout) else 1

    def _several_heads(self, layout):
        return layout.heads and (not self.has_matrices or self.has("n_heads"))

    def blanks(self):
        """Ways to give a mask that hides nothing, where one must be given."""
        for role in ("mask", "padding", "lengths", "bias"):
            if self._must_give(role):
                for how in delivery.deliveries(role, self.meanings_of(role) + delivery.AGREED_IN_NUMBERS):
                    yield self.by_role[role], how

    def meanings_of(self, role):
        if role == "bias":
            return ("added, -inf hides", "added, -1e9 hides")
        return self.meanings

    def unusual_meaning(self, role, how):
        return 0 if how.entries == "lengths" else list(delivery.ENTRIES).index(how.entries)

    def mask_question(self, layout, kind):
        """A question in which batch, heads, queries and features differ, with a mask of this kind."""
        return questions.Question(kind or "a batch", 3, 5, self.n_heads_in(layout), 4, mask=kind, seed=20)

    def fitted(self, question):
        """The question in sizes that can be asked: a function takes any."""
        return question

    def readings_of_right(self, layout, base):
        """What counts as right: the equation, and nothing around it."""
        return [base]

    def more_forms(self):
        """Mistakes that only this subject can have."""
        return []

    def ask_again(self, layout, question):
        return self.ask(layout, question)

    def severity_of(self, name, severity):
        return severity

    def trusts(self, layout, plain):
        """Whether a difference from attention can only be the code's: the matrices are ours."""
        return True

    def further(self, examination):
        """What only functions are asked: whether the output comes first, as is agreed on."""
        first = examination.plain[0]
        if self.output_place and first.output is not None:
            weights = compute(first.case, right=examination.right)[1]
            if any(fits(array, weights) for array in first.reply.others[: self.output_place]):
                examination.add("returns-swapped")

    def answer_for(self, layout, X):
        """Put token vectors of one's own: (them, the output), for questions about what moves."""
        question = self.plain_questions(layout)[0].but("properties", n_queries=4)
        case = self.case(layout, question)
        if X is None:
            X = case.X if case.heads is None else case.heads[0][:, 0]
        if case.heads is not None:
            return None
        case = case.changed(X=X, context=X)
        reply = self._put(layout, question, case, None)
        return X, reply.output

    def plain_questions(self, layout):
        asked = list(questions.PLAIN)
        if self.is_cross:
            asked += questions.CROSS
        if not self._several_heads(layout):
            asked = [question.but(question.trait, n_heads=1) for question in asked]
        return asked

    # ---- one question ------------------------------------------------------------------------

    def case(self, layout, question):
        """The question as the equation has it."""
        n_heads, d_head = question.n_heads, question.d_head
        width = n_heads * d_head
        mask = questions.allowed(question, n_heads)
        if not self.has("X"):
            heads = tuple(
                question.spread * 1.25 * question.draws(letter, question.batch, n_heads, tokens, d_head)
                for letter, tokens in (("Q", question.n_queries), ("K", question.keys), ("V", question.keys))
            )
            if question.negative:
                heads = (heads[0] + 30, heads[1] - 30 * d_head**-0.5, heads[2])
            return Case(heads=heads, n_heads=n_heads, n_kv_heads=n_heads, allowed=mask, is_causal=question.is_causal)
        X = question.spread * question.draws("X", question.batch, question.n_queries, width)
        context = X
        if question.is_cross and self.has("context"):
            context = question.spread * question.draws("context", question.batch, question.keys, width)
        kv_heads = self._kv_heads(n_heads)
        kv_width = kv_heads * d_head
        shapes = {"Q": (width, width), "K": (width, kv_width), "V": (width, kv_width), "O": (width, width)}
        matrices = {}
        for letter, shape in shapes.items():
            if self.has(f"W_{letter}"):
                matrices[letter] = question.draws(f"W_{letter}", *shape) * 1.25 / width**0.5
            if self.has(f"b_{letter}"):
                matrices[f"b_{letter}"] = 0.5 * question.draws(f"b_{letter}", shape[1])
        if question.negative and {"Q", "K"} <= set(matrices) and kv_heads == n_heads:
            matrices["K"] = 0.05 * matrices["K"] - matrices["Q"]
            X = context = X + 30
        return Case(X, context, matrices, n_heads, kv_heads, mask, question.is_causal)

    def _kv_heads(self, n_heads):
        if not self.has("n_kv_heads"):
            return n_heads
        return next((n for n in (2, 3, 1) if n_heads % n == 0 and n != n_heads), 1)

    def ask(self, layout, question, how=None):
        """Put a question, with its mask delivered in a certain way."""
        return self._put(layout, question, self.case(layout, question), how)

    def _put(self, layout, question, case, how):
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
        arguments, batch = {}, 1 if layout.loops else question.batch
        sources = case.heads if case.heads is not None else (case.X, case.context)
        roles = ("queries", "keys", "values") if case.heads is not None else ("X", "context")
        for role, array in zip(roles, sources, strict=True):
            if role not in self.by_role or (role == "context" and not question.is_cross and not self._must_give(role)):
                continue
            packed = JOINED[0](array) if layout.joined else layout.axes[0](array)
            arguments[self.by_role[role]] = packed[0] if layout.loops else packed
        for name, matrix in case.matrices.items():
            arguments[self.by_role[name if name.startswith("b_") else f"W_{name}"]] = matrix
        arguments |= self._settings(case)
        if question.mask is not None and how is not None:
            full = (batch, case.n_heads, question.n_queries, question.keys)
            given = how[1].of(case.allowed, full)
            if given is None:
                return None
            arguments[how[0]] = given
        elif self.blank is not None:
            everything = np.ones((batch, 1, 1, question.keys), bool)
            full = (batch, case.n_heads, question.n_queries, question.keys)
            arguments[self.blank[0]] = self.blank[1].of(everything, full)
        if question.is_causal:
            arguments[self.by_role["is_causal"]] = True
        return arguments

    def _call(self, layout, question, case, how):
        arguments = self.arguments(layout, question, case, how)
        if arguments is None:
            return Reply(error=CannotBeExaminedError("this mask cannot be said in this form"))
        return self._read(layout, case, calling.call(self.function, arguments, self._converter(question)))

    def _converter(self, question):
        if question.precision is None:
            return self.to_framework
        return _in_precision(self.to_framework, self.framework, question.precision)

    def _settings(self, case):
        settings = {}
        for role, value in (
            ("n_heads", case.n_heads), ("n_kv_heads", case.n_kv_heads), ("is_causal", False), ("deterministic", True),
            ("training", False), ("dropout", 0.0), ("mask", None), ("padding", None), ("bias", None), ("lengths", None),
            ("past", None), ("d_model", case.d_model), ("d_head", case.d_model // case.n_heads),
        ):  # fmt: skip
            name = self.by_role.get(role)
            if name and (
                self._must_give(role)
                or (role == "dropout" and self._has_a_number(role))
                or role in ("n_heads", "n_kv_heads", "is_causal", "deterministic", "training")
            ):
                settings[name] = value
        if self._must_give("scale"):
            settings[self.by_role["scale"]] = (case.d_model // case.n_heads) ** -0.5
        return settings

    def _has_a_number(self, role):
        """Whether an argument's default is a number, such as a dropout that is on."""
        found = [p for p in parameters_of(self.function) or () if p.name == self.by_role.get(role)]
        return bool(found) and isinstance(found[0].default, float)

    def _must_give(self, role):
        return role in self.by_role and self.by_role[role] in self.required

    @property
    def required(self):
        return [p.name for p in parameters_of(self.function) or () if p.default is p.empty]

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


def _in_precision(to_framework, framework, precision):
    def convert(array):
        converted = to_framework(array)
        if array.dtype.kind != "f":
            return converted
        if framework == "torch":
            import torch

            return converted.to(getattr(torch, precision))
        if framework == "numpy" and precision == "float16":
            return array.astype(np.float16)
        return converted.astype(precision) if hasattr(converted, "astype") else converted

    return convert
