r"""What public code calls the parts of attention: every name by which the doctor recognises something, in one place.

The sections follow where a name stands: among a call's arguments, parameters, settings, in the source, or as a
framework's class; within a section, entries of one role stand together. A name that is there for a library or a
repository is followed by it; the others are too common for an origin to say more.

A name is a guess. What the numbers can decide, the readers let the numbers decide.
"""

import re

# ---- Arguments

# Role -> names, in lower case, letters and digits alone. A name has one role, so the order has no effect on matching;
# it is the order in which `examine(names=...)` lists the roles.
ARGUMENTS = {
    "X": "x xs input inputs hidden embeddings embedding embeds tokens src tgt emb feats features seq sequence "
    "sequences inputtensor data h inp tokenvectors xq residual "
    "hiddenstates querystates "  # Hugging Face, the second in DeBERTa-v2
    "inputsq "  # Flax
    "latent latents",  # the Perceiver: they ask, and what they ask is another argument
    "queries": "q qs query queries queryinput queryseq inputquery "
    "querysequences "  # sgrvinod/a-PyTorch-Tutorial-to-Transformers
    "qx",  # OpenFold: q_x
    "keys": "k ks key keys kx keyinput inputkey",
    "values": "v vs value values vx valueinput val inputvalue",
    "context": "context memory encoderoutput encoderoutputs encoderout enc encout cond y xkv source ctx crosskv "
    "kvinput xcontext mem encoded kvsequences keyorvaluetokens keyvaluetokens kvtokens states x2 "
    "contextx "  # the course's own functions
    "encoderhiddenstates keyvaluestates "  # Hugging Face, the second in BART
    "inputskv "  # Flax
    "keyvaluesequences "  # sgrvinod/a-PyTorch-Tutorial-to-Transformers
    "kv "  # XLM
    "kvx",  # OpenFold: kv_x
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
    "padding": "keypaddingmask paddingmask padmask keymask kvmask tokenmask keypadding padding x2mask "
    "contextmask "  # lucidrains/x-transformers
    "srckeypaddingmask",  # torch.nn.TransformerEncoderLayer
    "lengths": "validlen lengths lens seqlens seqlengths sequencelengths kvlengths validlengths inputlengths length "
    "validlens",  # Dive into Deep Learning
    "bias": "attnbias attentionbias scorebias relativepositionbias additivemask maskbias biasmask "
    "positionbias",  # T5 and MPT in Hugging Face
    "is_causal": "iscausal causal autoregressive usecausal causalmask applycausalmask usecausalmask",  # Keras
    "past": "past pastkv cache kvcache "
    "layerpast pastkeyvalue pastkeyvalues layerstate",  # Hugging Face, the last in its first BART
    "use_cache": "usecache returncache",
    "cos": "cos rotarycos ropecos coscached freqscos",  # karpathy/llama2.c
    "sin": "sin rotarysin ropesin sincached freqssin",  # karpathy/llama2.c
    "cos_sin": "cossin rotaryemb ropeemb rotary rotaryembeddings "
    "positionembeddings "  # Hugging Face: (cos, sin)
    "rope "  # lit-llama: cosine and sine along a last axis
    "rotaryposemb",  # Megatron-LM
    "freqs_cis": "freqscis freqscomplex freqs ropefreqs rotaryfreqs",  # complex, as in Meta's Llama
    "position_ids": "positionids positions posids inputpositions tokenpositions "
    "inputpos "  # LitGPT, torchtune
    "cacheposition",  # Hugging Face
    "start_pos": "startpos startposition startindex cachepos",  # Meta's Llama: start_pos
    "window": "windowsize window",
    "deterministic": "deterministic "  # Flax
    "inference",  # Equinox
    "training": "training train istraining",  # Keras: training
    "dropout": "dropout dropoutp p attndropout dropoutrate pdropout attentiondropout",
    "d_head": "dhead headdim dk dim headsize",
    "d_model": "dmodel embeddim nembd hiddensize",
    "scale": "scale scaling scalefactor smscale",  # Triton's tutorial on fused attention: sm_scale
    "rng": "rng prngkey rngkey",
    "height": "height",
    "width": "width",
}
ROLE_OF_ARGUMENT = {name: role for role, names in ARGUMENTS.items() for name in names.split()}
# What else they are called where there are only features and positions, in a function that rotates.
ROTARY_ARGUMENTS = {
    "keys": "k xk key",
    "start_pos": "start offset",
    "position_ids": "pos position",
    "base": "base theta ropetheta ropebase",
}
ROLE_OF_ROTARY_ARGUMENT = {name: role for role, names in ROTARY_ARGUMENTS.items() for name in names.split()}
# What a part of a name says, where the whole name is in no list above. For names without underscores, in lower case.
SWITCH = ("use", "is", "return", "apply", "no")  # begins the name of a flag: `return_mask` is no mask
PADDING_PART = re.compile("pad|key")  # of a mask: one of tokens, and not of pairs
CONTEXT_PART = re.compile(r"(enc(oder|oded)?|mem(ory)?|ctx|context|cross|cond)[a-z]*$")
NO_VECTORS_PART = re.compile(r"len|mask|dim|size|num|type|pos|idx|flag|bias|scale")  # `context_len` is no context
# Of two masks, the likelier one for pairs of tokens first; the first part that a name has counts, "" is in each.
MASKS_OF_PAIRS_FIRST = {"att": 0, "amask": 1, "src": 3, "": 2}
# PyTorch's masks of tokens, in which what is True is hidden; its masks of pairs have both meanings.
TRUE_HIDES = {"keypaddingmask", "srckeypaddingmask", "tgtkeypaddingmask", "memorykeypaddingmask"}
OF_KEYS = re.compile("key|kv|enc|mem|context|ctx|cross|cond")  # what such a mask hides is never a query
OF_HEADS = re.compile("headmask")  # Hugging Face: which heads count
CONTEXT_BESIDE_X = "c"  # VITS: forward(x, c)
IMAGE_SIDES = {"h": "height", "w": "width"}  # PVT, SegFormer: tokens are the pixels of a map of H by W
ASKS_FOR_KEYS = {"query", "queries", "q", "value", "values", "v"}  # beside one of these, `key` is no random key
MASK_BY_NAME = re.compile(r"\bstr\b")  # an annotation: maxjcohen/transformer's mask is a word, "subsequent"

# ---- Parameters
# Of a path's parts, the last two are read from the end: in lower case, letters and digits alone.

# These say what kind of thing a parameter is, and the part before them says which of attention's.
PARAMETER_KINDS = ("weight", "kernel", "bias", "w", "b", "linear", "lin", "conv", "value0", "net", "lora")
# Fused matrices, which are looked for before single ones; the first that matches counts.
FUSED_PROJECTIONS = (
    (
        "QKV",
        r"qkv|kqv|qvk|vqk|vkq|kvq"
        r"|querykeyvalue"  # GPT-NeoX, BLOOM, Falcon
        r"|cattn"  # GPT-2
        r"|inproj"  # torch.nn.MultiheadAttention
        r"|wpack"  # Baichuan
        r"|attnin",
    ),
    (
        "KV",
        # `cast`: sgrvinod/a-PyTorch-Tutorial-to-Transformers
        r"^(to|w|proj|c|x|fc|linear|lin|cast)?(kv|vk|keys?values?)(proj|linear|lin|layer|w)?s?$",
    ),
    ("QK", r"^(to|w|proj)?(qw?k)(proj|linear)?$"),
)
BEFORE_A_PROJECTION = (
    r"(to|w|fc|cast|proj|projection|linear|lin|in|weight|weights|kernel|matrix|dense|"
    r"conv|c|m|u|t|p|mat|input|self|attn|att|embeddings?|tokens?)*"
)
AFTER_A_PROJECTION = (
    r"(proj|projection|projections|projector|l|lin|linear|linears|layer|layers|transform|weight|weights|w|dense|kernel|net|"
    r"matrix|matrices|conv|fc|s|mlp|embed|map|mat|param"
    r"|einsum"  # Gemma in JAX: q_einsum
    r"|in)*"
)


def _projection(names):
    return re.compile(rf"^{BEFORE_A_PROJECTION}({names}){AFTER_A_PROJECTION}[0-9]*$|^b({names})$")


PROJECTIONS = {  # theta and phi are queries and keys in non-local networks
    "Q": _projection("q|query|queries|theta"),
    "K": _projection("k|key|keys|phi"),
    "V": _projection("v|value|values"),
}
WORDS_OF_PROJECTIONS = {"query": "Q", "queries": "Q", "key": "K", "keys": "K", "value": "V", "values": "V"}
OUTPUT_PROJECTION = re.compile(
    r"^(w|to|c|fc|cast|lin|linear|p|proj|weight|dense|attn|att|final|last|multi|mha|head|heads|b)*"
    r"(o|out|output|outputs|proj|projection|dense|fc|final|concat|merge|mix|last|linear|combine|o1|headout|outmap|ff"
    r"|unify|unifyheads"  # pbloem/former
    r"|cproj)"  # GPT-2
    r"(proj|projection|linear|lin|layer|weight|weights|dense|kernel|w|map|heads|transform|fc|mat|matrix|param|einsum|net)*$"
)
RESIDUAL_PROJECTION = re.compile(  # AutoInt: W_Res, around attention
    r"(^|[._])(w_?)?(res|residual|skip|shortcut)(_?(proj|fc|linear|w))?(\.|$)", re.I
)
# Latent attention (MLA), in lower case, letters alone; the first that matches. "down" makes the narrow vector, "up"
# heads of it. `dkv`, `uk` and the like are the paper's W^DKV, W^UK; `kva`, `kvb` DeepSeek's kv_a_proj, kv_b_proj.
LATENT_PROJECTIONS = {
    "kv down": r"kva|kvdown|dkv|downkv|compresskv|kvcompress|kvlatent|latentkv",
    "kv up": r"kvb|kvup|ukv|upkv|decompresskv|kvdecompress|kvproj",
    "k up": r"uk$|kup|upk|kb$",
    "v up": r"uv$|vup|upv|vb$",
    "q down": r"qa|qdown|dq$|downq|compressq|qcompress|qlatent|latentq",
    "q up": r"qb|qup|uq$|upq|decompressq|qdecompress",
    "q turned": r"qr$|qrope|ropeq|qpe",
    "k turned": r"kr$|krope|ropek|kpe",
    "q": r"^w?q(uery)?(proj)?$|^toq$",
}
ADAPTERS = re.compile(r"lora_?[ab]?\b|adapter", re.I)  # what they add is 0 to begin with
BIAS_OF_A_PROJECTION = re.compile(r"b_?[qkvo]", re.I)
FREQUENCIES = re.compile(r"freq", re.I)  # a buffer: rotary positions' angles, as Hugging Face's inv_freq
GRADIENTS = re.compile(r"(^|\.)(d_|_)?grad(s|ients?)?(\.|$)", re.I)
HEAD_MIXERS = re.compile(  # proj_l and proj_w: CaiT's talking heads; re-attention: DeepViT
    r"talk|(^|\.)proj_[lw](\.|$)|mix|(pre|post)_?softmax|re_?att", re.I
)
NORM_WEIGHTS = ("gamma", "beta")  # of a norm in a class of somebody's own, whatever that is called
NORM_BIASES = ("bias", "beta", "b")  # how the path of a norm's bias ends
POSITION_PARAMETERS = re.compile(
    r"rel(ative)?_?(pos|bias|emb|k|v|att)|pos(ition)?s?_?(emb|bias|enc|table)|bias_table", re.I
)
SINKS = re.compile(r"(^|\.)sinks?$")  # gpt-oss

# ---- Settings: numbers among the attributes of a module, or in a function's code

N_HEADS = re.compile(
    r"(^|\.)(n_?heads?|num_?heads?|heads?|nh|(n|num)_?q(uery)?_?heads|n_?attention_?heads|number_of_heads"
    r"|h"  # the Annotated Transformer
    r"|num_attention_heads"  # Hugging Face, from BERT on
    r"|head_?num)$",  # CyberZHG/torch-multi-head-attention
    re.I,
)
N_KV_HEADS = re.compile(  # local_kv: Meta's Llama; query_groups: LitGPT
    r"(n|num)_?(kv|key_?value|local_kv)_?heads?$|kv_?heads?$|n_?query_?groups$", re.I
)
HEAD_WIDTH = re.compile(r"(head_?(dim|size|width)|d_?(k|head)|dim_?head|hs)$", re.I)
HEAD_SIZE = re.compile(r"head_?size$")  # some mean the number of heads by it
ROTATED_HEAD_WIDTH = re.compile(r"head_?(dim|size)$", re.I)  # of which ROTARY_SHARE is the share
MODEL_WIDTH = re.compile(r"^(input_|embed(ding)?_|model_|hidden_|token_)?(dim|size|width|channels)$")
TOKEN_COUNT = re.compile(r"(seq|block|context|max|n_ctx|length|len|tokens|positions|patches|window)", re.I)
ROTARY_BASE = re.compile(r"(theta|base)$", re.I)
ROTARY_WIDTH = re.compile(r"(rot|rope)\w*(dims?|size)$|(^|\.)d_rope$", re.I)
ROTARY_SHARE = re.compile(  # Hugging Face; GPT-NeoX's rotary_pct, LitGPT's rotary_percentage; labml's rope_percentage
    r"partial_rotary_factor$|rot\w*_(percent\w*|pct)$|rope_percent\w*$", re.I
)
SETTINGS = ("config", "cfg", "args", "hparams", "conf")  # what holds them: Hugging Face's config, Meta's args
SCALE_SETTING = re.compile(r"scal|temp|divisor", re.I)
SCALE_ATTRIBUTE = re.compile(r"\bself\.(\w*(?:scal|factor|temp|sqrt|divisor)\w*)", re.I)  # the same, in the source
ROOTED_SETTING = re.compile(r"(d|dim|hidden)_?(k|key|head)$|(head|key)_?(dim|size)$|^dim$", re.I)  # scores / √of it
SOFT_CAP = re.compile(r"soft_?cap", re.I)  # Gemma 2

# ---- Source

ATTENTION_INSIDE = re.compile(r"^(\w*att(n|ention)?\w*|mha)$", re.I)  # a submodule's name
BATCH_FIRST = re.compile(  # `B, T, C = x.shape`
    r"^\s*(b|bs|bsz|batch|batch_size|n_batch|nb|nbatches)\s*,\s*\w+\s*(,\s*\w+\s*)?=\s*\w+\.(shape|size)", re.I | re.M
)
FIXED_SCALE = re.compile(r"\bscale\s*=\s*(0?\.\d+)\b")  # a number, as `scale=0.12`
NORMALISED_QUERIES = re.compile(r"rms_?norm|normalize|l2_?norm|qk_?norm|cosine", re.I)
POSITION_HINTS = re.compile(
    r"rot(ary|ate)|rope|inv_freq|freqs?_cis|alibi|slopes|relative|rel_pos|pos_?(emb|enc|bias)", re.I
)
RELATIVE_POSITIONS = re.compile(r"relative_att|relative_pos|position_bias")
SEVERAL_HEADS = re.compile(r"n_?heads?\b|num_?heads?|multi_?head|split_?heads", re.I)
DROPOUT = re.compile(r"drop|bernoulli", re.I)
NOISE = re.compile(r"randn|\bnormal_?\(|gumbel")  # drawn in each call, as slot attention's first slots
SOFTMAX = re.compile(r"softmax|\bexp2?\(|\bexp_|scaled_dot|sdpa|flash|attention\(|attend|attn\(", re.I)
WINDOWS = re.compile(r"window|local|band|slid", re.I)
TORCHS_OWN_LAYER = re.compile(r"\bnn\.MultiheadAttention\(")
CAUSAL_HINT = re.compile(
    r"\bis_causal\s*=\s*True"
)  # PyTorch's own layer takes it for a hint, and needs the mask beside it
ROTATION = re.compile(r"^(?!.*att).*(rotat|rotary|rope)", re.I)  # a function that turns features, and is no attention
PART_OF_A_ROTATION = re.compile(r"rotate_?(half|every|pairs)", re.I)  # swaps features, and knows no position
# A triangle, what it is kept in, and whose name says that it should hide what comes after.
_TRIANGLE = r"[^\n;]*\b(?:triu|tril|tri)\("
TRIANGLE_ATTRIBUTE = re.compile(
    rf"\bself\.(\w+)\s*=(?!=){_TRIANGLE}|register_buffer\(\s*[\"'](\w+)[\"']\s*,{_TRIANGLE}"
)
TRIANGLE_VARIABLE = re.compile(rf"(?m)^\s+(\w*mask\w*)\s*=(?!=){_TRIANGLE}")
MEANT_TO_BE_CAUSAL = re.compile(r"mask|causal|decod|gpt|autoregress", re.I)
# Designs whose equation is another one.
DESIGNS = {
    "multi-head latent attention (MLA: keys and values come from one narrow vector a token)": (
        r"kv_lora_rank|kv_latent|latent_kv|(^|\.)kv_a_|(^|\.)kv_down|w_?dkv|kv_compress"
    ),
    "ALiBi (a bias that grows with the distance)": r"alibi",
    "soft-capped scores (cap × tanh(scores / cap))": r"soft_?cap",
    "attention sinks (a further score in each row's sum)": r"(^|\.)(attn_?)?sinks?\b",
    "slot attention (a softmax over the queries, then normalised over the keys)": r"slot_?att|inverted_?att",
    "linear attention (features of queries and keys in place of the softmax)": (
        r"linear_?att|performer|favor|\belu\(|feature_?map|random_features"
        r"|\bk(ey|eys)?\.softmax\(|softmax\(\s*k(ey|eys)?\b"
    ),
    "sigmoid attention (each score by itself)": (
        r"sigmoid_?att|\bscores?\.sigmoid\(|sigmoid\([^\n]*(@|matmul|einsum|bmm|score|attn|sim|dots|logits)"
    ),
    "cosine attention (Swin v2: normalised queries and keys, a learnt factor)": r"logit_?scale|cos(ine)?_?(att|sim)",
    "sparsemax or entmax": r"sparsemax|entmax",
    "ReLU attention (no softmax)": r"relu_?squared|relu\(\s*\w*(score|attn|sim|dots|logits|weights)",
    "talking heads (heads' scores or weights are mixed)": r"talking_?heads|pre_?softmax_?(proj|talk)",
    "attention over chosen keys (the highest scores alone)": r"\btop_?k\b|\bkth\b",
    "attention within blocks, chunks or buckets": r"\bbuckets?\b|bucket_size|chunk_size|block_size_attn|\blsh\b",
    "additive attention (Bahdanau's: scores from a tanh)": r"\btanh\(|\bTanh\(",
    "a softmax with one more in its denominator": (
        r"softmax_?(1|one|plus)|quiet_?(softmax|att)|\b1(\.0?)?\s*\+\s*\w*exp|\+\s*\w*\.?exp\(-"
    ),
    "differential attention (one softmax less another)": r"lambda_q1|lambda_init",
}

# What a mask's entries mean: as a docstring says it (in lower case, on one line), or the code shows it.
SAYS_ADDED = re.compile(
    r"additive|added to the (attention )?(scores|logits)|-inf|−inf|float mask|0 (for|where)[^.]{0,60}-"
)
SAYS_ONES_HIDE = re.compile(
    r"\b(true|1s?|ones?|non-?zero)\b[^.;]{0,60}"
    r"(hid|mask(ed|s)? out|ignor|pad|exclu|not attend|block|must not|may not|not allowed|disallow|masked)"
)
SAYS_ONES_SHOW = re.compile(
    r"\b(true|1s?|ones?)\b[^.;\n]{0,40}\b(may|can|visible|keep|kept|attend|allow|see|show|valid|real|included?)", re.I
)
SAYS_BOOLEAN = re.compile(r"\bbool|\btrue\b|\bones?\b|\b1s?\b", re.I)
# Written so, half of d takes the place of its root: `d ** 1 / 2`. Where it is not, no other mistake is taken for it.
PRECEDENCE = re.compile(r"\*\*\s*-?\s*1(\.0*)?\s*/|math\.pow|\bpower\(")
# The part of a statement that does an equation's step, the clearest sign first.
PARTS_OF_STATEMENTS = {
    "scale": (re.compile(r"sqrt|\*\*|scal", re.I), re.compile(r"(?<!\*)[*/](?!\*)")),
    "softmax": (re.compile(r"\b(dim|axis)\s*="), re.compile("softmax", re.I)),
    "hide": (re.compile(r"-\s*\d|inf\b", re.I), re.compile("mask", re.I)),
}
# What an error says where tokens have a wrong width or number.
SAYS_SIZES = re.compile(r"shape|size|dimension|mat1|broadcast|invalid for input|normalized_shape|mismatch", re.I)
# A low number is put where the mask is, or added times the mask: what is 1 or True hides.
_MASK = r"\b\w*mask\w*(\[[^\]]*\]|\.\w+\([^()]*\)|\s*==\s*(1|True)|\.astype\([^()]*\))*"
_LOW = (
    r"\(?\s*(-\s*(\d|\w*inf|float|\w+\.inf)|float\(\s*[\"']-|(np|jnp|torch)\.finfo"
    r"|\w*(neg|min|mask_?value|large|low)\w*)"
)
HIDES_ONES = re.compile(
    rf"(masked_fill_?|where|full_like)\(\s*{_MASK}\s*,\s*(value\s*=\s*)?{_LOW}"  # masked_fill(mask, -inf)
    rf"|(?<!1 - )(?<!1-)(?<!1\.0 - )(?<!not_)(?<!~){_MASK}\s*\*\s*{_LOW}"  # mask * -1e9
    rf"|-\s*(1e\d+|10{{3,}}(\.0*)?|\w+\.inf|inf)\)?\s*\*\s*{_MASK}|-\s*{_MASK}\s*\*\s*(1e\d|10{{3,}})"  # -1e9 * mask
    rf"|\[\s*{_MASK}\s*\]\s*=\s*{_LOW}",  # scores[mask] = -inf
    re.I,
)
ADDED_AS_IT_IS = re.compile(r"\+=?\s*\(?\s*\w*mask\w*(\[[^\]]*\]|\.\w+\([^()]*\))*\s*(\)|$)(?!\s*\*)", re.M)

# ---- Frameworks

KERAS_NORM_WEIGHTS = ("gamma", "beta", "scale")
KERAS_NUMBERED = re.compile(r"(^|\.)(einsum_)?dense(_\d+)?\.\w+$")  # layers that Keras has named, and numbered
