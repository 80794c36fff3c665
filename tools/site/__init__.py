"""The course as web pages and slides, for readers with nothing but a browser."""

import os

from tools.writing.notebooks import ONE_THREAD

# Labs are drawn with what small models say; several threads on busy processors wait for each other.
os.environ.update(ONE_THREAD)
