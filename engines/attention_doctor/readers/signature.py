"""Which argument is which: recognised by name, and by position where only one reading is possible."""

import inspect
import re

from attention_doctor import vocabulary
from attention_doctor.calls.errors import CannotBeExaminedError

MASKS = ("mask", "padding", "lengths", "bias")
# The usual orders of the arguments that must be given.
ORDERS = (
    ("X", "W_Q", "W_K", "W_V", "W_O", "n_heads"),
    ("X", "W_Q", "W_K", "W_V", "W_O"),
    ("X", "W_Q", "W_K", "W_V"),
    ("X", "W_Q", "W_K", "W_V", "n_heads"),
    ("queries", "keys", "values"),
    ("X",),
)


def parameters_of(function):
    """Return the parameters that a caller can give, without `self` and without *args."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = _documented(function)
        if signature is None:
            return None
    kinds = inspect.Parameter
    return [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    ]


def _documented(function):
    """Return the signature that a docstring begins with: compiled functions, as PyTorch's kernel, have no other."""
    match = re.search(rf"\b{getattr(function, '__name__', 'x')}\(([^)]*)\)", getattr(function, "__doc__", None) or "")
    if not match:
        return None
    by_keyword, parameters = False, []
    for part in match[1].split(","):
        name, equals, _ = part.strip().partition("=")
        by_keyword |= name.startswith("*")
        if not name.isidentifier():
            continue
        kind = inspect.Parameter.KEYWORD_ONLY if by_keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = None if equals else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


def read(function, names=None, inputs=(), *, is_module=False, framework=""):
    """Tell the role of each argument of a function.

    Parameters
    ----------
    function : callable
    names : dict of str to str, optional
        Roles by argument name, from the user.
    inputs : collection of str, optional
        The arguments whose values the user gives.
    is_module : bool, optional
        Whether the matrices are its own, so that none is expected among the arguments.
    framework : str, optional
        A module's: in one of JAX `key` may be one of random numbers.

    Returns
    -------
    dict of str to str
        The role of each argument, or "" where it has none: then it has a default, or may be given None.

    Raises
    ------
    CannotBeExaminedError
        If an argument without a default is not recognised.
    """
    parameters = parameters_of(function)
    if parameters is None:
        return {"x": "X"}
    parameters = [parameter for parameter in parameters if parameter.name not in inputs]
    roles = _by_name(parameters, names or {}, is_module, framework)
    _drop_further_masks(roles)
    _tell_two_masks_apart(roles)
    required = _required(parameters)
    _Correction(roles, required, is_module).run()
    if not names and (_without_role(required, roles) or not _has_input(roles)):
        (_by_position_in_module if is_module else _by_position)(roles, required)
    unknown = _without_role(required, roles)
    if unknown and not (is_module and _has_input(roles)):  # a module may do with None
        raise CannotBeExaminedError(not_known(unknown))
    return roles


def _required(parameters):
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty]


def _without_role(names, roles):
    return [name for name in names if not roles[name]]


def _has_input(roles):
    return not {"X", "queries"}.isdisjoint(roles.values())


def _by_name(parameters, names, is_module, framework):
    """Return what each name says by itself; what the user says of it, `names`, comes first."""
    roles = {}
    for parameter in parameters:
        role = names.get(parameter.name, role_of(parameter.name))
        is_word = role in MASKS and vocabulary.MASK_BY_NAME.search(str(parameter.annotation))
        roles[parameter.name] = "" if is_word else role
    if is_module:
        roles |= _in_modules(parameters, framework) | {name: role for name, role in names.items() if name in roles}
    return roles


def _in_modules(parameters, framework):
    """Return what names mean in a module's call alone.

    Modules of JAX are handed a random key, as in Equinox, which would be taken for keys to attend to. And modules of
    vision transformers are told the height and width of the map that their tokens come from.
    """
    by_name = {parameter.name.lower(): parameter.name for parameter in parameters}
    roles = {}
    if framework == "jax" and "key" in by_name and not vocabulary.ASKS_FOR_KEYS & by_name.keys():
        roles[by_name["key"]] = "rng"
    if {"x", vocabulary.CONTEXT_BESIDE_X} <= by_name.keys():
        roles[by_name[vocabulary.CONTEXT_BESIDE_X]] = "context"
    if vocabulary.IMAGE_SIDES.keys() <= by_name.keys():
        roles |= {by_name[name]: side for name, side in vocabulary.IMAGE_SIDES.items()}
    return roles


def not_known(names):
    """Say that it is not known what to give arguments, and what to do."""
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"it is not known what its argument{'s' * (len(names) > 1)} {listed} should be given. Either say what "
        f"{'each' if len(names) > 1 else 'it'} is, examine(..., names={{{names[0]!r}: ...}}), with one of: "
        f"{', '.join(vocabulary.ARGUMENTS)}; or give what a call needs, examine(..., inputs={{{names[0]!r}: ...}})"
    )


def plain(name):
    """Return a name as the vocabulary has it: letters and digits alone."""
    return re.sub("[^a-z0-9]", "", name.lower())


def role_of(name):
    """Return the role that a name tells, whole or in part, or "" where it tells none."""
    return vocabulary.ROLE_OF_ARGUMENT.get(plain(name), "") or _by_part(plain(name))


def _by_part(plain_name):
    """Return what a part of a name says, where the whole says nothing: code has `encoder_states` and `cond_emb`."""
    if "mask" in plain_name and not plain_name.startswith(vocabulary.SWITCH):
        return "padding" if vocabulary.PADDING_PART.search(plain_name) else "mask"
    if vocabulary.CONTEXT_PART.match(plain_name):
        return "" if vocabulary.NO_VECTORS_PART.search(plain_name) else "context"
    if "length" in plain_name and plain_name.endswith(("lengths", "lens")) and not plain_name.startswith("q"):
        return "lengths"  # of the keys: those of queries hide nothing
    return ""


def _is_whole(name):
    return plain(name) in vocabulary.ROLE_OF_ARGUMENT


def _drop_further_masks(roles):
    """Leave out masks that only a part of the name tells, beside a `mask` that the whole name tells.

    The further ones in Hugging Face's code are for special cases, as `layer_head_mask` is; but for one of a context,
    as `encoder_attention_mask`, which hides tokens there.
    """
    whole = {role for name, role in roles.items() if _is_whole(name)}
    for name, role in roles.items():
        if role in ("mask", "padding") and role in whole | {"padding"} and not _is_whole(name) and "mask" in whole:
            is_of_context = "context" in roles.values() and speaks_of_a_context(name) and "padding" not in whole
            roles[name] = "padding" if is_of_context else ""


def speaks_of_a_context(name):
    """Whether the name of a mask says that it hides what is in another sequence."""
    return bool(vocabulary.CONTEXT_PART.match(plain(name)) and not vocabulary.OF_HEADS.search(plain(name)))


def _tell_two_masks_apart(roles):
    """Take one of two masks for one of tokens: two for pairs would be one too many."""
    masks = sorted((name for name, role in roles.items() if role == "mask"), key=_padding_rank)
    if len(masks) == 2 and "padding" not in roles.values() and len(set(map(_padding_rank, masks))) == 2:
        roles[masks[1]] = "padding"


def _padding_rank(name):
    return next(rank for part, rank in vocabulary.MASKS_OF_PAIRS_FIRST.items() if part in plain(name))


class _Correction:
    """Corrects what a name says by itself where the other arguments say better; each method is one rule.

    Parameters
    ----------
    roles : dict of str to str
        By argument name; this is what is corrected.
    required : list of str
        The arguments without a default.
    is_module : bool
    """

    def __init__(self, roles, required, is_module):
        self.roles, self.required, self.is_module = roles, required, is_module
        self.names = {}  # by role, as the names say it
        for name, role in roles.items():
            self.names.setdefault(role, []).append(name)
        self.has_matrices = bool({"W_Q", "W_K"} & self.names.keys())

    def run(self):
        """Apply the rules in order: a later one reads what an earlier one has written."""
        self.h_counts_heads()
        self.query_beside_tokens_has_no_role()
        self.query_alone_is_the_input()
        self.what_is_unknown_beside_a_context_attends_to_it()
        self.context_alone_is_the_input()
        self.context_beside_values_holds_the_keys()
        self.only_one_input_is_left()

    def has_role(self, role):
        return role in self.roles.values()

    def h_counts_heads(self):
        """`h` is short for hidden states and for heads: beside other vectors or matrices it is a number of heads."""
        for name in self.required:
            if name in ("h", "H") and self.roles[name] == "X" and len(self.names.get("X", ())) > 1:
                self.roles[name] = "n_heads"
        if self.has_matrices and not self.has_role("n_heads"):
            self.roles |= {name: "n_heads" for name in ("h", "H") if self.roles.get(name) == "X"}

    def query_beside_tokens_has_no_role(self):
        """A function that takes X makes its own queries: without keys beside it, a `query` is something else."""
        if {"X", "queries"} <= self.names.keys() and "keys" not in self.names and not self.is_module:
            self.roles[self.names["queries"][0]] = ""

    def query_alone_is_the_input(self):
        """Where neither keys nor values are handed over, a `query` is what attends: to itself, or to a context."""
        if not self.has_role("X") and "queries" in self.names and not {"keys", "values"} & self.names.keys():
            self.roles[self.names["queries"][0]] = "X"

    def what_is_unknown_beside_a_context_attends_to_it(self):
        """In a call such as `forward(encoder_states, decoder)`, what isn't the encoder's attends to it."""
        unknown = _without_role(self.required, self.roles)
        if self.is_module and "context" in self.names and not _has_input(self.roles) and len(unknown) == 1:
            self.roles[unknown[0]] = "X"

    def context_alone_is_the_input(self):
        """Without anything that attends, `y` or `source` is an unusual name for X.

        Except in a module whose first argument has no known name: that one stands before a context to attend to it.
        """
        if _has_input(self.roles) or "context" not in self.names:
            return
        first = next(iter(self.required), "")
        is_first = self.is_module and not self.roles.get(first, "X")
        self.roles[first if is_first else self.names["context"][0]] = "X"

    def context_beside_values_holds_the_keys(self):
        """`(query, memory, value)`: what is called as a context is what queries are compared with."""
        if {"queries", "values", "context"} <= self.names.keys() and "keys" not in self.names:
            self.roles[self.names["context"][0]] = "keys"

    def only_one_input_is_left(self):
        """Of several inputs one attends, the latent vectors if there are any, and a further one is its context.

        Beside matrices, and where it need not be given, it is neither: a residual, say, or a memory of the last call.
        """
        inputs = [name for name, role in self.roles.items() if role == "X"]
        inputs.sort(key=lambda name: "latent" not in name.lower())  # latent vectors ask, as in the Perceiver
        for further in inputs[1:]:
            self.roles[further] = "context" if further in self.required and not self.has_matrices else ""


def _by_position_in_module(roles, required):
    """Fill in what names do not say, in a module's call: its first argument is the input, of three all are."""
    unknown = _without_role(required, roles)
    if len(required) == 1:
        roles[required[0]] = "X"
    elif len(required) == 3 and not {*MASKS, "context", "X"} & {roles[name] for name in required}:
        roles.update(zip(required, ("queries", "keys", "values"), strict=True))
    elif unknown and required[0] == unknown[0]:
        roles[unknown[0]] = "X"


def _by_position(roles, required):
    """Fill in what names do not say: the usual order, where the number of arguments leaves only one."""
    for order in ORDERS:
        if len(order) == len(required) and _fits(order, roles, required):
            roles.update(zip(required, order, strict=True))
            return


def _fits(order, roles, required):
    """Tell whether arguments can only be meant in this order: by their number, and by those whose names are known."""
    if len(order) == 5 and ("n_heads" in roles.values()) != ("n_heads" in order):
        return False
    agreeing = [roles[name] == role for name, role in zip(required, order, strict=True) if roles[name]]
    # Six arguments can be nothing else; four or five may also be queries, keys, values and more.
    return len(order) == 6 or (all(agreeing) and (len(order) in (1, 3) or len(agreeing) > 1))
