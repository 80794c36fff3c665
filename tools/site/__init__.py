"""The course as web pages and slides, for readers with nothing but a browser."""
