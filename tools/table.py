"""Print results in columns."""


def print_table(title, header, rows):
    """Print rows of texts and numbers in columns, the first to the left and the others to the right."""
    lines = [header, *([cell if isinstance(cell, str) else f"{cell:.4g}" for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(f"\n{title}")
    for first, *others in lines:
        aligned = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        # At once: a long measurement that is stopped has then shown what it found.
        print("  " + "   ".join([first.ljust(widths[0]), *aligned]), flush=True)
