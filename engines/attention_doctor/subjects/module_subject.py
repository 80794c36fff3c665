"""A module or layer with parameters of its own, as the examination sees it."""

import copy
import functools
import itertools
import re
from dataclasses import replace

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.equation import trial_inputs as questions
from attention_doctor.equation.stages import RIGHT, Input
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.names import DESIGN
from attention_doctor.readers import latent, mask_formats, norms_and_residuals, positions
from attention_doctor.readers.heads import numbers_of_heads, widths_of_heads
from attention_doctor.readers.layouts import SAME, SWAPPED, Layout, Lazily, Reply, item_of
from attention_doctor.readers.parameter_orders import PRODUCT, parameter_orders
from attention_doctor.readers.parameters import spare_units, units_of
from attention_doctor.readers.signature import not_known
from attention_doctor.subjects.subject import Arguments, converter, with_masks

RELATIVE = re.compile(r"relative_att|relative_pos|position_bias")
POSITIONS = re.compile(r"rel(ative)?_?(pos|bias|emb|k|v|att)|pos(ition)?s?_?(emb|bias|enc|table)|bias_table", re.I)
MIXES = re.compile(r"talk|(^|\.)proj_[lw](\.|$)|mix|(pre|post)_?softmax|re_?att", re.I)  # heads with heads
ADAPTERS = re.compile(r"lora_?[ab]?\b|adapter", re.I)  # what they add is 0 to begin with
INSIDE = re.compile(r"^(\w*att(n|ention)?\w*|mha)$", re.I)
LENGTHS = re.compile(r"(seq|block|context|max|n_ctx|length|len|tokens|positions|patches|window)", re.I)
CHANNELS_FIRST = (lambda array: array.swapaxes(1, 2), lambda array: array.swapaxes(1, 2) if array.ndim == 3 else array)
IMAGE = (
    lambda array: array.swapaxes(1, 2)[:, :, None],
    lambda array: array[:, :, 0].swapaxes(1, 2) if array.ndim == 4 else array,
)
IMAGE_CHANNELS_LAST = (lambda array: array[:, None], lambda array: array[:, 0] if array.ndim == 4 else array)
AXES = {
    "(batch, tokens, features)": (SAME, False),
    "(tokens, batch, features)": (SWAPPED, False),
    "one sequence at a time": (SAME, True),
    "(batch, features, tokens)": (CHANNELS_FIRST, False),
    "(batch, features, height, width)": (IMAGE, False),
    "(batch, height, width, features)": (IMAGE_CHANNELS_LAST, False),
}
BATCH_FIRST = re.compile(
    r"^\s*(b|bs|bsz|batch|batch_size|n_batch|nb|nbatches)\s*,\s*\w+\s*(,\s*\w+\s*)?=\s*\w+\.(shape|size)", re.I | re.M
)
MAX_CACHED, MAX_CASES = 8, 40
MAX_READINGS, MAX_TRIES, MAX_FILLINGS, MAX_WIDTHS = 400, 600, 24, 3
TOKENS, MAX_TOKENS = 5, 256  # how many are tried first, and at most


def _lengths_in(errors):
    """Numbers of tokens that an error names beside the one that was tried, as the size that it must match."""
    for error in errors:
        found = [int(number) for number in re.findall(r"\d+", str(error))]
        if TOKENS in found:
            yield from (number for number in found if 1 < number <= MAX_TOKENS and number != TOKENS)


def _is_a_gate(one):
    """Whether it multiplies: a single number, or one a head, with further axes to be stretched along."""
    return one.value.size == 1 or one.value.ndim > 2


def _kept(store, key, make, most=MAX_CACHED):
    """What was made for a key; the last few are kept, as they may be large."""
    if key not in store:
        if len(store) >= most:
            store.pop(next(iter(store)))
        store[key] = make()
    return store[key]


class ModuleSubject:
    """A module: its matrices are its own, and its number of heads is given."""

    kind = "module"

    def __init__(self, adapter, roles, inputs=None):
        self.adapter = self.function = adapter
        self.given = Arguments(adapter.signature_of, roles, inputs)
        self.framework = adapter.framework
        self.to_framework = calling.to_framework(adapter.framework)
        self.name = adapter.name
        self.source = adapter.source()
        self.found = adapter.parameters()
        self.units = units_of(self.found)
        if not self.units:
            raise CannotBeExaminedError(f"{self.name} has no matrices among its parameters")
        self.latent = latent.pieces_of(self.units)
        self.other_widths = self.values_width = None  # of keys and values, where they are not that of queries
        self.tokens = None  # where only one number of tokens is taken
        self.response = {}
        self.set_to_zero = []  # learnt positions
        self.mixes_no_heads, self.unused = [], []  # what is set so, and what its answer doesn't depend on
        self.spreads = {match.path: float(match.value.std()) for match in self.found if match.kind == "matrix"}
        self._designs, self._matrices, self._cases, self._rows, self._halves = {}, {}, {}, {}, {}
        self._orders = {}
        self.d_model = self._find_width()
        self._set_numbers()

    # ---- getting to know it ------------------------------------------------------------------

    def _find_width(self):
        """The width of a token: the first width of a matrix with which a call succeeds."""
        sizes = [size for unit in self.units for size in unit.shape]
        counted = sorted(set(sizes), key=lambda size: (-sizes.count(size), size))
        numbers = self.adapter.numbers()
        heads = [n for n in numbers_of_heads(numbers, self.units)[0] if n > 1]
        counted += [size * n for size in counted for n in heads if size * n not in counted]
        if self.latent and (known := self.latent["kv down"].input_width):
            counted = [known]
        lengths = {
            int(n): "window" in name.lower()
            for name, n in numbers.items()
            if LENGTHS.search(name) and 1 < n <= MAX_TOKENS
        }
        squares = [n * n for n, is_window in lengths.items() if is_window and n <= 16]  # a window's side
        tokens = list(dict.fromkeys((TOKENS, *lengths, *squares)))
        errors = []
        widths = (None, *counted) if self.given.is_cross else (None,)

        def told():
            numbers = [n for n in dict.fromkeys(_lengths_in(errors)) if n not in tokens]
            yield from itertools.product(numbers[:MAX_WIDTHS], self._fillings[:1], counted, widths)

        ways = itertools.chain(
            itertools.product(tokens[:1], self._fillings[:1], counted, widths[:1]),
            itertools.islice(itertools.product(tokens, self._fillings[:1], counted, widths), MAX_TRIES),
            told(),
            itertools.islice(itertools.product(tokens, self._fillings, counted, widths), MAX_TRIES),
            itertools.islice(itertools.product(tokens, self._fillings_with_more, counted, widths), MAX_TRIES),
        )
        for count, self.given.filling, width, self.other_widths in ways:
            for values in (None, *counted) if self.other_widths and self.given.has("values") else (None,):
                self.values_width = values
                error = self._try(width, count)
                if error is None:
                    self.tokens = None if count == TOKENS else count
                    return width
                errors.append(error)
        first = errors[0]
        if self.given.unknown:
            raise CannotBeExaminedError(not_known(self.given.unknown))
        raise CannotBeExaminedError(
            f"{self.name} took no tokens of any width that its parameters have: {type(first).__name__}: {first}"
        )

    @functools.cached_property
    def _fillings(self):
        return self._filled(optional=False)

    @functools.cached_property
    def _fillings_with_more(self):
        """With masks that need not be given by the signature: some code stops without them."""
        return self._filled(optional=True)

    def _filled(self, optional):
        numbers = self.adapter.numbers()
        sizes = {size for unit in self.units for size in unit.shape}
        heads = numbers_of_heads(numbers, self.units)[0]
        widths = [
            *positions.rotated_parts(numbers),
            *widths_of_heads(numbers),
            *(size // n for size in sorted(sizes) for n in heads if n > 1),
        ]
        return self.given.fillings(self.meanings_of, list(dict.fromkeys(widths))[:MAX_WIDTHS], optional)

    @functools.cached_property
    def fillings(self):
        """The fillings with which it runs, that of the first call first."""
        used, question = self.given.filling, self.plain_questions(self.layouts[0])[0]
        run = [used]
        group = self._fillings if used in self._fillings else self._fillings_with_more
        for filling in group[group.index(used) + 1 :]:
            self.given.filling = filling
            reply = self._call(self.layouts[0], question, self.case(self.layouts[0], question), None)
            if reply.error is None and all(np.isfinite(array).all() for array in reply.others):
                run.append(filling)
        self.given.filling = used
        return run[:MAX_FILLINGS]

    def _try(self, width, count):
        first = None
        for name, (axes, loops) in AXES.items():
            question = questions.Question("a batch", 2, count)
            self.d_model = width
            reply = self._answer(Layout(name, axes, loops), question, self._plain_case(question), None)
            if reply.error is None:
                return None
            first = first or reply.error
        return first

    def _set_numbers(self):
        """Numbers on which mistakes show: as if it had been trained, not as it was set up."""
        rng = np.random.default_rng(17)
        self.units = [
            unit
            for unit in self.units
            if not any(POSITIONS.search(path) or ADAPTERS.search(path) for path in unit.paths)
        ] or self.units
        self.units = [unit for unit in self.units if not self._mixes_heads(unit)] or self.units
        values, placed = {}, {path for unit in self.units for path in (*unit.paths, *unit.biases)}
        for match in self.found:
            if match.path in self.mixes_no_heads:
                identity = np.eye(len(match.value)) if match.value.ndim > 1 else np.zeros(len(match.value))
                values[match.path] = identity.reshape(match.value.shape)
            elif match.path in placed and match.kind == "matrix":
                values[match.path] = rng.normal(size=match.value.shape) * 1.25 / self.d_model**0.5
            elif match.path in placed:
                values[match.path] = 0.5 * rng.normal(size=match.value.shape)
            elif match.kind == "norm":
                centre = (
                    1
                    if "weight" in match.path.rpartition(".")[2] or "scale" in match.path or "gamma" in match.path
                    else 0
                )
                values[match.path] = centre + 0.3 * rng.normal(size=match.value.shape)
            elif vocabulary.SINKS.search(match.path):
                values[match.path] = rng.normal(size=match.value.shape)
            elif not match.value.any() and match.value.size == max(match.value.shape, default=1) and _is_a_gate(match):
                values[match.path] = np.ones_like(match.value)  # a gate that is shut lets nothing be seen
            elif POSITIONS.search(match.path) or ADAPTERS.search(match.path):
                values[match.path] = np.zeros_like(match.value)  # what is left is attention without it
                self.set_to_zero.append(match.path)
        self.adapter.set(values)
        self.found = self.adapter.parameters()
        self.units = [replace(unit, biases=()) if self._is_unused(unit.biases) else unit for unit in self.units]
        self._leave_out_unused()
        # Stored so that a matrix of a layer, turned to inputs by outputs, is read row after row.
        self.values = {item.path: item.value.astype(np.float64, order="F") for item in self.found}
        self.placed = placed

    def _mixes_heads(self, unit):
        """Whether it mixes heads with heads (talking heads): then it is set so that it mixes none."""
        square = len(unit.shape) > 1 and unit.shape[0] == unit.shape[1] and np.prod(unit.shape[2:], initial=1) == 1
        n_heads, _ = numbers_of_heads(self.adapter.numbers(), self.units)
        if not (square and unit.shape[0] in n_heads and MIXES.search(unit.paths[0])):
            return False
        self.mixes_no_heads += [*unit.paths, *unit.biases]
        return True

    def _leave_out_unused(self):
        """Matrices beyond the four may be left over from an earlier version: what is never used says nothing."""
        roles = "".join(unit.role for unit in self.units)
        if self.latent or (len(roles) == len(set(roles)) and all(unit.role for unit in self.units)):
            return
        for unit in self.units:
            if unit.role != "O" and self._changes_nothing(unit.paths):
                self.unused += [*unit.paths, *unit.biases]
        self.units = [unit for unit in self.units if unit.paths[0] not in self.unused]

    def _is_unused(self, biases):
        """Whether an object holds biases that its answer doesn't depend on: as many plain classes do."""
        return bool(self.framework == "numpy" and biases and self._changes_nothing(biases))

    def _changes_nothing(self, paths):
        question = self.fitted(questions.Question("a batch", 2, 5))
        before = {match.path: match.value for match in self.found if match.path in paths}
        answers = []
        for factor in (1, 3):
            self.adapter.set({path: factor * value for path, value in before.items()})
            for axes, loops in AXES.values():
                reply = self._answer(Layout("", axes, loops), question, self._plain_case(question), None)
                if reply.error is None:
                    answers.append(reply.others)
                    break
        self.adapter.set(before)
        return len(answers) == 2 and all(map(np.array_equal, *answers))

    @property
    def unplaced(self):
        """Parameters that are none of attention's four matrices; a norm's may stand anywhere around it."""
        spare = set() if self.latent else {path for unit in spare_units(self.units) for path in unit.paths}
        return [
            match
            for match in self.found
            if (match.path not in self.placed or match.path in spare)
            and not (self.latent and "norm" in match.path.lower())
            and match.path not in (*self.set_to_zero, *self.mixes_no_heads, *self.unused)
        ]

    def attention_inside(self):
        """Modules inside that seem to be attention, where this is more than that."""
        inside = self.adapter.inside()
        owners = {path.rpartition(".")[0] for path in inside}  # a layer with parameters alone is none
        return [f"`.{path}`" for path in inside if INSIDE.search(path.rpartition(".")[2]) and path in owners][:2]

    # ---- layouts -----------------------------------------------------------------------------

    @functools.cached_property
    def layouts(self):
        found = Lazily(itertools.islice(self._make_layouts(), MAX_READINGS))
        if next(iter(found), None) is None:
            paths = ", ".join(match.path for match in self.found[:8])
            raise CannotBeExaminedError(f"{self.name}'s parameters ({paths}) cannot be read as those of attention")
        return found

    def _make_layouts(self):
        if self.latent:
            yield from self._latent_layouts()
            return
        flags = self.adapter.flags()
        order = list(AXES)
        if flags.get("batch_first") is False:
            order = [order[1], order[0], order[2]]
        likely, possible = numbers_of_heads(self.adapter.numbers(), self.units)
        # The most usual readings of all numbers of heads first, then the others: there may be very many.
        for plain in (True, False):
            for n_heads, axes in itertools.product([*likely, *possible], order):
                transform, loops = AXES[axes]
                for reading in self._readings(n_heads):
                    if reading.usual != plain:
                        continue
                    words = f"{axes}, {n_heads} head{'s' * (n_heads > 1)}" + f", {reading.name}" * bool(reading.name)
                    usual = plain and axes == self._first_axes(order) and n_heads in likely
                    finding = reading.finding or (
                        "attention-over-batch"
                        if axes == order[1] and order[0] == "(batch, tokens, features)" and self._says_batch_first()
                        else ""
                    )
                    yield Layout(
                        words,
                        transform,
                        loops,
                        matrices=reading.make,
                        n_heads=n_heads,
                        n_kv_heads=reading.n_kv_heads,
                        widths=reading.widths,
                        usual=usual,
                        finding=finding,
                    )

    def _latent_layouts(self):
        """Latent attention, in the usual order of axes: how its parameters are cut is a design of its own."""
        unit = latent.output_of(self.units, self.latent)

        def make(values):
            if unit is None:
                return {}
            bias = unit.bias(values)
            return {"O": unit.matrix(values, unit.orientation or "outputs by inputs")} | (
                {} if bias is None else {"b_O": bias}
            )

        likely, possible = numbers_of_heads(self.adapter.numbers(), self.units)
        for n_heads, axes in itertools.product([*likely, *possible], list(AXES)[:3]):
            words, (transform, loops) = f"{axes}, {n_heads} heads, latent attention (MLA)", AXES[axes]
            yield Layout(
                words, transform, loops, matrices=make, n_heads=n_heads, n_kv_heads=n_heads, widths=(self.d_model,),
                usual=n_heads in likely,
            )  # fmt: skip

    def _readings(self, n_heads):
        return _kept(
            self._orders, n_heads, lambda: list(parameter_orders(self.units, self.values, n_heads, self.d_model)),
        )  # fmt: skip

    def _first_axes(self, order):
        """The first way to hand over tokens in which anything of a fitting shape comes back."""
        for axes in order:
            transform, loops = AXES[axes]
            question = self.fitted(questions.Question("a batch", 2, 5))
            layout = Layout(axes, transform, loops)
            reply = self.response.get((id(transform), loops, question, None)) or self._answer(
                layout, question, self._plain_case(question), None
            )
            self.response[id(transform), loops, question, None] = reply
            if reply.error is None:
                return axes
        return order[0]

    def _says_batch_first(self):
        """Whether its source unpacks a shape with the batch first."""
        return bool(BATCH_FIRST.search(self.source))

    def matrices_of(self, layout):
        """The parameters as this layout reads them."""
        return _kept(self._matrices, layout.matrices, lambda: layout.matrices(self.values))

    # ---- one question ------------------------------------------------------------------------

    def n_heads_in(self, layout):
        return layout.n_heads

    @functools.cached_property
    def mask_shapes(self):
        """The shapes of masks that may be tried: what hands its mask on to PyTorch's own layer takes that one's."""
        inside = re.search(r"\bnn\.MultiheadAttention\(", self.source)
        return ("(queries, keys)", "(batch * heads, queries, keys)") if inside else tuple(mask_formats.SHAPES)

    def unusual_meaning(self, role, how):
        return 0 if how.entries == "lengths" else list(mask_formats.ENTRIES).index(how.entries)

    def plain_questions(self, layout):
        heads = layout.n_heads
        asked = [
            questions.Question("a batch", 2 if heads != 2 else 3, 5),
            questions.Question("as many samples as heads", max(heads, 2), 4, seed=1),
            questions.Question("one sequence", 1, 6, seed=2),
        ]
        if self.tokens is None:
            asked += [
                questions.Question("one token", 2, 1, seed=5),
                questions.Question("80 tokens", 1, 80, seed=6),
                questions.Question("150 tokens", 1, 150, seed=10),
            ]
        if self.given.is_cross:
            cross = [
                questions.Question("as many keys from another sequence", 2, 5, n_keys=5, seed=11),
                questions.Question("more keys than queries", 2, 4, n_keys=7, seed=7),
            ]
            if self.given.has("values"):
                cross.append(questions.Question("three sequences", 3, 4, n_keys=6, three=True, seed=8))
            asked += cross
        return [self.fitted(question) for question in asked]

    def fitted(self, question):
        """With the one number of tokens that it takes, where there is only one."""
        if self.tokens is None:
            return question
        keys = self.tokens if question.n_keys else None
        return question.but(question.trait, n_queries=self.tokens, n_keys=keys)

    def mask_question(self, layout, kind):
        heads = layout.n_heads
        batch = next(n for n in (3, 4, 5) if n != heads)
        tokens = next(n for n in (5, 6, 7) if n not in (heads, batch))
        return self.fitted(questions.Question(kind or "a batch", batch, tokens, mask=kind, seed=20))

    def _plain_case(self, question):
        X = question.spread * question.draws("X", question.batch, question.n_queries, self.d_model)
        if question.alike:
            X = np.repeat(X[:, :1], question.n_queries, axis=1)
        context, second = X, None
        width = self.other_widths or self.d_model
        if question.is_cross or width != self.d_model:
            context = question.spread * question.draws("context", question.batch, question.keys, width)
        if question.three or self.values_width not in (None, width):
            second = question.spread * question.draws(
                "second", question.batch, question.keys, self.values_width or width
            )
        return Input(X, context, {}, second=second)

    @property
    def always_cross(self):
        """Whether keys and values have other widths than queries, so that they cannot be the same vectors."""
        return self.other_widths not in (None, self.d_model) or self.values_width is not None

    def case(self, layout, question):
        """The question as the equation has it, the same in every layout that reads the parameters alike."""

        def make():
            return self._plain_case(question).changed(
                matrices=self.matrices_of(layout), n_heads=layout.n_heads, n_kv_heads=layout.n_kv_heads,
                allowed=questions.allowed(question, layout.n_heads), is_causal=question.is_causal,
            )  # fmt: skip

        return _kept(self._cases, (layout.matrices, question), make, MAX_CASES)

    def quick_case(self, layout, question):
        """The question with what queries, keys and values are cut from projected already, where that can be done.

        Readings of the parameters cut the same products otherwise, which takes a small part of the time.
        """
        units = [unit for unit in self.units if unit.role != "O"]
        is_known = all(unit.role and unit.input_width == self.d_model for unit in units)
        if question.is_cross or self.always_cross or not is_known or len({item.role for item in units}) < len(units):
            return None
        if PRODUCT in layout.name:  # its keys are the tokens themselves
            return None
        case = self._plain_case(question).changed(n_heads=layout.n_heads, n_kv_heads=layout.n_kv_heads)
        if question not in self._rows:
            X, rows = case.X.reshape(-1, self.d_model), {}
            for unit in units:
                for path in unit.paths:
                    turned = unit.orientation == "outputs by inputs"
                    rows[path] = self.values[path] @ X.T if turned else X @ self.values[path]
            self._rows[question] = rows
        case.matrices = layout.matrices(self.values | self._rows[question])
        for letter in set("QKV") & set(case.matrices):
            rows = case.matrices[letter].reshape(*case.X.shape[:-1], -1)
            case.kept[letter, "X", None] = rows + case.bias_of(letter)
        return case

    def ask(self, layout, question, how=None):
        """The same call has the same answer in every reading of the parameters: it is made once."""
        key = (id(layout.axes), layout.loops, question, how, self.given.filling)
        if question.mask is None and key in self.response:
            return self._in_shape(layout, question, self.response[key])
        reply = self._put(layout, question, self.case(layout, question), how)
        self.response[key] = reply
        return self._in_shape(layout, question, reply)

    def ask_again(self, layout, question):
        return self._in_shape(layout, question, self._put(layout, question, self.case(layout, question), None))

    def put(self, layout, question, case, how):
        """Put a question in numbers of one's own, and pick the output."""
        return self._in_shape(layout, question, self._put(layout, question, case, how))

    def _put(self, layout, question, case, how):
        return self._answer(layout, question, case, how)

    def _answer(self, layout, question, case, how):
        if not layout.loops:
            return self._call(layout, question, case, how)
        replies = [self._call(layout, question, item_of(case, i), how) for i in range(question.batch)]
        wrong = next((reply for reply in replies if reply.error is not None or not reply.others), None)
        if wrong is not None:
            return wrong
        arrays = [
            np.stack(arrays)
            for arrays in zip(*(reply.others for reply in replies), strict=False)
            if len({a.shape for a in arrays}) == 1
        ]
        return Reply(None, tuple(arrays), changed=any(reply.changed for reply in replies))

    def arguments(self, layout, question, case, how):
        """What a call is given, as ndarrays; None where the mask cannot be said in this form."""
        arguments, batch = {}, 1 if layout.loops else question.batch
        values_from = case.context if case.second is None else case.second
        for role, array in (
            ("X", case.X),
            ("queries", case.X),
            ("keys", case.context),
            ("values", values_from),
            ("context", case.context),
        ):
            if not self.given.has(role) or (
                role == "context"
                and not question.is_cross
                and self.other_widths is None
                and not self.given.must_give(role)
            ):
                continue
            if (
                role in ("keys", "values")
                and not question.is_cross
                and not self.given.must_give(role)
                and self.given.has("X")
            ):
                continue
            packed = layout.axes[0](array)
            arguments[self.given.name_of[role]] = packed[0] if layout.loops else packed
        settings = self.given.settings(case, own_sizes=True, start=question.start)
        arguments |= {name: value for name, value in settings.items() if name not in arguments}
        return with_masks(arguments, self.given, question, case, how, batch)

    def _call(self, layout, question, case, how):
        arguments = self.arguments(layout, question, case, how)
        if arguments is None:
            return Reply(error=CannotBeExaminedError("this mask cannot be said in this form"))
        self.given.note(arguments)
        function = self.adapter if question.precision is None else self._half(question.precision)
        answer = calling.call(function, arguments, converter(self.framework, question.precision))
        if answer.error is not None:
            return Reply(error=answer.error)
        return Reply(None, answer.arrays, changed=answer.changed)

    def _half(self, precision):
        if precision not in self._halves:
            self._halves[precision] = self.adapter.in_precision(precision)
        return self._halves[precision]

    @property
    def precisions(self):
        return getattr(self.adapter, "precisions", ())

    def _in_shape(self, layout, question, reply):
        """Pick the output from all arrays that came back."""
        if reply.error is not None:
            return reply
        widths = dict.fromkeys((*layout.widths, self.d_model))
        wanted = [(question.batch, question.n_queries, width) for width in widths]
        for shape in wanted:
            for i, array in enumerate(reply.others):
                turned = layout.axes[1](array) if array.ndim > 2 else array
                if turned.shape == shape:
                    return Reply(turned, reply.others[:i] + reply.others[i + 1 :], changed=reply.changed)
        return Reply(None, reply.others, None, reply.changed, tuple(array.shape for array in reply.others))

    # ---- what is right in it -----------------------------------------------------------------

    def designs(self):
        """Positions that it may bring along, and what may be added around attention: {step: forms}."""
        key = self.given.filling.table
        if key not in self._designs:
            around = latent.designs(self) if self.latent else norms_and_residuals.of(self, positions.rotations(self))
            more = positions.of(self)
            if key is not None and around["place"][1:]:  # a table that it is given is for use
                around["place"] = around["place"][1:]
            self._designs[key] = around | {
                "scale": around["scale"] + more["scale"],
                "softmax": more["softmax"],
                "hide": [RIGHT["hide"], ALWAYS_CAUSAL, *more["hide"]],
            }
        return self._designs[key]

    @functools.cached_property
    def more_forms(self):
        """Mistakes that only this subject can have."""
        return positions.mistakes(self)

    def meanings_of(self, role):
        if role == "bias":
            return ("added, -inf hides", "added, -1e9 hides", *mask_formats.EVERY_MEANING[:-2])
        return mask_formats.EVERY_MEANING

    def severity_of(self, name, severity):
        # T5 and others learn a bias for each distance, and leave the scale to the first weights; and a module may be
        # a whole block, which adds its input.
        relative = bool(self.set_to_zero or RELATIVE.search(self.source))
        scaled_before = relative or self._queries_start_small()
        by_design = name == "mha-residual-added" or (name == "scale-missing" and scaled_before)
        by_design |= name == "weights-shared-by-heads" and self._takes_the_mean_of_heads()
        # Built for one sequence: a context that need not be given isn't used.
        by_design |= name == "cross-attends-to-itself" and not self.given.must_give("context")
        # By Keras's convention a call takes `mask=None`, and Keras hands on what it has: nobody need want it.
        by_convention = self.given.name_of.get("mask") == "mask" and not self.given.must_give("mask")
        by_design |= name == "mask-ignored" and self.framework == "keras" and by_convention
        # Who hands over queries, keys and values may have projected them.
        by_design |= name == "mha-no-projections" and self.given.must_give("values")
        return DESIGN if by_design else severity

    def _queries_start_small(self):
        """Whether the first weights of queries are smaller than those of keys, by about the root of a head's width."""
        by_role = {unit.role: unit for unit in self.units if unit.role in ("Q", "K")}
        if len(by_role) < 2 or self.adapter.framework != "jax":  # else nobody may have trained it yet, or drawn anew
            return False
        queries, keys = (self.spreads.get(by_role[role].paths[0], 0) for role in "QK")
        numbers = self.adapter.numbers()
        d_heads = widths_of_heads(numbers) or [self.d_model // n for n in numbers_of_heads(numbers, self.units)[0]]
        return keys > 0 and any(0.85 < queries / keys * d_head**0.5 < 1.15 for d_head in d_heads if d_head > 1)

    def _takes_the_mean_of_heads(self):
        """Whether one matrix of values serves all heads, and W_O takes no more than one head: their mean, as in TFT."""
        by_role = {unit.role or "O": unit for unit in self.units}
        if not {"Q", "V", "O"} <= by_role.keys() or len(by_role["Q"].paths) < 2 or len(by_role["V"].paths) > 1:
            return False
        values, output = (by_role[role].matrix(self.values, by_role[role].orientation) for role in "VO")
        return len(output) == values.shape[1]

    def trusts(self, layout, plain):
        """Whether a difference from attention can only be the code's: all parameters have a place, by their names."""
        return layout.usual and not self.unplaced and not positions.hints(self)

    def fresh(self):
        """Something to call that has kept nothing, where a copy can be made."""
        try:
            return copy.deepcopy(self.adapter)
        except Exception:  # somebody's own: a lock, an open file
            return self.adapter

    def answer_for(self, layout, X):
        if self.always_cross:
            return None  # what is a token's own, and what another's, isn't known
        question = self.plain_questions(layout)[0]
        case = self._plain_case(question)
        if X is not None:
            case = case.changed(X=X, context=X)
        question = question.but("properties", batch=len(case.X), n_queries=case.X.shape[1])
        reply = self._in_shape(layout, question, self._answer(layout, question, case, None))
        return case.X, reply.output
