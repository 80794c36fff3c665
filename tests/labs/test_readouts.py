"""What each lab says of its states, sentence by sentence; the numbers in it are checked beside, lab by lab.

After a change that is meant, `pytest -n 0 tests/labs/test_readouts.py --inline-snapshot=fix` writes the new sentences.
"""

import re

import numpy as np
from inline_snapshot import snapshot

from mha_helpers import attention, decoder, labs, running_example
from mha_helpers.labs.masking import mask_studio as studio
from mha_helpers.labs.output_projection import block_tour, which_bug
from mha_helpers.labs.splitting.shape_tracer import STAGES

SENTENCE_ENDS = re.compile(r"(?<=[.?]) ")
MAX_WORDS = 25  # that are seen at once; further sentences are behind "more"


def readouts(make, states, *functions):
    """Return, by a state's name, what a lab says there: its picture's sentences, and its notice's if that has changed.

    A state is a dict of controls and their values, or a list of such dicts and of buttons that are pressed in between.
    """
    found, usual = {}, make().still_picture.notice
    for name, steps in states.items():
        lab = make(*functions)
        for step in steps if isinstance(steps, list) else [steps]:
            if isinstance(step, str):
                lab.buttons[step].click()
            else:
                lab.set(**step)
        picture = lab.draw(lab.state, lab.function)
        first = SENTENCE_ENDS.split(picture.sentence)[0]
        n_words = len(re.findall(r"\S*\w\S*", first))
        assert n_words <= MAX_WORDS, f"{name}: {n_words} words before the first full stop: {first}"
        notice = "" if functions else picture.notice.removeprefix(usual)  # a learner's is tested lab by lab
        found[name] = SENTENCE_ENDS.split(f"{picture.sentence} {notice}".strip())
    return found


def test_a_trained_head():
    assert readouts(labs.a_trained_head, {"it": {}, "was": {"query": 9}}) == snapshot(
        {
            "it": ["In this head “it” attends most to “cat” (0.72)."],
            "was": ["In this head “was” attends most to “cat” (0.58)."],
        }
    )


def test_be_the_head():
    both, at_sat = {"heads": "two"}, {"query 1 across": 5.0, "query 1 up": -2.0}
    between = {"query 0 across": 2.0, "query 0 up": 0.3}
    states = {"first": {}, "between": between, "two heads": both, "two heads that find both": both | at_sat}
    assert readouts(labs.be_the_head, states) == snapshot(
        {
            "first": ["One head brings 0.70 of “cat” and 0.17 of “sat”.", "“It” needs 0.60 of each."],
            "between": ["One head brings 0.23 of “cat” and 0.75 of “sat”.", "“It” needs 0.60 of each."],
            "two heads": ["Two heads bring 0.86 of “cat” and 0.18 of “sat”.", "“It” needs 0.60 of each."],
            "two heads that find both": ["Two heads bring 0.70 of “cat” and 1.17 of “sat”.", "That is enough of both."],
        }
    )


def test_block_tour():
    states = {f"step {name}": {"step": name} for name in block_tour.NAMES}
    states["head 1 of “sat”"] = {"step": block_tour.NAMES[7], "query": "sat", "head": "1"}
    assert readouts(labs.block_tour, states) == snapshot(
        {
            "step 1. The whole block": [
                "Step 1 of 12.",
                "The whole block.",
                "“it” goes in as (0, 0, 0, 1), and gets (1.82, 1.58, 1.88, 0) added.",
            ],
            "step 2. Words become vectors": [
                "Step 2 of 12.",
                "Words become vectors.",
                "“it” is (0, 0, 0, 1): points back.",
            ],
            "step 3. Queries: what each word looks for": [
                "Step 3 of 12.",
                "Queries: what each word looks for.",
                "Q[it, 1] = row of X · column of W_Q = 0 × 0 + 0 × 0 + 0 × 1 + 1 × 3 = 3.",
            ],
            "step 4. Keys: how each word is found": [
                "Step 4 of 12.",
                "Keys: how each word is found.",
                "K[it, 1] = row of X · column of W_K = 0 × 0 + 0 × 0 + 0 × −1 + 1 × −1 = −1.",
            ],
            "step 5. Values: what each word hands over": [
                "Step 5 of 12.",
                "Values: what each word hands over.",
                "V[cat, 1] = row of X · column of W_V = 1 × 0 + 1 × 2 + 0 × 0 + 0 × 0 = 2.",
            ],
            "step 6. Split into heads": [
                "Step 6 of 12.",
                "Split into heads.",
                "“it”: (1, 3, 2, 0) becomes (1, 3) for head 0 and (2, 0) for head 1.",
            ],
            "step 7. Scores: every query meets every key": [
                "Step 7 of 12.",
                "Scores: every query meets every key.",
                "score(it, cat) = (1 × 2 + 3 × 0) / √2 = 1.41.",
            ],
            "step 8. Weights: each row becomes shares of 1": [
                "Step 8 of 12.",
                "Weights: each row becomes shares of 1.",
                "weight(it, cat) = exp(1.41) / 5.85 = 0.70.",
            ],
            "step 9. Context: the values, mixed by the weights": [
                "Step 9 of 12.",
                "Context: the values, mixed by the weights.",
                "context[it, 0] = 0.70 × 1 + 0.17 × 1 = 0.87.",
            ],
            "step 10. The heads side by side": [
                "Step 10 of 12.",
                "The heads side by side.",
                "(0.87, 1.58) next to (1.88, 0.94) gives (0.87, 1.58, 1.88, 0.94).",
            ],
            "step 11. Output: the heads' features, mixed": [
                "Step 11 of 12.",
                "Output: the heads' features, mixed.",
                "output[it, 0] = row of concat · column of W_O = 0.87 × 1 + 1.58 × 0 + 1.88 × 0 + 0.94 × 1 = 1.82.",
            ],
            "step 12. As a sum: each head adds its part": [
                "Step 12 of 12.",
                "As a sum: each head adds its part.",
                "output[it, 0] = 0.87 + 0.94 = 1.82.",
            ],
            "head 1 of “sat”": [
                "Step 8 of 12.",
                "Weights: each row becomes shares of 1.",
                "weight(sat, cat) = exp(4.24) / 108.54 = 0.64.",
            ],
        }
    )


def test_cache_cost():
    models = ("Llama 2 70B", "Mistral 7B", "DeepSeek-V2")
    states = {
        "first": {},
        "everything kept": {"sharing": "each its own", "window": "all"},
        "a short text": {"length": "short", "window": "middle"},
        **{name: [{"model": name}] for name in models},
        "not as it was built": {"model": "Mistral 7B", "window": "all"},
        "as it was built again": [{"model": "Mistral 7B", "window": "all"}, "As it was built"],
    }
    assert readouts(labs.cache_cost, states) == snapshot(
        {
            "first": [
                "The writer keeps 128 numbers of 16 bits for each of 256 of 256 tokens, in 4 layers: 0.25 MiB, 33.3 % of the whole.",
                "Its loss is 3.32 nats, with everything kept 1.50.",
            ],
            "everything kept": [
                "The writer keeps 384 numbers of 16 bits for each of 256 of 256 tokens, in 4 layers: 0.75 MiB, 100 % of the whole.",
                "That is how it was built.",
                "Its loss is 1.50 nats, with everything kept 1.50.",
            ],
            "a short text": [
                "The writer keeps 128 numbers of 16 bits for each of 32 of 64 tokens, in 4 layers: 32 KiB, 16.7 % of the whole.",
                "Its loss is 2.84 nats, with everything kept 1.52.",
            ],
            "Llama 2 70B": [
                "Llama 2 70B keeps 2,048 numbers of 16 bits for each of 4,096 of 4,096 tokens, in 80 layers: 1.25 GiB, 12.5 % of the whole.",
                "That is how it was built.",
                "What its loss would be with another cache, only training could tell.",
                "Sizes alone: this model isn't run here.",
            ],
            "Mistral 7B": [
                "Mistral 7B keeps 2,048 numbers of 16 bits for each of 4,096 of 8,192 tokens, in 32 layers: 512 MiB, 12.5 % of the whole.",
                "That is how it was built.",
                "What its loss would be with another cache, only training could tell.",
                "Sizes alone: this model isn't run here.",
            ],
            "DeepSeek-V2": [
                "DeepSeek-V2 keeps 576 numbers of 16 bits for each of 131,072 of 131,072 tokens, in 60 layers: 8.44 GiB, 1.76 % of the whole.",
                "That is how it was built.",
                "What its loss would be with another cache, only training could tell.",
                "Sizes alone: this model isn't run here.",
            ],
            "not as it was built": [
                "Mistral 7B keeps 2,048 numbers of 16 bits for each of 8,192 of 8,192 tokens, in 32 layers: 1 GiB, 25 % of the whole.",
                "What its loss would be with another cache, only training could tell.",
                "Sizes alone: this model isn't run here.",
            ],
            "as it was built again": [
                "Mistral 7B keeps 2,048 numbers of 16 bits for each of 4,096 of 8,192 tokens, in 32 layers: 512 MiB, 12.5 % of the whole.",
                "That is how it was built.",
                "What its loss would be with another cache, only training could tell.",
                "Sizes alone: this model isn't run here.",
            ],
        }
    )


def test_coin_tosses():
    states = {
        "first": {},
        "one walk": ["Throw"],
        "many": {"walks": 400, "tosses": 64},
        "after 1": {"walks": 100, "tosses": 1},
    }
    assert readouts(labs.coin_tosses, states) == snapshot(
        {
            "first": ["No walk has been thrown yet.", "Each is 64 tosses long, one step up or down for each."],
            "one walk": ["After 4 tosses the walk is 2 from its start."],
            "many": ["After 64 tosses the 400 walks, all there are, are typically 8.0 from their start."],
            "after 1": ["After 1 toss the 100 walks are typically 1.0 from their start."],
        }
    )


def test_find_the_cat():
    rolled, wide = 3 * ["One step downhill"], {"head": "wide"}
    states = {"first": {}, "after three steps": rolled, "wide": wide, "at the edge": wide | {"push": 1.4}}
    assert readouts(labs.find_the_cat, states) == snapshot(
        {
            "first": ["The narrow head's loss is 4.46, and the slope −2.57."],
            "after three steps": ["The narrow head's loss is 0.35, and the slope −0.43."],
            "wide": [
                "The wide head's loss is 4.77, and the slope 0.00: the ground is level, and a step leaves the query where it is."
            ],
            "at the edge": ["The wide head's loss is 2.99, and the slope −26.57."],
        }
    )


def test_head_browser():
    states = {
        "first": {},
        "an unclear head": {"layer": 5, "head": 11},
        "another query": {"layer": 5, "head": 11, "query": 3},
        "knocked out": {"layer": 2, "head": 6, "knock out": True},
        "beside its twin": {"random twin": True},
        "nothing typed": {"sentence": ""},
        "one character": {"sentence": "a"},
        "from right to left": {"sentence": "שלום"},
        "too long": {"sentence": " ".join(["The", *["cat"] * 40, "sat."])},
    }
    assert readouts(labs.head_browser, states) == snapshot(
        {
            "first": [
                "Layer 0, head 2: “it” (token 8) attends most to “because” (1.00).",
                "Label: prev; on average 1.00 of the weight goes to the token before.",
            ],
            "an unclear head": [
                "Layer 5, head 11: “it” (token 8) attends most to “cat” (0.72), then to “mat” (0.10) and “[CLS]” (0.08).",
                "Label: unclear; no kind of key gets 0.50 on average.",
            ],
            "another query": [
                "Layer 5, head 11: “sat” (token 3) attends most to “cat” (0.78), then to “[CLS]” (0.08) and “mat” (0.05).",
                "Label: unclear; no kind of key gets 0.50 on average.",
            ],
            "knocked out": [
                "Layer 2, head 6: “it” (token 8) attends most to “[CLS]” (0.40), then to “mat” (0.20) and “cat” (0.11).",
                "Label: [CLS]; on average 0.51 of the weight goes to the first token.",
                "Without this head the sentence's vector has cosine 0.9935 with what it was.",
            ],
            "beside its twin": [
                "Layer 0, head 2: “it” (token 8) attends most to “because” (1.00).",
                "Label: prev; on average 1.00 of the weight goes to the token before.",
                "The random twin's head there: at most 0.09, to “it”; spread evenly, each would get 0.08.",
            ],
            "nothing typed": [
                "Layer 0, head 2: “[SEP]” (token 1) attends most to “[CLS]” (1.00).",
                "Label: unclear; it takes 4 tokens to tell one kind of key from another.",
                " There is nothing to read here: the model sees [CLS] and [SEP] alone.",
            ],
            "one character": [
                "Layer 0, head 2: “a” (token 1) attends most to “[CLS]” (1.00).",
                "Label: unclear; it takes 4 tokens to tell one kind of key from another.",
            ],
            "from right to left": [
                "Layer 0, head 2: “\u2066ש\u2069” (token 1) attends most to “[CLS]” (1.00).",
                "Label: prev; on average 0.99 of the weight goes to the token before.",
            ],
            "too long": [
                "Layer 0, head 2: “the” (token 1) attends most to “[CLS]” (1.00).",
                "Label: prev; on average 1.00 of the weight goes to the token before.",
                " The sentence has 45 tokens, of which the model reads 24: it was cut after 'cat'.",
            ],
        }
    )


def test_leak_detector():
    lab = labs.leak_detector()
    states = {f"{mask}, {lab.state['token']}": {"mask": mask} for mask in lab.controls["mask"].options}
    states |= {f"{mask}, it": {"mask": mask, "token": "it"} for mask in ("causal", "diagonal hidden")}
    states["no leak here"] = {"mask": "one too far", "token": "cat"}
    assert readouts(labs.leak_detector, states) == snapshot(
        {
            "causal, because": [
                "No leak: changing “because” moves only outputs “because” and “it”.",
                "Over all tokens: no leaks and no blind cells.",
            ],
            "one too far, because": [
                "Changing “because” moves outputs “mat”, “because” and “it”.",
                "A leak: output “mat” comes before it.",
                "Over all tokens: 4 leaks and no blind cells.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "diagonal hidden, because": [
                "Changing “because” moves output “it”.",
                "Blind: output “because” does not move when its own token changes.",
                "Over all tokens: no leaks and 5 blind cells.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "upside down, because": [
                "Changing “because” moves outputs “cat”, “sat”, “mat” and “because”.",
                "A leak: outputs “cat”, “sat” and “mat” come before it.",
                "Blind: output “it” does not move when a token that it should see changes.",
                "Over all tokens: 10 leaks and 10 blind cells.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "inverted, because": [
                "Changing “because” moves outputs “cat”, “sat” and “mat”.",
                "A leak: outputs “cat”, “sat” and “mat” come before it.",
                "Blind: outputs “because” and “it” do not move when a token that they should see changes.",
                "Over all tokens: 10 leaks and 15 blind cells.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "after the softmax, because": [
                "Changing “because” moves outputs “cat”, “sat”, “mat”, “because” and “it”.",
                "A leak: outputs “cat”, “sat” and “mat” come before it.",
                "Over all tokens: 10 leaks and no blind cells.",
                "Hidden after the softmax, the future still counts in its denominator.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "after, rows rescaled, because": [
                "No leak: changing “because” moves only outputs “because” and “it”.",
                "Over all tokens: no leaks and no blind cells.",
                "Dividing each row by its sum takes the future out of the denominator again.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "no mask, because": [
                "Changing “because” moves outputs “cat”, “sat”, “mat”, “because” and “it”.",
                "A leak: outputs “cat”, “sat” and “mat” come before it.",
                "Over all tokens: 10 leaks and no blind cells.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "causal, it": [
                "No leak: changing “it” moves only output “it”.",
                "Over all tokens: no leaks and no blind cells.",
            ],
            "diagonal hidden, it": [
                "Changing “it” moves no output.",
                "Blind: output “it” does not move when its own token changes.",
                "Over all tokens: no leaks and 5 blind cells.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
            "no leak here": [
                "No leak here: changing “cat” moves only outputs “cat”, “sat”, “mat”, “because” and “it”.",
                "Over all tokens: 4 leaks and no blind cells.",
                "Shown is a variation of the lab's own.",
                "Your causal_mask runs with the mask “causal”.",
            ],
        }
    )


def test_logit_lens():
    states = {
        "first": {},
        "before the first block": {"blocks": 0},
        "after two blocks": {"blocks": 2},
        "unknown letters": {"text": "naïve Ω"},
        "nothing to guess": {"text": "x"},
        "too long": {"text": "a" * 99},
    }
    assert readouts(labs.logit_lens, states) == snapshot(
        {
            "first": [
                "After 4 blocks, 31 of 39 guesses are right, and the loss is 0.67 nats a character (guessing: 4.17).",
                "After “EO:↵My␣l” it expects “o” most (0.92), which came.",
            ],
            "before the first block": [
                "Before the first block, 1 of 39 guesses are right, and the loss is 16.22 nats a character (guessing: 4.17).",
                "After “EO:↵My␣l” it expects “l” most (1.00); “o” came (0.00).",
            ],
            "after two blocks": [
                "After 2 blocks, 14 of 39 guesses are right, and the loss is 1.79 nats a character (guessing: 4.17).",
                "After “EO:↵My␣l” it expects “i” most (0.28); “o” came (0.13).",
            ],
            "unknown letters": [
                "After 4 blocks, 2 of 4 guesses are right, and the loss is 1.88 nats a character (guessing: 4.17).",
                "After “nave” it expects “␣” most (0.57), which came.",
                " What the model has never seen is left out.",
            ],
            "nothing to guess": [
                "After 4 blocks, 31 of 39 guesses are right, and the loss is 0.67 nats a character (guessing: 4.17).",
                "After “EO:↵My␣l” it expects “o” most (0.92), which came.",
                " There is nothing to guess, so here is the first text again.",
            ],
            "too long": [
                "After 4 blocks, 0 of 41 guesses are right, and the loss is 9.52 nats a character (guessing: 4.17).",
                "After “aaaaaaaa” it expects “t” most (0.26); “a” came (0.00).",
                " Of 99 characters the last 42 are read.",
            ],
        }
    )


def test_logit_lens_of_a_function_that_returns_nan():
    def nothing(X, *matrices):
        output, weights = attention.multi_head_attention(X, *matrices)
        return output * np.nan, weights

    assert readouts(labs.logit_lens, {"first": {}}, nothing) == snapshot(
        {
            "first": [
                "After 4 blocks, 1 of 39 guesses are right, and the loss is NaN nats a character (guessing: 4.17).",
                "After “EO:↵My␣l” there are NaN or infinite numbers.",
            ]
        }
    )


def test_mask_studio():
    causal = np.tri(studio.N, dtype=bool)
    row_3_empty, only_row_1 = causal.copy(), causal.copy()
    row_3_empty[3] = False
    only_row_1[[0, 2, 3, 4]] = False
    states = {
        "first": {},
        "nothing hidden": {"mask": "nothing hidden"},
        "everything hidden": {"mask": "everything hidden"},
        "padding": {"length": 3},
        "only row 1 sees": studio.cells(only_row_1),
        **{
            f"row 3 sees nothing, {value}": studio.cells(row_3_empty) | {"hiding value": value}
            for value in studio.HIDING
        },
        "row 3 sees nothing, after": studio.cells(row_3_empty) | {"when": studio.AFTER},
        "hidden after the softmax": {"when": studio.AFTER},
        **{f"hidden by {value}": {"hiding value": value} for value in studio.HIDING},
        **{
            f"hidden by {value}, outrun": {"hiding value": value, "added to all scores": "−15000"}
            for value in studio.HIDING
        },
        **{
            f"as it is, {convention}": {"convention": convention, "handed over": studio.AS_IT_IS}
            for convention in studio.WRITTEN_AS
        },
    }
    assert readouts(labs.mask_studio, states) == snapshot(
        {
            "first": ["10 of 25 cells hidden.", "Each row still sums to 1."],
            "nothing hidden": ["0 of 25 cells hidden.", "Each row sums to 1."],
            "everything hidden": [
                "25 of 25 cells hidden.",
                "Every row sees nothing: zero weights, where a plain softmax gives NaN.",
            ],
            "padding": [
                "13 of 25 cells hidden.",
                "“pad” is no word: it makes the sentence as long as others, so no query may look at it.",
                "Each row still sums to 1.",
            ],
            "only row 1 sees": [
                "23 of 25 cells hidden.",
                "Rows 0 and 2 to 4 see nothing: zero weights, where a plain softmax gives NaN.",
            ],
            "row 3 sees nothing, −inf": [
                "14 of 25 cells hidden.",
                "Row 3 “because” sees nothing: zero weights, where a plain softmax gives NaN.",
            ],
            "row 3 sees nothing, −1e9": [
                "14 of 25 cells hidden.",
                "Row 3 “because” sees nothing: uniform weights, 0.200 for each hidden key.",
                "Each row still sums to 1.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "row 3 sees nothing, −1e4": [
                "14 of 25 cells hidden.",
                "Row 3 “because” sees nothing: uniform weights, 0.200 for each hidden key.",
                "Each row still sums to 1.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "row 3 sees nothing, 0": [
                "14 of 25 cells hidden.",
                "Row 3 “because” sees nothing: uniform weights, 0.200 for each hidden key.",
                "Each row still sums to 1.",
                "Hidden keys get up to 0.49 of a row's weight (row 0 “cat”): exp(0) is 1.00, not 0.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "row 3 sees nothing, −1e-9": [
                "14 of 25 cells hidden.",
                "Row 3 “because” sees nothing: uniform weights, 0.200 for each hidden key.",
                "Each row still sums to 1.",
                "Hidden keys get up to 0.49 of a row's weight (row 0 “cat”): exp(−1e-9) is 1.00, not 0.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "row 3 sees nothing, after": [
                "14 of 25 cells hidden.",
                "Row 3 “because” sees nothing: zero weights.",
                "Rows 0 to 2 sum to 0.28–0.85, not 1: weights were hidden after the softmax.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden after the softmax": [
                "10 of 25 cells hidden.",
                "Rows 0 to 3 sum to 0.28–0.86, not 1: weights were hidden after the softmax.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by −inf": ["10 of 25 cells hidden.", "Each row still sums to 1."],
            "hidden by −1e9": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by −1e4": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by 0": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Hidden keys get up to 0.49 of a row's weight (row 0 “cat”): exp(0) is 1.00, not 0.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by −1e-9": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Hidden keys get up to 0.49 of a row's weight (row 0 “cat”): exp(−1e-9) is 1.00, not 0.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by −inf, outrun": ["10 of 25 cells hidden.", "Each row still sums to 1."],
            "hidden by −1e9, outrun": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by −1e4, outrun": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Hidden keys get up to 1.00 of a row's weight (row 0 “cat”): −1e4 is outrun, for the other scores lie below it.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by 0, outrun": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Hidden keys get up to 1.00 of a row's weight (row 0 “cat”): 0 is outrun, for the other scores lie below it.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "hidden by −1e-9, outrun": [
                "10 of 25 cells hidden.",
                "Each row still sums to 1.",
                "Hidden keys get up to 1.00 of a row's weight (row 0 “cat”): −1e-9 is outrun, for the other scores lie below it.",
                "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.",
            ],
            "as it is, True attends": [
                "10 of 25 cells hidden.",
                "Handed over as it is, the mask happens to be read rightly.",
                "Each row still sums to 1.",
            ],
            "as it is, True hides": [
                "15 of 25 cells hidden.",
                "Handed over as it is, the mask is read the wrong way round: it shows what it should hide.",
                "Row 4 “it” sees nothing: zero weights, where a plain softmax gives NaN.",
                "Hidden keys get up to 1.00 of a row's weight (row 0 “cat”).",
            ],
            "as it is, add 0 or −inf": [
                "15 of 25 cells hidden.",
                "Handed over as it is, the mask is read the wrong way round: it shows what it should hide.",
                "Row 4 “it” sees nothing: zero weights, where a plain softmax gives NaN.",
                "Hidden keys get up to 1.00 of a row's weight (row 0 “cat”).",
            ],
            "as it is, 1 and 0": [
                "10 of 25 cells hidden.",
                "Handed over as it is, the mask happens to be read rightly.",
                "Each row still sums to 1.",
            ],
        }
    )


def test_mask_studio_of_wrong_functions():
    def hiding(value):
        def masked_attention(queries, keys, values, mask):
            scores = np.where(mask, queries @ keys.T / np.sqrt(queries.shape[-1]), value)
            exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
            return weights @ values, weights

        return masked_attention

    row_3_empty = np.tri(studio.N, dtype=bool)
    row_3_empty[3] = False
    states = {"row 3 sees nothing": studio.cells(row_3_empty), "outrun": {"added to all scores": "−15000"}}
    with np.errstate(invalid="ignore"):
        found = {value: readouts(labs.mask_studio, states, hiding(value)) for value in (-np.inf, -1e4)}
    found = {str(value): sentences for value, sentences in found.items()}
    assert found == snapshot(
        {
            "-inf": {
                "row 3 sees nothing": ["14 of 25 cells hidden.", "Row 3 “because” sees nothing: NaN."],
                "outrun": ["10 of 25 cells hidden.", "Each row still sums to 1."],
            },
            "-10000.0": {
                "row 3 sees nothing": [
                    "14 of 25 cells hidden.",
                    "Row 3 “because” sees nothing: uniform weights, 0.200 for each hidden key.",
                    "Each row still sums to 1.",
                ],
                "outrun": [
                    "10 of 25 cells hidden.",
                    "Each row still sums to 1.",
                    "Hidden keys get up to 1.00 of a row's weight (row 0 “cat”).",
                ],
            },
        }
    )


def test_qkv_workbench():
    states = {
        "first": {},
        "a token with itself": {"key": "it"},
        "another query": {"query": "sat", "key": "cat"},
        "dragged": {"query across": 0.0, "query up": 0.0},
        "W_V changed": {"W_V[0,0]": -7.5},
        "swapped": "Swap W_Q and W_K",
        "tied": "Tie W_K = W_Q",
        "identity": "W_V = identity",
    }
    states = {name: state if isinstance(state, dict) else [state] for name, state in states.items()}
    assert readouts(labs.qkv_workbench, states) == snapshot(
        {
            "first": [
                "“it” attends most to “cat” (0.83).",
                "The scores are not symmetric: “it” gives “cat” a score of 2, but “cat” gives “it” 0.",
            ],
            "a token with itself": [
                "“it” attends most to “cat” (0.83).",
                "The scores are not symmetric: “cat” gives “it” a score of 0, but “it” gives “cat” 2.",
            ],
            "another query": [
                "“sat” attends most to “cat” and “sat” (0.47 each).",
                "The scores are not symmetric: “sat” gives “cat” a score of 2, but “cat” gives “sat” 3.",
            ],
            "dragged": ["Dragged to (0, 0), the query of “it” attends to all alike (0.20).", "Its own is (1, 3)."],
            "W_V changed": [
                "“it” attends most to “cat” (0.83).",
                "The scores are not symmetric: “it” gives “cat” a score of 2, but “cat” gives “it” 0.",
                "Only values and context have changed since the start: the weights do not depend on W_V.",
            ],
            "swapped": [
                "“it” attends most to “cat” and “mat” (0.36 each).",
                "The scores are not symmetric: “it” gives “cat” a score of 0, but “cat” gives “it” 2.",
                "Changed since the start: queries, keys, scores, weights, context.",
            ],
            "tied": [
                "“it” attends most to “it” (1.00).",
                "The scores are symmetric: each pair of tokens scores the same in both directions.",
                "Changed since the start: keys, scores, weights, context.",
            ],
            "identity": [
                "“it” attends most to “cat” (0.83).",
                "The scores are not symmetric: “it” gives “cat” a score of 2, but “cat” gives “it” 0.",
                "Only values and context have changed since the start: the weights do not depend on W_V.",
            ],
        }
    )


def shapes(*answers, **sizes):
    """Fill in and check one answer after the other, from the start."""
    return ["Start over", sizes, *(step for shape in answers for step in ({"shape": ", ".join(shape)}, "Check"))]


def test_row_times_column():
    states = {
        "first": {},
        "a key": {"matrix": "K", "row": "sat", "column": "0"},
        "a value": {"matrix": "V", "row": "mat"},
    }
    assert readouts(labs.row_times_column, states) == snapshot(
        {
            "first": ["Q[it, 1] is the row of “it” times column 1 of W_Q.", "Without the row's zeros: 1 × 3 = 3."],
            "a key": [
                "K[sat, 0] is the row of “sat” times column 0 of W_K.",
                "Without the row's zeros: 1 × 3 + 1 × 0 = 3.",
            ],
            "a value": ["V[mat, 1] is the row of “mat” times column 1 of W_V.", "Without the row's zeros: 1 × 2 = 2."],
        }
    )


def test_shape_tracer():
    right = [("B", "S", "d_model"), ("B", "S", "h", "d_head"), ("B", "h", "S", "d_head"), ("B", "h", "S", "S again")]
    right += [right[3], right[2], right[1], right[0], right[0]]
    assert len(right) == len(STAGES) - 1
    wrong = {
        "an axis too few": (0, ("B", "S")),
        "d_head for d_model": (0, ("B", "S", "d_head")),
        "h for B": (0, ("h", "S", "d_model")),
        "not cut": (1, ("B", "S", "d_model")),
        "turned too early": (1, ("B", "h", "S", "d_head")),
        "other numbers": (1, ("B", "S", "h", "S again")),
        "not turned": (2, ("B", "S", "h", "d_head")),
        "no scores": (3, ("B", "h", "S", "d_head")),
        "still scores": (5, ("B", "h", "S", "S again")),
        "not merged": (7, ("B", "S", "h", "d_head")),
        "one head's": (7, ("B", "S", "d_head")),
    }
    states = {
        "first": {},
        "start": shapes(),
        **{f"{n} right": shapes(*right[:n]) for n in range(1, 10)},
        **{name: shapes(*right[:n], guess) for name, (n, guess) in wrong.items()},
        "at the second try": shapes(right[0], right[2], right[1]),
        "shown": ["Start over", "Show"],
        "shown to the end": ["Start over", *["Show"] * 9],
        "it doesn't fail": ["Start over", "It fails"],
        "both are 3": shapes(("h", "S", "d_model"), B=3, h=3),
        "other sizes": [*shapes(right[0]), {"S": 6}],
        "the heads don't divide": shapes(right[0], right[1], h=5),
        "it fails": [*shapes(right[0], right[1], h=5), "It fails"],
        "that it fails is shown": [*shapes(d_model=4, h=6), "Show", "Show"],
    }
    assert readouts(labs.shape_tracer, states) == snapshot(
        {
            "first": [
                "Q is (2, 5, 12): a product changes the last axis only.",
                "Stage 2 of 9: what is the shape of cut?",
            ],
            "start": ["Stage 1 of 9: what is the shape of Q?"],
            "1 right": [
                "Right: Q is (2, 5, 12): a product changes the last axis only.",
                "Stage 2 of 9: what is the shape of cut?",
                "So far 1 of 1 right at the first try.",
            ],
            "2 right": [
                "Right: cut is (2, 5, 3, 4): the last axis is cut in two.",
                "Stage 3 of 9: what is the shape of queries?",
                "So far 2 of 2 right at the first try.",
            ],
            "3 right": [
                "Right: queries is (2, 3, 5, 4): heads go before tokens.",
                "Stage 4 of 9: what is the shape of scores?",
                "So far 3 of 3 right at the first try.",
            ],
            "4 right": [
                "Right: scores is (2, 3, 5, 5): each query meets each key, and the product sums d_head away.",
                "Stage 5 of 9: what is the shape of weights?",
                "So far 4 of 4 right at the first try.",
            ],
            "5 right": [
                "Right: weights is (2, 3, 5, 5): softmax keeps every axis.",
                "Stage 6 of 9: what is the shape of context?",
                "So far 5 of 5 right at the first try.",
            ],
            "6 right": [
                "Right: context is (2, 3, 5, 4): the product sums the keys away and brings the values' features.",
                "Stage 7 of 9: what is the shape of swapped?",
                "So far 6 of 6 right at the first try.",
            ],
            "7 right": [
                "Right: swapped is (2, 5, 3, 4): tokens go before heads again.",
                "Stage 8 of 9: what is the shape of merged?",
                "So far 7 of 7 right at the first try.",
            ],
            "8 right": [
                "Right: merged is (2, 5, 12): h and d_head become one axis.",
                "Stage 9 of 9: what is the shape of output?",
                "So far 8 of 8 right at the first try.",
            ],
            "9 right": [
                "Right: output is (2, 5, 12): as large as X.",
                "The end: 9 of 9 right at the first try.",
                "Follow an axis down the ribbons: d_model is cut into h and d_head, and at the end it is whole again.",
            ],
            "an axis too few": ["Not (B, S).", "Q has 3 axes, not 2: a product changes the last axis only."],
            "d_head for d_model": [
                "Not (B, S, d_head).",
                "Axis 2 of Q is not d_head: it counts a token's features, all heads together; a product changes the last axis only.",
            ],
            "h for B": [
                "Not (h, S, d_model).",
                "Axis 0 of Q is not h: it counts sequences in the batch; a product changes the last axis only.",
            ],
            "not cut": [
                "Not (B, S, d_model).",
                "cut has 4 axes, not 3: the last axis is cut in two.",
                "So far 1 of 1 right at the first try.",
            ],
            "turned too early": [
                "Not (B, h, S, d_head).",
                "Axis 1 of cut is not h: it counts tokens; the last axis is cut in two.",
                "Your axes are right, their order is not.",
                "So far 1 of 1 right at the first try.",
            ],
            "other numbers": [
                "Not (B, S, h, S).",
                "Axis 3 of cut is not S: it counts one head's features, d_model / h; the last axis is cut in two.",
                "A reshape keeps all 120 numbers; yours has 150.",
                "So far 1 of 1 right at the first try.",
            ],
            "not turned": [
                "Not (B, S, h, d_head).",
                "Axis 1 of queries is not S: it counts heads; heads go before tokens.",
                "Your axes are right, their order is not.",
                "So far 2 of 2 right at the first try.",
            ],
            "no scores": [
                "Not (B, h, S, d_head).",
                "Axis 3 of scores is not d_head: it counts tokens that are asked; each query meets each key, and the product sums d_head away.",
                "So far 3 of 3 right at the first try.",
            ],
            "still scores": [
                "Not (B, h, S, S).",
                "Axis 3 of context is not S: it counts one head's features, d_model / h; the product sums the keys away and brings the values' features.",
                "So far 5 of 5 right at the first try.",
            ],
            "not merged": [
                "Not (B, S, h, d_head).",
                "merged has 3 axes, not 4: h and d_head become one axis.",
                "So far 7 of 7 right at the first try.",
            ],
            "one head's": [
                "Not (B, S, d_head).",
                "Axis 2 of merged is not d_head: it counts a token's features, all heads together; h and d_head become one axis.",
                "A reshape keeps all 120 numbers; yours has 40.",
                "So far 7 of 7 right at the first try.",
            ],
            "at the second try": [
                "Right: cut is (2, 5, 3, 4): the last axis is cut in two.",
                "Stage 3 of 9: what is the shape of queries?",
                "So far 1 of 2 right at the first try.",
            ],
            "shown": [
                "Shown: Q is (2, 5, 12): a product changes the last axis only.",
                "Stage 2 of 9: what is the shape of cut?",
                "So far 0 of 1 right at the first try.",
            ],
            "shown to the end": [
                "Shown: output is (2, 5, 12): as large as X.",
                "The end: 0 of 9 right at the first try.",
                "Follow an axis down the ribbons: d_model is cut into h and d_head, and at the end it is whole again.",
            ],
            "it doesn't fail": ["It does not fail: Q has a shape."],
            "both are 3": [
                "Not (h, S, d_model).",
                "Axis 0 of Q is not h: it counts sequences in the batch; a product changes the last axis only.",
                "Here both are 3, but with other sizes they need not be.",
            ],
            "other sizes": ["The sizes have changed: the walk starts anew.", "Stage 1 of 9: what is the shape of Q?"],
            "the heads don't divide": [
                "Not (B, S, h, d_head).",
                "There is no such array: the features cannot be cut into this many equal parts.",
                "Say that it fails.",
                "So far 1 of 1 right at the first try.",
            ],
            "it fails": [
                "Right: NumPy refuses: ValueError: cannot reshape array of size 120 into shape (2,5,5,2).",
                "The end: 1 of 2 right at the first try.",
                "There is no further stage.",
            ],
            "that it fails is shown": [
                "Shown: NumPy refuses: ValueError: cannot reshape array of size 40 into shape (2,5,6,0).",
                "The end: 0 of 2 right at the first try.",
                "There is no further stage.",
            ],
        }
    )


def test_softmax_scaling():
    states = {
        "first": {},
        **{f"divided by {divisor}": {"divisor": divisor} for divisor in ("sqrt(d_k)", "d_k", "sqrt(d_model)")},
        "a small d_k": {"d_k": 4},
        "a large d_k": {"d_k": 512},
        "nearly equal": {"divisor": "d_k", "d_k": 256},
        **{f"{added} added": {"add": added} for added in (-1000, 10, 100, 1000)},
    }
    assert readouts(labs.softmax_scaling, states) == snapshot(
        {
            "first": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "The largest weight is 0.99: a nudge moves hardly anything.",
            ],
            "divided by sqrt(d_k)": [
                "Divided by sqrt(d_k) = 8, at d_k = 64, the scores spread by 1.00 instead of 7.99.",
                "The largest weight is 0.34: the weights differ, and a nudge still moves them.",
            ],
            "divided by d_k": [
                "Divided by d_k = 64, at d_k = 64, the scores spread by 0.12 instead of 7.99.",
                "The largest weight is 0.15: the weights are nearly equal (1/8 each), and no key stands out.",
            ],
            "divided by sqrt(d_model)": [
                "Divided by sqrt(d_model) = 22.63 (d_model = 512), at d_k = 64, the scores spread by 0.35 instead of 7.99.",
                "The largest weight is 0.19: the weights are nearly equal (1/8 each), and no key stands out.",
            ],
            "a small d_k": [
                "Not divided, at d_k = 4, the scores spread by 1.95 (sqrt(d_k) = 2).",
                "The largest weight is 0.48: the weights differ, and a nudge still moves them.",
                "At d_k = 4 a divisor hardly matters.",
            ],
            "a large d_k": [
                "Not divided, at d_k = 512, the scores spread by 22.77 (sqrt(d_k) = 22.63).",
                "The largest weight is 1.00: a nudge moves hardly anything.",
            ],
            "nearly equal": [
                "Divided by d_k = 256, at d_k = 256, the scores spread by 0.06 instead of 15.79.",
                "The largest weight is 0.14: the weights are nearly equal (1/8 each), and no key stands out.",
            ],
            "-1000 added": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "The largest weight is 0.99: a nudge moves hardly anything.",
                "Adding −1000 to every score has changed no weight.",
                "Naive exp(s) / sum gives NaN.",
            ],
            "10 added": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "The largest weight is 0.99: a nudge moves hardly anything.",
                "Adding 10 to every score has changed no weight.",
            ],
            "100 added": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "The largest weight is 0.99: a nudge moves hardly anything.",
                "Adding 100 to every score has changed no weight.",
            ],
            "1000 added": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "The largest weight is 0.99: a nudge moves hardly anything.",
                "Adding 1000 to every score has changed no weight.",
                "Naive exp(s) / sum gives NaN.",
            ],
        }
    )


def test_softmax_scaling_of_wrong_functions():
    def naive(scores):
        return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)

    def over_rows(scores):
        return np.exp(scores) / np.exp(scores).sum(axis=0)

    def negative(scores):
        return 1.5 * np.eye(1, 8) - 0.5 * np.eye(1, 8, 1)

    with np.errstate(all="ignore"):
        found = {
            function.__name__: readouts(labs.softmax_scaling, {"1000 added": {"add": 1000}}, function)["1000 added"]
            for function in (naive, over_rows, negative)
        }
    assert found == snapshot(
        {
            "naive": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "The weights hold NaN or infinity, so they cannot be measured.",
                "Naive exp(s) / sum gives NaN.",
            ],
            "over_rows": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "The weights hold NaN or infinity, so they cannot be measured.",
                "Naive exp(s) / sum gives NaN.",
            ],
            "negative": [
                "Not divided, at d_k = 64, the scores spread by 7.99 (sqrt(d_k) = 8).",
                "These are no weights: they must be 0 or more and sum to 1, and their sum is 1.",
                "Naive exp(s) / sum gives NaN.",
            ],
        }
    )


SPLIT_STEPS = labs.split_lab().controls["step"].options


def test_split_lab():
    split = {"step": SPLIT_STEPS[2]}
    states = {
        "first": {},
        **{f"step {step}": {"step": step} for step in SPLIT_STEPS},
        "a token a head": split | {"heads": 4, "d_model": 4, "tokens": 4},
        "in the same head either way": [split | {"tokens": 4}, {"token": 2, "feature": 3}],
        "one head": split | {"heads": 1},
        "one head, merged": {"step": SPLIT_STEPS[3], "heads": 1},
        "heads that don't divide": split | {"heads": 3, "d_model": 8},
        "the followed entry ends where X ends": [
            split | {"tokens": 5, "d_model": 8},
            {"token": 4, "feature": 7},
            {"tokens": 2, "d_model": 6},
        ],
    }
    assert readouts(labs.split_lab, states) == snapshot(
        {
            "first": [
                "X: a row a token.",
                "The colours say which head a feature is for, and the dashes where X will be cut.",
                "Step on: where does entry 102 (“sat”, feature 2) go?",
            ],
            "step 1 X": [
                "X: a row a token.",
                "The colours say which head a feature is for, and the dashes where X will be cut.",
                "Step on: where does entry 102 (“sat”, feature 2) go?",
            ],
            "step 2 reshape": [
                "Right: each token's row is cut into a block of its own, with a row for each head.",
                "Wrong: the numbers are counted on, row after row, into heads at once.",
            ],
            "step 3 transpose: split": [
                "Wrong: head 0 holds cat, sat, mat only.",
                "Entry 102 (“sat”, feature 2) is in head 1 when right, in head 0 when wrong.",
            ],
            "step 4 merge back": [
                "combine_heads gives X back from the right heads, with all shapes right.",
                "A wrong split and a merge without swapaxes give X back, too: two mistakes hide each other.",
            ],
            "a token a head": [
                "Wrong: head 0 holds “cat” and compares it only with itself.",
                "Entry 102 (“sat”, feature 2) is in head 2 when right, in head 1 when wrong.",
            ],
            "in the same head either way": [
                "Wrong: head 0 holds cat, sat only.",
                "Entry 203 (“mat”, feature 3) is in head 1 either way.",
            ],
            "one head": ["With one head there is nothing to cut: right and wrong are the same."],
            "one head, merged": ["With one head there is nothing to cut: right and wrong are the same."],
            "heads that don't divide": [
                "ValueError: d_model=8 is not divisible by n_heads=3; choose 1, 2, 4 or 8 heads.",
                "Nothing is split: 3 heads cannot share 8 features equally.",
            ],
            "the followed entry ends where X ends": [
                "Wrong: head 0 holds “cat” and compares it only with itself.",
                "Entry 105 (“sat”, feature 5) is in head 1 either way.",
            ],
        }
    )


def test_split_lab_of_other_functions():
    def strided(X, n_heads):
        return np.stack([X[:, head::n_heads] for head in range(n_heads)])

    def right(X, n_heads):
        return attention.split_heads(X, n_heads)

    def empty(X, n_heads):
        return np.zeros((n_heads, len(X), X.shape[1] // n_heads))

    functions = (strided, right, empty)
    states = {step: {"step": step} for step in SPLIT_STEPS[2:]}
    found = {function.__name__: readouts(labs.split_lab, states, function) for function in functions}
    assert found == snapshot(
        {
            "strided": {
                "3 transpose: split": [
                    "Wrong: head 0 holds cat, sat, mat only.",
                    "Entry 102 (“sat”, feature 2) is in head 1 when right, in head 0 when wrong.",
                    "Yours has it in head 0.",
                ],
                "4 merge back": [
                    "combine_heads gives X back from the right heads, with all shapes right.",
                    "A wrong split and a merge without swapaxes give X back, too: two mistakes hide each other.",
                ],
            },
            "right": {
                "3 transpose: split": [
                    "Wrong: head 0 holds cat, sat, mat only.",
                    "Entry 102 (“sat”, feature 2) is in head 1 when right, in head 0 when wrong.",
                    "Yours has it in head 1.",
                ],
                "4 merge back": [
                    "combine_heads gives X back from the right and yours heads, with all shapes right.",
                    "A wrong split and a merge without swapaxes give X back, too: two mistakes hide each other.",
                ],
            },
            "empty": {
                "3 transpose: split": [
                    "Wrong: head 0 holds cat, sat, mat only.",
                    "Entry 102 (“sat”, feature 2) is in head 1 when right, in head 0 when wrong.",
                    "Yours does not hold it.",
                ],
                "4 merge back": [
                    "combine_heads gives X back from the right heads, with all shapes right.",
                    "A wrong split and a merge without swapaxes give X back, too: two mistakes hide each other.",
                ],
            },
        }
    )


def test_sum_of_heads():
    lab = labs.sum_of_heads()
    states = {
        "first": {},
        "head 1 off": {"head 1": False},
        "both off": {"head 0": False, "head 1": False},
        **{f"head 1 off, {kind}": {"head 1": False, "heads off": kind} for kind in lab.controls["heads off"].options},
        **{
            f"exchanged, rows of W_O {rows}": {"order": "1, 0", "rows of W_O": rows}
            for rows in lab.controls["rows of W_O"].options
        },
        "a large weight that adds little": {"token": "sat"},
    }
    assert readouts(labs.sum_of_heads, states) == snapshot(
        {
            "first": [
                "All heads are on.",
                "The contributions to “it” sum to a vector of length 3.05; concat @ W_O is the same.",
                "Head 1 has the largest weight (0.89, on “sat”) and adds most, too (length 2.10).",
            ],
            "head 1 off": [
                "Head 1 is off (zero).",
                "The contributions to “it” sum to a vector of length 1.80; concat @ W_O is the same.",
                "The output has moved by a vector of length 2.10, exactly what that head adds.",
                "(With all heads its length is 3.05.) Head 0 has the largest weight (0.70, on “cat”) and adds most, too (length 1.80).",
            ],
            "both off": [
                "Heads 0 and 1 are off (zero).",
                "The contributions to “it” sum to a vector of length 0.00; concat @ W_O is the same.",
                "The output has moved by a vector of length 3.05, exactly what those heads add.",
                "(With all heads its length is 3.05.)",
            ],
            "head 1 off, zero": [
                "Head 1 is off (zero).",
                "The contributions to “it” sum to a vector of length 1.80; concat @ W_O is the same.",
                "The output has moved by a vector of length 2.10, exactly what that head adds.",
                "(With all heads its length is 3.05.) Head 0 has the largest weight (0.70, on “cat”) and adds most, too (length 1.80).",
            ],
            "head 1 off, mean over tokens": [
                "Head 1 is off (mean over tokens).",
                "The contributions to “it” sum to a vector of length 2.41; concat @ W_O is the same.",
                "The output has moved by a vector of length 0.97.",
                "(With all heads its length is 3.05.) Head 0 has the largest weight (0.70, on “cat”) and adds most, too (length 1.80).",
            ],
            "head 1 off, another sentence's": [
                "Head 1 is off (another sentence's).",
                "The contributions to “it” sum to a vector of length 2.76; concat @ W_O is the same.",
                "The output has moved by a vector of length 0.37.",
                "(With all heads its length is 3.05.) Head 0 has the largest weight (0.70, on “cat”) and adds most, too (length 1.80).",
            ],
            "exchanged, rows of W_O stay": [
                "All heads are on.",
                "The contributions to “it” sum to a vector of length 3.69; concat @ W_O is the same.",
                "Exchanging the heads and not the rows of W_O changes the output by up to 1.64.",
                "The output has moved by a vector of length 2.03.",
                "(With all heads its length is 3.05.) Head 1 has the largest weight (0.89, on “sat”) and adds most, too (length 2.10).",
            ],
            "exchanged, rows of W_O exchanged alike": [
                "All heads are on.",
                "The contributions to “it” sum to a vector of length 3.05; concat @ W_O is the same.",
                "Exchanging the heads together with their rows of W_O changes nothing.",
                "Head 1 has the largest weight (0.89, on “sat”) and adds most, too (length 2.10).",
            ],
            "a large weight that adds little": [
                "All heads are on.",
                "The contributions to “sat” sum to a vector of length 1.94; concat @ W_O is the same.",
                "Head 1 has the largest weight (0.64, on “cat”), yet adds length 0.89; head 0 adds most, 1.27.",
                "A large weight doesn't have to mean a large contribution.",
            ],
        }
    )


def test_sum_of_heads_of_wrong_functions():
    def same_block(heads, W_O):
        return heads @ W_O[: heads.shape[-1]]

    def infinite(heads, W_O):
        return attention.head_contributions(heads, W_O) * np.inf

    with np.errstate(all="ignore"):
        functions = (same_block, infinite)
        found = {f.__name__: readouts(labs.sum_of_heads, {"first": {}}, f)["first"] for f in functions}
    assert found == snapshot(
        {
            "same_block": [
                "All heads are on.",
                "The contributions to “it” sum to a vector of length 3.73; concat @ W_O is something else.",
                "The output has moved by a vector of length 2.31.",
                "(With all heads its length is 3.05.) Head 1 has the largest weight (0.89, on “sat”) and adds most, too (length 2.10).",
            ],
            "infinite": ["All heads are on.", "The contributions hold NaN or infinity, so they cannot be added up."],
        }
    )


def test_the_future_hidden():
    hidden = {"hidden": True}
    states = {"first": {}, "hidden": hidden, "mat": {"query": "mat"}, "the last": hidden | {"query": "it"}}
    assert readouts(labs.the_future_hidden, states) == snapshot(
        {
            "first": [
                "“cat” gives 0.72 of its attention to what comes after it.",
                "The word that it is to guess, “sat”, has 0.56.",
            ],
            "hidden": ["“cat” can't attend to what comes after it.", "It gives itself the 0.72 that those words had."],
            "mat": [
                "“mat” gives 0.40 of its attention to what comes after it.",
                "The word that it is to guess, “because”, has 0.20.",
            ],
            "the last": ["Nothing comes after “it”, so there is nothing to hide: its row stays as it is."],
        }
    )


def test_training_run():
    states = {
        "first": {},
        "step 0": {"step": 0},
        "a mask that leaks": {"run": "no mask"},
        "a layer knocked out": {"knock out": "all of layer 1"},
        "unknown letters": {"letters": "xyzab"},
        "nothing to read": {"letters": ""},
        "too long": {"letters": "a" * 99},
    }
    assert readouts(labs.training_run, states) == snapshot(
        {
            "first": [
                "“2 heads”, step 400: loss 0.00; 100 % of the guesses on new sequences are right.",
                "Who looks where: layer 0, head 0 at the token before (0.75); layer 1, head 0 at what followed (0.97).",
                "After “cabincabinca” it guesses “b” (1.00).",
            ],
            "step 0": [
                "“2 heads”, step 0: loss 2.84; 6 % of the guesses on new sequences are right.",
                "After “cabincabinca” it guesses “g” (0.13).",
            ],
            "a mask that leaks": [
                "“no mask”, step 400: loss 0.07; 98 % of the guesses on new sequences are right.",
                "When nothing comes after yet, only 15 % are: it can't write.",
                "To go on after “cabincabinca” it guesses “a”.",
            ],
            "a layer knocked out": [
                "“2 heads”, step 400 without all of layer 1: loss 3.08; 8 % of the guesses on new sequences are right.",
                "Who looks where: layer 0, head 0 at the token before (0.75).",
                "After “cabincabinca” it guesses “m” (0.18).",
            ],
            "unknown letters": [
                "“2 heads”, step 400: loss 0.00; 100 % of the guesses on new sequences are right.",
                "Who looks where: layer 0, head 0 at the token before (0.75); layer 1, head 0 at what followed (0.97).",
                "After “ab” it guesses “b” (0.97).",
                " The model knows the letters a to p; x, y, z left out.",
            ],
            "nothing to read": [
                "“2 heads”, step 400: loss 0.00; 100 % of the guesses on new sequences are right.",
                "Who looks where: layer 0, head 0 at the token before (0.75); layer 1, head 0 at what followed (0.97).",
                "After “cabincabinca” it guesses “b” (1.00).",
                " There is nothing to read, so here is cabincabinca again.",
            ],
            "too long": [
                "“2 heads”, step 400: loss 0.00; 100 % of the guesses on new sequences are right.",
                "Who looks where: layer 0, head 0 at the token before (0.75); layer 1, head 0 at what followed (0.97).",
                "After “aaaaaaaaaaaa” it guesses “a” (1.00).",
                " Of 99 letters the last 12 are shown.",
            ],
        }
    )


def test_two_banks():
    states = {
        "first": {},
        "a long vector": {"bank: water": 4.0, "bank: money": 4.0},
        "no vector": {"bank: water": 0.0, "bank: money": 0.0},
    }
    assert readouts(labs.two_banks, states) == snapshot(
        {
            "first": [
                "With “river”, “bank” becomes (2.46, 0.27): 73 % of it is “river”.",
                "With “money”, “bank” becomes (0.27, 2.46): 73 % of it is “money”.",
            ],
            "a long vector": [
                "With “river”, “bank” becomes (4.00, 4.00): less than 1 % of it is “river”.",
                "With “money”, “bank” becomes (4.00, 4.00): less than 1 % of it is “money”.",
            ],
            "no vector": [
                "With “river”, “bank” becomes (1.50, 0.00): 50 % of it is “river”.",
                "With “money”, “bank” becomes (0.00, 1.50): 50 % of it is “money”.",
            ],
        }
    )


def test_two_heads():
    assert readouts(labs.two_heads, {token: {"query": token} for token in running_example.TOKENS}) == snapshot(
        {
            "cat": ["“cat” attends most to “sat” (0.56) in head 0, and most to “sat” (0.62) in head 1."],
            "sat": ["“sat” attends most to “cat” and “sat” (0.42 each) in head 0, and most to “cat” (0.64) in head 1."],
            "mat": ["“mat” attends to all alike (0.20) in both heads."],
            "because": [
                "“because” attends most to “cat” and “mat” (0.29 each) in head 0, and most to “cat” and “mat” (0.46 each) in head 1."
            ],
            "it": ["“it” attends most to “cat” (0.70) in head 0, and most to “sat” (0.89) in head 1."],
        }
    )


def test_which_bug():
    wards = which_bug.ward(1)
    letter = {bug: name for name, bug in wards.items()}["no W_O"]
    asked = {"patient": letter, "knock-out": True, "leak": True}
    states = {
        "first": {},
        "nobody has asked": {"patient": letter},
        "asked": [{"patient": letter}, asked],
        "right": [{"patient": letter}, asked | {"diagnosis": "no W_O"}, "Commit"],
        "right, and not told": [{"patient": letter, "diagnosis": "no W_O"}, "Commit"],
        "wrong": [{"patient": letter}, asked | {"diagnosis": "no scale"}, "Commit"],
        "the second diagnosis": [
            {"patient": letter, "diagnosis": "no scale"}, "Commit", {"diagnosis": "no W_O"}, "Commit",
        ],
        "yours": {"patient": which_bug.YOURS, "row sums": True},
        "new patients": ["New patients"],
    }  # fmt: skip
    assert readouts(labs.which_bug, states) == snapshot(
        {
            "first": [
                "The answer is “no scale”.",
                "Told by entropy: Scores that nobody divides are twice as large (sqrt(d_head) is 2): sharper weights.",
                "A to J are yours to diagnose.",
            ],
            "nobody has asked": ["Patient G: no probe is shown yet.", "A to J are yours to diagnose."],
            "asked": [
                "Patient G: knock-out: Its rows of W_O make no difference at all.",
                "1 normal.",
                "A to J are yours to diagnose, 2 probes used.",
            ],
            "right": [
                "Committed: no W_O.",
                "Right.",
                "Told by knock-out: W_O is never used: zeroing its rows changes nothing.",
                "Score: 1 of 1 right, 2 probes used.",
            ],
            "right, and not told": [
                "Patient G: no probe is shown yet.",
                "Committed: no W_O.",
                "Right.",
                "Knock-out would have told: W_O is never used: zeroing its rows changes nothing.",
                "Score: 1 of 1 right.",
            ],
            "wrong": [
                "Committed: no scale.",
                "Wrong: patient G is “no W_O”.",
                "On knock-out, “no scale” reads “Both ways take the same from every output.”, and this one “Its rows of W_O make no difference at all.” Told by knock-out: W_O is never used: zeroing its rows changes nothing.",
                "Score: 0 of 1 right, 2 probes used.",
            ],
            "the second diagnosis": [
                "Patient G: no probe is shown yet.",
                "Committed: no scale.",
                "Wrong: patient G is “no W_O”.",
                "On knock-out, “no scale” reads “Both ways take the same from every output.”, and this one “Its rows of W_O make no difference at all.” Knock-out would have told: W_O is never used: zeroing its rows changes nothing.",
                "Score: 0 of 1 right.",
            ],
            "yours": [
                "Patient yours: nothing abnormal so far.",
                "Yours is not scored.",
                "A to J are yours to diagnose.",
                "Shown with the course's own multi_head_attention.",
            ],
            "new patients": ["Patient A: no probe is shown yet.", "A to J are yours to diagnose."],
        }
    )


def test_which_bug_of_a_learners_function():
    def no_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return attention.multi_head_attention(X, W_Q, W_K, W_V, np.eye(len(W_O)), n_heads, mask)

    def transposed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return attention.multi_head_attention(X, W_Q, W_K, W_V, W_O.T, n_heads, mask)

    states = {
        bug: [{"patient": which_bug.YOURS}, {"diagnosis": bug, "knock-out": True}, "Commit"]
        for bug in ("no W_O", "no scale")
    }
    found = {function.__name__: readouts(labs.which_bug, states, function) for function in (no_W_O, transposed)}
    assert found == snapshot(
        {
            "no_W_O": {
                "no W_O": [
                    "Committed: no W_O.",
                    "Right.",
                    "Told by knock-out: W_O is never used: zeroing its rows changes nothing.",
                    "Yours is not scored.",
                    "A to J are yours to diagnose.",
                ],
                "no scale": [
                    "Committed: no scale.",
                    "Wrong: your function is “no W_O”.",
                    "On knock-out, “no scale” reads “Both ways take the same from every output.”, and this one “Its rows of W_O make no difference at all.” Told by knock-out: W_O is never used: zeroing its rows changes nothing.",
                    "Yours is not scored.",
                    "A to J are yours to diagnose.",
                ],
            },
            "transposed": {
                "no W_O": [
                    "Committed: no W_O.",
                    "No verdict: your function is none of the 10; its check says more.",
                    "Yours is not scored.",
                    "A to J are yours to diagnose.",
                ],
                "no scale": [
                    "Committed: no scale.",
                    "No verdict: your function is none of the 10; its check says more.",
                    "Yours is not scored.",
                    "A to J are yours to diagnose.",
                ],
            },
        }
    )


def test_with_and_without_attention():
    states = {
        "first": {},
        "without": {"attention": False},
        "both": {"attention": True, "thrown": "0"},
        "switched off in a verse": {"attention": False, "thrown": "20"},
        "switched on in a verse": {"attention": True, "thrown": "60"},
        "switched twice": {"attention": True, "thrown": "20 50"},
        "switched off at its end": {"attention": False, "thrown": "109"},
    }
    assert readouts(labs.with_and_without_attention, states) == snapshot(
        {
            "first": ["With attention, 25 of the 25 words that it writes stand somewhere in the plays."],
            "without": ["Without attention, 2 of the 23 words that it writes stand somewhere in the plays."],
            "both": [
                "With attention, 25 of the 25 words that it writes stand somewhere in the plays; without attention, 2 of the 23 words."
            ],
            "switched off in a verse": [
                "Switched off after “I am the”: without attention, 2 of the 16 words stand somewhere in the plays; with attention, 5 of the 5 words."
            ],
            "switched on in a verse": [
                "Switched on after “homederederoly FOL: A”: with attention, 9 of the 9 words stand somewhere in the plays; without attention, 0 of the 13 words."
            ],
            "switched twice": [
                "Switched on after “bls I: homedereder”: with attention, 13 of the 14 words stand somewhere in the plays; without attention, 0 of the 5 words."
            ],
            "switched off at its end": [
                "Switched off after “buy marry our”: with attention, 24 of the 24 words stand somewhere in the plays."
            ],
        }
    )


def test_word_order():
    states = {
        "first": {},
        "another order": {"order": "man bites dog"},
        "another order, with positions": {"order": "man bites dog", "positions": True},
        "the same order, with positions": {"positions": True},
        "a copy": {"copy": "dog"},
        "a copy, with positions": {"copy": "dog", "positions": True},
    }
    assert readouts(labs.word_order, states) == snapshot(
        {
            "first": ["Positions off, both orders equal: drag a word."],
            "another order": [
                "Positions off, “man bites dog”: each token gets the same context in either order (largest difference 0.0000)."
            ],
            "another order, with positions": [
                "Positions on, “man bites dog”: the order now matters; a context differs by up to 1.4876."
            ],
            "the same order, with positions": ["Positions on, both orders equal: drag a word."],
            "a copy": [
                "Positions off, both orders equal: drag a word.",
                "The two tokens “dog” get the same context (difference 0.0000).",
            ],
            "a copy, with positions": [
                "Positions on, both orders equal: drag a word.",
                "The two tokens “dog” get different contexts (difference 0.5849).",
            ],
        }
    )


def test_writer():
    states = {
        "first": {},
        "another text": {"text": "To be"},
        "no text": {"text": ""},
        "unknown letters": {"text": "naïve €"},
        "a twin": {"twin": "W_O left out"},
        "beyond the context": {"text": decoder.held_out_text()[:270]},
    }
    assert readouts(labs.writer, states) == snapshot(
        {
            "first": [
                "After “young?↵↵JULIET:↵” comes most likely “I” (0.21), “W” (0.17), “T” (0.14).",
                "Layer 3, head 1: “↵” looks most at “?” (10 back, 0.92).",
            ],
            "another text": [
                "After “To␣be” comes most likely “␣” (0.91), “a” (0.03), “l” (0.02).",
                "Layer 3, head 1: “e” looks most at “o” (3 back, 0.99).",
            ],
            "no text": [
                "Nothing was written, and your text is still there.",
                "The text is empty.",
                "Give at least one character, such as a line break, '\\n'.",
                "Change the text, or press Reset.",
            ],
            "unknown letters": [
                "Nothing was written, and your text is still there.",
                "The model has never seen 'ï', '€'.",
                "It knows the letters from A to Z and a to z, blanks, line breaks and ! $ & ' , - .",
                "3 : .",
                "?.",
                "Change the text, or press Reset.",
            ],
            "a twin": [
                "After “young?↵↵JULIET:↵” comes most likely “I” (0.21), “W” (0.17), “T” (0.14).",
                "The twin, W_O left out, expects “l” (0.24), “r” (0.22), “n” (0.15), and it writes.",
                "Layer 3, head 1: “↵” looks most at “s” (28 back, 0.47).",
                " A twin writes without the cache.",
            ],
            "beyond the context": [
                "After “harina.↵↵GREMIO:” comes most likely “↵” (1.00).",
                "Layer 3, head 1: “:” looks most at “O” (1 back, 0.31).",
                " Of 270 characters the model sees the last 141.",
            ],
        }
    )
