"""A module or layer with parameters of its own, as the examination sees it."""

import copy
import functools

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.equation import trial_inputs as questions
from attention_doctor.equation.stages import RIGHT
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.names import DESIGN
from attention_doctor.readers import latent, mask_formats, norms_and_residuals, positions
from attention_doctor.readers.heads import numbers_of_heads, widths_of_heads
from attention_doctor.readers.layouts import Reply
from attention_doctor.readers.parameter_orders import PRODUCT
from attention_doctor.readers.parameters import spare_units, units_of
from attention_doctor.subjects.arguments import Arguments
from attention_doctor.subjects.module_designs import is_by_design
from attention_doctor.subjects.module_layouts import ModuleLayouts
from attention_doctor.subjects.module_numbers import set_numbers
from attention_doctor.subjects.module_sizes import N_TOKENS, find_sizes
from attention_doctor.subjects.subject import Subject

MAX_CACHED, MAX_CASES = 8, 40
MAX_FILLINGS, MAX_WIDTHS = 24, 3


class ModuleSubject(Subject):
    """A module: its matrices are its own, and so is its number of heads.

    Parameters
    ----------
    adapter : object
        How a module of its framework is found, changed and run.
    roles : dict of str to str
        By argument's name.
    inputs : dict, optional
        What further arguments get.

    Raises
    ------
    CannotBeExaminedError
        If it has no matrices, or takes no tokens.
    """

    kind = "module"
    has_own_sizes = True

    def __init__(self, adapter, roles, inputs=None):
        super().__init__(adapter.name, adapter, adapter.framework, Arguments(adapter.signature_of, roles, inputs))
        self.adapter = adapter
        self.source = adapter.source()
        self.parameters = adapter.parameters()
        self.units = units_of(self.parameters)
        if not self.units:
            raise CannotBeExaminedError(f"{self.name} has no matrices among its parameters")
        self.latent = latent.pieces_of(self.units)
        self.set_to_zero = []  # learnt positions
        self.mixes_no_heads, self.unused = [], []  # what is set so, and what its answer doesn't depend on
        self.spreads = {item.path: float(item.value.std()) for item in self.parameters if item.kind == "matrix"}
        self._designs, self._replies, self._batches = {}, {}, {}
        # The last few alone are kept, as they may be large.
        self._matrices = functools.lru_cache(MAX_CACHED)(lambda make: make(self.values))
        self._cases = functools.lru_cache(MAX_CASES)(self._make_case)
        self._projected = functools.cache(self._project)
        self._in_half = functools.cache(adapter.in_precision) if hasattr(adapter, "in_precision") else None
        self.sizes = find_sizes(self)
        set_numbers(self)

    @property
    def d_model(self):
        return self.sizes.d_model

    @property
    def precisions(self):
        return getattr(self.adapter, "precisions", ())

    @property
    def always_cross(self):
        """Whether keys and values have other widths than queries, so that they cannot be the same vectors."""
        return self.sizes.keys_width not in (None, self.d_model) or self.sizes.values_width is not None

    @property
    def unplaced(self):
        """Parameters that are none of attention's four matrices; a norm's may stand anywhere around it."""
        spare = set() if self.latent else {path for unit in spare_units(self.units) for path in unit.paths}
        return [
            item
            for item in self.parameters
            if (item.path not in self.placed or item.path in spare)
            and not (self.latent and "norm" in item.path.lower())
            and item.path not in (*self.set_to_zero, *self.mixes_no_heads, *self.unused)
        ]

    # ---- how its required arguments are filled -----------------------------------------------

    @functools.cached_property
    def required_fillings(self):
        return self._fillings(optional=False)

    @functools.cached_property
    def optional_fillings(self):
        """With masks that are optional by the signature: some code stops without them."""
        return self._fillings(optional=True)

    def _fillings(self, optional):
        numbers = self.adapter.numbers()
        sizes = {size for unit in self.units for size in unit.shape}
        n_heads = numbers_of_heads(numbers, self.units)[0]
        widths = [
            *positions.rotated_parts(numbers),
            *widths_of_heads(numbers),
            *(size // n for size in sorted(sizes) for n in n_heads if n > 1),
        ]
        return self.arguments.fillings(self.meanings_of, list(dict.fromkeys(widths))[:MAX_WIDTHS], optional)

    @functools.cached_property
    def fillings(self):
        """The fillings with which it runs and gives numbers, that of the first successful call first.

        Code often runs with several forms of a rotary table or a mask, and is right with one of them.
        """
        layout, first = self.layouts[0], self.arguments.filling
        question, run = self.plain_questions(layout)[0], [first]
        case = self.case(layout, question)
        group = self.required_fillings if first in self.required_fillings else self.optional_fillings
        for filling in group[group.index(first) + 1 :]:
            self.arguments.filling = filling
            reply = self._call(layout, question, case, None)
            if reply.error is None and all(np.isfinite(array).all() for array in reply.others):
                run.append(filling)
        self.arguments.filling = first
        return run[:MAX_FILLINGS]

    # ---- what is asked -----------------------------------------------------------------------

    @functools.cached_property
    def layouts(self):
        return ModuleLayouts(self).all()

    def n_heads_in(self, layout):
        return layout.n_heads

    def fitted(self, question):
        """With the one number of tokens that it takes, where there is only one."""
        n_tokens = self.sizes.n_tokens
        if n_tokens is None:
            return question
        return question.but(question.trait, n_queries=n_tokens, n_keys=n_tokens if question.n_keys else None)

    def plain_questions(self, layout):
        n_heads = layout.n_heads
        asked = [
            questions.Question("a batch", 2 if n_heads != 2 else 3, 5),
            questions.Question("as many samples as heads", max(n_heads, 2), 4, seed=1),
            questions.Question("one sequence", 1, 6, seed=2),
        ]
        if self.sizes.n_tokens is None:
            asked += [
                questions.Question("one token", 2, 1, seed=5),
                questions.Question("80 tokens", 1, 80, seed=6),
                questions.Question("150 tokens", 1, 150, seed=10),
            ]
        if self.arguments.is_cross:
            asked += [
                questions.Question("as many keys from another sequence", 2, 5, n_keys=5, seed=11),
                questions.Question("more keys than queries", 2, 4, n_keys=7, seed=7),
            ]
            if self.arguments.has("values"):
                asked.append(questions.Question("three sequences", 3, 4, n_keys=6, three=True, seed=8))
        return [self.fitted(question) for question in asked]

    def mask_question(self, layout, kind):
        batch = next((n for n in (3, 4, 5) if n != layout.n_heads and self._takes(n)), 2)
        n_tokens = next(n for n in (5, 6, 7) if n not in (layout.n_heads, batch))
        return self.fitted(questions.Question(kind or "a batch", batch, n_tokens, mask=kind, seed=20))

    def _takes(self, batch):
        """Whether it takes so many samples, as a cache of a fixed size may not."""
        if batch not in self._batches:
            question = self.fitted(questions.Question("samples", batch, N_TOKENS))
            reply = self.answer(self.layouts[0], question, self.unweighted_case(question))
            self._batches[batch] = reply.error is None
        return self._batches[batch]

    @functools.cached_property
    def mask_shapes(self):
        """The shapes of masks that may be tried: what hands its mask on to PyTorch's own layer takes that one's.

        Others broadcast there by chance, and then mean something else.
        """
        inside = vocabulary.TORCHS_OWN_LAYER.search(self.source)
        return ("(queries, keys)", "(batch * heads, queries, keys)") if inside else tuple(mask_formats.SHAPES)

    # ---- its numbers -------------------------------------------------------------------------

    def unweighted_case(self, question):
        """The question's token vectors, without matrices."""
        keys_width = self.sizes.keys_width or self.d_model
        return self.token_vectors(question, self.d_model, keys_width, self.sizes.values_width or keys_width)

    def matrices_of(self, layout):
        """The parameters as this layout reads them."""
        return self._matrices(layout.matrices)

    def case(self, layout, question):
        """The question as the equation has it, the same in every layout that reads the parameters alike."""
        return self._cases(layout.matrices, layout.n_heads, layout.n_kv_heads, question)

    def _make_case(self, matrices, n_heads, n_kv_heads, question):
        return self.unweighted_case(question).changed(
            matrices=self._matrices(matrices), n_heads=n_heads, n_kv_heads=n_kv_heads,
            allowed=questions.allowed(question, n_heads), is_causal=question.is_causal,
            second_allowed=questions.second_allowed(question, n_heads),
        )  # fmt: skip

    def quick_case(self, layout, question):
        """The question with what queries, keys and values are cut from projected already; None where that can't be.

        Readings of the parameters cut the same products in other ways, which takes a small part of the time: a module
        768 wide has hundreds of readings.
        """
        if question.is_cross or self.always_cross or PRODUCT in layout.name:  # its keys are the tokens themselves
            return None
        if not self._has_a_unit_for_each_role():
            return None
        case = self.unweighted_case(question).changed(n_heads=layout.n_heads, n_kv_heads=layout.n_kv_heads)
        case.matrices = layout.matrices(self.values | self._projected(question))
        for letter in set("QKV") & set(case.matrices):
            rows = case.matrices[letter].reshape(*case.X.shape[:-1], -1)
            case.kept[letter, "X", None] = rows + case.bias_of(letter)
        return case

    def _has_a_unit_for_each_role(self):
        """Whether each matrix but W_O has a role of its own, and takes tokens."""
        units = [unit for unit in self.units if unit.role != "O"]
        are_known = all(unit.role and unit.input_width == self.d_model for unit in units)
        return are_known and len({unit.role for unit in units}) == len(units)

    def _project(self, question):
        """The question's tokens times each matrix but W_O, by the matrix's path."""
        X, rows = self.unweighted_case(question).X.reshape(-1, self.d_model), {}
        for unit in self.units:
            for path in unit.paths if unit.role != "O" else ():
                turned = unit.orientation == "outputs by inputs"
                rows[path] = self.values[path] @ X.T if turned else X @ self.values[path]
        return rows

    # ---- how it is called --------------------------------------------------------------------

    def ask(self, layout, question, mask=None):
        """The same call has the same answer in every reading of the parameters: it is made once."""
        if question.mask is not None:
            return super().ask(layout, question, mask)
        key = (id(layout.axes), layout.loops, question, mask, self.arguments.filling)
        if key not in self._replies:
            self._replies[key] = self.answer(layout, question, self.case(layout, question), mask)
        reply = self._replies[key]
        return reply if reply.error is not None else self._of_a_width(layout, question, reply)

    def can_leave_out(self, role):
        if self.arguments.must_give(role):
            return False
        if role == "context":
            return self.sizes.keys_width is None
        return role in ("keys", "values") and self.arguments.has("X")

    def in_precision(self, precision):
        return self.adapter if precision is None else self._in_half(precision)

    def pick_output(self, layout, question, case, reply):
        return self._of_a_width(layout, question, reply)

    def _of_a_width(self, layout, question, reply):
        """The output is the first array of a width that the layout expects, the likely width first."""
        for width in dict.fromkeys((*layout.widths, self.d_model)):
            for i, array in enumerate(reply.others):
                turned = layout.axes[1](array) if array.ndim > 2 else array
                if turned.shape == (question.batch, question.n_queries, width):
                    return Reply(turned, reply.others[:i] + reply.others[i + 1 :], changed=reply.changed)
        return Reply(None, reply.others, None, reply.changed, tuple(array.shape for array in reply.others))

    def fresh(self):
        """A copy, where one can be made."""
        try:
            return copy.deepcopy(self.adapter)
        except Exception:  # somebody's own: a lock, an open file
            return self.adapter

    def answer_for(self, layout, X):
        if self.always_cross:
            return None  # what is a token's own, and what another's, isn't known
        question = self.plain_questions(layout)[0]
        case = self.unweighted_case(question)
        if X is not None:
            case = case.changed(X=X, context=X)
        question = question.but("properties", batch=len(case.X), n_queries=case.X.shape[1])
        return case.X, self.put(layout, question, case).output

    # ---- what is right in it -----------------------------------------------------------------

    def designs(self):
        """Positions that it may bring along, and what may be added around attention, beside the plain forms."""
        table = self.arguments.filling.table
        if table not in self._designs:
            around = latent.designs(self) if self.latent else norms_and_residuals.of(self, positions.rotations(self))
            more = positions.of(self)
            if table is not None and around["place"][1:]:  # a table that it gets is for use
                around["place"] = around["place"][1:]
            self._designs[table] = around | {
                "scale": around["scale"] + more["scale"],
                "softmax": more["softmax"],
                "hide": [RIGHT["hide"], ALWAYS_CAUSAL, *more["hide"]],
            }
        return self._designs[table]

    @functools.cached_property
    def more_forms(self):
        return positions.mistakes(self)

    def meanings_of(self, role):
        if role == "bias":
            return ("added, -inf hides", "added, -1e9 hides", *mask_formats.EVERY_MEANING[:-2])
        return mask_formats.EVERY_MEANING

    def severity_of(self, name, severity):
        return DESIGN if is_by_design(self, name) else severity

    def trusts(self, layout):
        """All parameters have a place, by their names."""
        return layout.usual and not self.unplaced and not positions.hints(self)

    def attention_inside(self):
        inside = self.adapter.inside()
        owners = {path.rpartition(".")[0] for path in inside}  # a layer with parameters alone is none
        return [
            f"`.{path}`"
            for path in inside
            if vocabulary.ATTENTION_INSIDE.search(path.rpartition(".")[2]) and path in owners
        ][:2]
