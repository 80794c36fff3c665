"""Which argument is which: recognised by name, and by position where only one reading is possible."""

import inspect
import re

from attention_doctor.calls.errors import CannotBeExaminedError

# What an argument may be called, in lower case and without underscores.
NAMES = {
    "X": "x xs input inputs inputsq hiddenstates hidden embeddings embedding embeds tokens src tgt emb feats features "
    "seq sequence sequences inputtensor data h inp tokenvectors xq querystates residual latent latents",
    "queries": "q qs query queries qx queryinput querysequences queryseq inputquery",
    "keys": "k ks key keys kx keyinput inputkey",
    "values": "v vs value values vx valueinput val inputvalue",
    "context": "context memory encoderhiddenstates encoderoutput encoderoutputs encoderout enc encout kv "
    "keyvaluestates cond y xkv source inputskv contextx ctx crosskv kvinput xcontext mem encoded "
    "keyvaluesequences kvsequences keyorvaluetokens keyvaluetokens kvtokens states x2 kvx",
    "W_Q": "wq qw wquery wqueries queryweight queryweights qweight qweights weightq weightsq qproj queryproj qkernel "
    "queryweightmatrix projq qmat matq aq wqs",
    "W_K": "wk kw wkey wkeys keyweight keyweights kweight kweights weightk weightsk kproj keyproj kkernel projk "
    "kmat matk ak wks",
    "W_V": "wv vw wvalue wvalues valueweight valueweights vweight vweights weightv weightsv vproj valueproj vkernel "
    "projv vmat matv av wvs",
    "W_O": "wo ow woutput wout outputweight outputweights oweight oweights outweight outproj oproj wproj weighto "
    "weightso projo outputproj okernel omat mato wos",
    "b_Q": "bq qbias biasq qb bquery",
    "b_K": "bk kbias biask kb bkey",
    "b_V": "bv vbias biasv vb bvalue",
    "b_O": "bo obias biaso ob bout boutput outbias",
    "n_heads": "nheads nhead numheads numhead heads numattentionheads headcount headnum nh numberofheads "
    "nattentionheads",
    "n_kv_heads": "nkvheads numkvheads numkeyvalueheads kvheads nkvhead numkeyvaluehead nkv",
    "mask": "mask attnmask attentionmask amask srcmask tgtmask m attentionmasks masks visible allowed",
    "padding": "keypaddingmask paddingmask padmask srckeypaddingmask keymask kvmask tokenmask keypadding padding "
    "contextmask x2mask",
    "lengths": "validlens validlen lengths lens seqlens seqlengths sequencelengths kvlengths validlengths "
    "inputlengths length",
    "bias": "attnbias attentionbias scorebias relativepositionbias positionbias additivemask maskbias biasmask",
    "is_causal": "iscausal causal usecausalmask autoregressive usecausal causalmask applycausalmask",
    "past": "past layerpast pastkeyvalue pastkeyvalues pastkv cache kvcache layerstate",
    "use_cache": "usecache returncache",
    "cos": "cos freqscos rotarycos ropecos coscached",
    "sin": "sin freqssin rotarysin ropesin sincached",
    "cos_sin": "positionembeddings cossin rotaryposemb rotaryemb ropeemb rope rotary rotaryembeddings",
    "freqs_cis": "freqscis freqscomplex freqs ropefreqs rotaryfreqs",
    "position_ids": "positionids positions inputpos posids inputpositions cacheposition tokenpositions",
    "start_pos": "startpos startposition startindex cachepos",
    "window": "windowsize window",
    "deterministic": "deterministic inference",
    "training": "training train istraining",
    "dropout": "dropout dropoutp p attndropout dropoutrate pdropout attentiondropout",
    "d_head": "dhead headdim dk dim headsize",
    "d_model": "dmodel embeddim nembd hiddensize",
    "scale": "scale scaling scalefactor smscale",
    "rng": "rng prngkey rngkey",
    "height": "height",
    "width": "width",
}
MASKS = ("mask", "padding", "lengths", "bias")
ROLE_OF = {name.replace("_", ""): role for role, names in NAMES.items() for name in names.split()}
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
    """The signature that the documentation of a compiled function begins with."""
    found = re.search(rf"\b{getattr(function, '__name__', 'x')}\(([^)]*)\)", getattr(function, "__doc__", None) or "")
    if not found:
        return None
    named, parameters = False, []
    for part in found[1].split(","):
        name, equals, _ = part.strip().partition("=")
        named |= name.startswith("*")
        if not name.isidentifier():
            continue
        kind = inspect.Parameter.KEYWORD_ONLY if named else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = None if equals else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


def read(function, given=None, inputs=(), *, is_module=False, framework=""):
    """Say what each argument of a function is.

    Parameters
    ----------
    function : callable
    given : dict of str to str, optional
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
    roles = {}
    parameters = [parameter for parameter in parameters if parameter.name not in inputs]
    for parameter in parameters:
        roles[parameter.name] = (given or {}).get(parameter.name, role_of(parameter.name))
        if roles[parameter.name] in MASKS and re.search(r"\bstr\b", str(parameter.annotation)):
            roles[parameter.name] = ""  # the name of a mask
    if is_module:
        roles |= _of_modules(parameters, framework) | {
            name: role for name, role in (given or {}).items() if name in roles
        }
    exact = {role for name, role in roles.items() if plain(name) in ROLE_OF}
    for name, role in roles.items():  # a part of a name says less than a whole one
        if role in ("mask", "padding") and role in exact | {"padding"} and _by_part_only(name) and "mask" in exact:
            roles[name] = ""
    masks = sorted((name for name, role in roles.items() if role == "mask"), key=_how_likely_padding)
    if len(masks) == 2 and "padding" not in roles.values() and len(set(map(_how_likely_padding, masks))) == 2:
        roles[masks[1]] = "padding"  # of two masks one is of tokens
    required = [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]
    _correct_roles(roles, required, is_module)
    unknown = [name for name in required if not roles[name]]
    if not given and (unknown or ("X" not in roles.values() and "queries" not in roles.values())):
        _by_position(roles, required, is_module)
        unknown = [name for name in required if not roles[name]]
    if unknown and not (is_module and {"X", "queries"} & set(roles.values())):  # a module may do with None
        raise CannotBeExaminedError(not_known(unknown))
    return roles


def _of_modules(parameters, framework):
    """What names mean in a module's call alone: JAX's random key, and the sides of a map whose tokens are a row."""
    by_name = {parameter.name.lower(): parameter for parameter in parameters}
    found = {}
    asks_keys = {"query", "queries", "q", "value", "values", "v"} & set(by_name)
    if framework == "jax" and "key" in by_name and not asks_keys:
        found[by_name["key"].name] = "rng"
    if {"h", "w"} <= set(by_name):
        found |= {by_name["h"].name: "height", by_name["w"].name: "width"}
    return found


def not_known(names):
    """Say that it is not known what to give arguments, and what to do."""
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"it is not known what its argument{'s' * (len(names) > 1)} {listed} should be given. Either say what "
        f"{'each' if len(names) > 1 else 'it'} is, examine(..., names={{{names[0]!r}: ...}}), with one of: "
        f"{', '.join(NAMES)}; or give what a call needs, examine(..., inputs={{{names[0]!r}: ...}})"
    )


def plain(name):
    """Return a name as NAMES has it: letters and digits alone."""
    return re.sub("[^a-z0-9]", "", name.lower())


def role_of(name):
    """Return the role that a name tells, whole or in part, or "" where it tells none."""
    return ROLE_OF.get(plain(name), "") or _by_part(plain(name))


def _how_likely_padding(name):
    return next((i for i, part in enumerate(("att", "amask", "src")) if part in plain(name)), 1.5)


def _by_part_only(name):
    return plain(name) not in ROLE_OF


def _by_part(plain):
    """What a part of a name says, where the whole name says nothing."""
    if "mask" in plain and not plain.startswith(("use", "is", "return", "apply", "no")):
        return "padding" if "pad" in plain or "key" in plain else "mask"
    if re.match(r"(enc(oder|oded)?|mem(ory)?|ctx|context|cross|cond)[a-z]*$", plain):
        return "context" if not re.search(r"len|mask|dim|size|num|type|pos|idx|flag|bias|scale", plain) else ""
    if "length" in plain and plain.endswith(("lengths", "lens")) and not plain.startswith("q"):
        return "lengths"
    return ""


def _correct_roles(roles, required, is_module):
    """Correct what a name says where the others say better."""
    by_role = {}
    for name, role in roles.items():
        by_role.setdefault(role, []).append(name)
    matrices = any(role in by_role for role in ("W_Q", "W_K"))
    # Beside X and matrices, `h` counts heads; and `context` without X is what is attended from.
    for name in required:
        if name in ("h", "H") and roles[name] == "X" and len(by_role.get("X", ())) > 1:
            roles[name] = "n_heads"
    if "n_heads" not in roles.values():
        for name in roles:
            if name in ("h", "H") and roles[name] == "X" and matrices:
                roles[name] = "n_heads"
    if "X" in by_role and "queries" in by_role and "keys" not in by_role and not is_module:
        roles[by_role["queries"][0]] = ""
    if "X" not in roles.values() and "queries" in by_role and not {"keys", "values"} & set(by_role):
        roles[by_role["queries"][0]] = "X"  # a query, and perhaps a context
    unknown = [name for name in required if not roles[name]]
    if is_module and "context" in by_role and not {"X", "queries"} & set(roles.values()) and len(unknown) == 1:
        roles[unknown[0]] = "X"
    if "X" not in roles.values() and "queries" not in roles.values() and "context" in by_role:
        first = next(iter(required), "")  # what has no known name, and stands before a context, attends to it
        roles[first if is_module and not roles.get(first, "X") else by_role["context"][0]] = "X"
    if "queries" in by_role and "values" in by_role and "keys" not in by_role and "context" in by_role:
        roles[by_role["context"][0]] = "keys"
    xs = [name for name, role in roles.items() if role == "X"]
    xs.sort(key=lambda name: "latent" not in name.lower())  # latent vectors ask, as in the Perceiver
    for extra in xs[1:]:
        roles[extra] = "context" if extra in required and not matrices else ""


def _by_position(roles, required, is_module):
    """Fill in what names do not say: the usual order, where the number of arguments leaves only one."""
    unknown = [name for name in required if not roles[name]]
    if is_module:
        if len(required) == 1:
            roles[required[0]] = "X"
        elif len(required) == 3 and not any(
            roles[name] in ("mask", "padding", "lengths", "bias", "context", "X") for name in required
        ):
            roles.update(zip(required, ("queries", "keys", "values"), strict=True))
        elif unknown and required[0] == unknown[0]:
            roles[unknown[0]] = "X"
        return
    for order in ORDERS:
        if len(order) != len(required) or ((len(order) == 5) and ("n_heads" in roles.values()) != ("n_heads" in order)):
            continue
        agreeing = [roles[name] == role for name, role in zip(required, order, strict=True) if roles[name]]
        # Six arguments can be nothing else; four or five may also be queries, keys, values and more.
        if len(order) == 6 or (all(agreeing) and (len(order) in (1, 3) or len(agreeing) > 1)):
            roles.update(zip(required, order, strict=True))
            return
