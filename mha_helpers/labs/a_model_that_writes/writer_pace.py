"""Continuing a text that may have been changed in the meantime, and timing each character."""

import time

from mha_helpers import decoder

MAX_TIMES = 400  # with the cache, and as many without: more dots would hide each other
LENGTHS = range(16, 250, 8)  # of a text, at which both ways of writing are timed


def window(text, context_length):
    """Return the part of a text that the model sees: each time its context is full, the older half is dropped.

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
    """Writes one character after another and keeps their times; while nothing is changed, it continues its stream.

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
        """Forget the times, and the text that it was writing."""
        self.times, self.problem, self._stream, self._last_state = [], "", None, None

    def latest_times(self):
        """Return (place, milliseconds) of the latest characters: under True with the cache, under False without."""
        found = {
            cached: [(n, ms) for n, ms, was_cached in self.times if was_cached == cached] for cached in (True, False)
        }
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
            Of a twin, which is the model with a mistake and has no cache; None for the model itself.
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
        goes_on = self._last_state == (text, settings)
        try:
            if not goes_on:
                self._stream = decoder.load().stream(
                    text[-n:], **options, seed=[draw, len(text)], cached=cached, choose=choose,
                    attend=self.attend if cached else attend,
                )  # fmt: skip
            start = time.perf_counter()
            character = next(self._stream)
        except ValueError as error:
            self.problem, self._last_state = f"Nothing more was written: {error}.", None
            return ""
        if attend is None and (goes_on or not cached):  # with a cache, a stream's first call reads the whole text
            self.times.append((n, 1000 * (time.perf_counter() - start), cached))
        self._last_state = text + character, settings
        return character

    def time_both(self):
        """Time one more character at many lengths of a text, with the cache and without."""
        model, text = decoder.load(), decoder.held_out_text()
        for n in LENGTHS:
            for cached in (True, False):
                stream = model.stream(text[: n - 1], cached=cached, attend=self.attend if cached else None)
                next(stream)  # reads the text
                start = time.perf_counter()
                next(stream)
                self.times.append((n, 1000 * (time.perf_counter() - start), cached))
