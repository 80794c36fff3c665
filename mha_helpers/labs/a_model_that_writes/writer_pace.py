"""Writing on after a text that may have been changed in the meantime, and how long each character takes."""

import time

from mha_helpers import decoder

MAX_TIMES = 400  # of each kind: more dots would hide each other
PLACES = range(16, 250, 8)  # at which both ways of writing are timed


def window(text, context_length):
    """Return what of a text the model sees: when its context is full, the older half is dropped, and so on.

    Parameters
    ----------
    text : str
    context_length : int

    Returns
    -------
    str

    Examples
    --------
    >>> [len(window("a" * n, 4)) for n in range(1, 10)]
    [1, 2, 3, 4, 2, 3, 4, 2, 3]
    """
    n, half = len(text), context_length // 2
    if n <= context_length:
        return text
    return text[-(half + (n - context_length - 1) % (context_length - half + 1)) :]


class Pace:
    """Writes one character after another, goes on where it was while nothing has changed, and keeps the times.

    Parameters
    ----------
    attend : callable, optional
        The learner's attention with a cache.

    Attributes
    ----------
    problem : str
        Why the last character could not be written, if it could not.
    """

    def __init__(self, attend=None):
        self.attend = attend
        self.forget()

    def forget(self):
        """Forget the times, and where it was."""
        self.times, self.problem, self._stream, self._at = [], "", None, None

    def times_of(self):
        """Return (place, milliseconds) of each character written with the cache (True) and without."""
        found = {cached: [(n, ms) for n, ms, kind in self.times if kind == cached] for cached in (True, False)}
        return {cached: times[-MAX_TIMES:] for cached, times in found.items() if times}

    def next(self, text, options, *, cached, attend, choose, draw):
        """Write one character.

        Parameters
        ----------
        text : str
        options : dict
            Temperature and top_k.
        cached : bool
        attend : callable or None
            A twin's attention, without a cache.
        choose : callable
        draw : int
            Another number draws another text.

        Returns
        -------
        str
            The character, or nothing: then `problem` says why.
        """
        settings = (*options.items(), cached, attend, choose, draw)
        self.problem, n = "", len(window(text, decoder.load().context_length))
        goes_on = self._at == (text, settings)
        try:
            if not goes_on:
                self._stream = decoder.load().stream(
                    text[-n:], **options, seed=[draw, len(text)], cached=cached, choose=choose,
                    attend=self.attend if cached else attend,
                )  # fmt: skip
            start = time.perf_counter()
            character = next(self._stream)
        except ValueError as error:
            self.problem, self._at = f"Nothing more was written: {error}.", None
            return ""
        if attend is None and (goes_on or not cached):  # the first with a cache has the whole text to read
            self.times.append((n, 1000 * (time.perf_counter() - start), cached))
        self._at = text + character, settings
        return character

    def time_both(self):
        """Time one more character at many lengths of a text, with the cache and without."""
        model, text = decoder.load(), decoder.held_out_text()
        for n in PLACES:
            for cached in (True, False):
                stream = model.stream(text[: n - 1], cached=cached, attend=self.attend if cached else None)
                next(stream)  # reads the text
                start = time.perf_counter()
                next(stream)
                self.times.append((n, 1000 * (time.perf_counter() - start), cached))
