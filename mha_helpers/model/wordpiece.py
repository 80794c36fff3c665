"""WordPiece in plain Python, for a browser, which has no package `tokenizers`.

It reads the same `tokenizer.json`: BERT's normalisation (Devlin et al. 2019), cut at white space and punctuation, and
then the longest piece of each word that the vocabulary has.
"""

import json
import re
import unicodedata
from typing import NamedTuple

IDEOGRAPHS = re.compile(  # the blocks of Chinese characters of `tokenizers`: each character is a word
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)
DROPPED = ("Cc", "Cf", "Co")  # what is neither seen nor a space
# What Unicode has changed since the tables of `tokenizers` were made: there it would be read as something else.
CHANGED = re.compile("[\u166d\u1734\u1885\u1886]")
ADDED = ("P", "M", "Cf")  # new punctuation, marks and signs of format, too; new letters are letters in any table


class Encoding(NamedTuple):
    """A sentence in pieces, as `tokenizers` gives it.

    Parameters
    ----------
    tokens : list of str
    ids : list of int
    """

    tokens: list
    ids: list


class WordPiece:
    """A tokenizer, made from the text of a `tokenizer.json`.

    Parameters
    ----------
    content : str

    Examples
    --------
    >>> from mha_helpers.model.data import TOKENIZER, checked_content
    >>> WordPiece(checked_content(TOKENIZER).decode("utf-8")).encode("The kitten napped.").tokens
    ['[CLS]', 'the', 'kitten', 'nap', '##ped', '.', '[SEP]']
    """

    def __init__(self, content):
        stored = json.loads(content)
        model = stored["model"]
        self.vocabulary, self.longest = model["vocab"], model["max_input_chars_per_word"]
        self.unknown, self.inside = model["unk_token"], model["continuing_subword_prefix"]
        self.special = [token["content"] for token in stored["added_tokens"]]

    def encode(self, text):
        """Cut a text into pieces, between `[CLS]` and `[SEP]`.

        Parameters
        ----------
        text : str

        Returns
        -------
        Encoding

        Raises
        ------
        ValueError
            If the text has a character that `tokenizers` would read as something else.
        """
        _refuse_what_is_younger(text)
        pieces = ["[CLS]"]
        for part in re.split(f"({'|'.join(map(re.escape, self.special))})", text):
            pieces += [part] if part in self.special else self._pieces_of(part)
        pieces.append("[SEP]")
        return Encoding(pieces, [self.vocabulary[piece] for piece in pieces])

    def _pieces_of(self, text):
        return [piece for word in _words(_normalised(text)) for piece in self._pieces(word)]

    def _pieces(self, word):
        """Return the longest piece that begins the word, then the longest that begins the rest; all of it, or none."""
        pieces, start = [], 0
        while start < len(word) <= self.longest:
            ends = range(len(word), start, -1)
            candidates = ((self.inside if start else "") + word[start:end] for end in ends)
            piece = next((text for text in candidates if text in self.vocabulary), None)
            if piece is None:
                return [self.unknown]
            pieces.append(piece)
            start += len(piece) - (len(self.inside) if start else 0)
        return pieces or [self.unknown]


def _normalised(text):
    """Normalise a text: white space to spaces, no control characters, no accents, lower case."""
    text = "".join(" " if sign in "\t\n\r" or (sign.isspace() and _category(sign) != "Cc") else sign for sign in text)
    text = "".join(sign for sign in text if _category(sign) not in DROPPED and sign != "\ufffd")
    text = unicodedata.normalize("NFD", IDEOGRAPHS.sub(r" \1 ", text))
    # Letter by letter: a whole word's `lower` would write a last sigma in another way.
    return "".join(sign.lower() for sign in text if _category(sign) != "Mn")


def _words(text):
    """Yield the words, and each punctuation mark by itself."""
    word = ""
    for character in text:
        if not character.isspace() and not _is_punctuation(character):
            word += character
            continue
        if word:
            yield word
        if not character.isspace():
            yield character
        word = ""
    if word:
        yield word


def _is_punctuation(character):
    # All that is neither letter nor digit in ASCII, also what Unicode calls a symbol, such as "+".
    return _category(character)[0] == "P" or (" " < character <= "~" and not character.isalnum())


def _category(character):
    return unicodedata.category(character)


def _refuse_what_is_younger(text):
    for character in text:
        new = unicodedata.ucd_3_2_0.category(character) == "Cn" and _category(character).startswith(ADDED)
        if new or CHANGED.match(character):
            raise ValueError(
                f"the character {character!a} cannot be read here as the model was taught to read it: its tokenizer "
                "is older. Leave it out."
            )
