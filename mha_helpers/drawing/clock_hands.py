"""Why rotated scores depend on the distance alone: a query's hand and a key's, which turn with their places."""

import math

from live_pictures import style, svg
from live_pictures.figure import Figure
from mha_helpers.drawing import palette

A_PLACE = 20  # degrees by which this pair of features turns from one place to the next
QUERY, KEY = 105, 65  # degrees at which the hands stand before anything is turned
RADIUS, APART, LEFT, MIDDLE = 72, 244, 122, 128


def clock_hands(query=5, key=2, moved=6):
    """Draw one pair of a query's features and of a key's as hands: as they are, turned by their places, and moved.

    Parameters
    ----------
    query, key : int, optional
        Their places.
    moved : int, optional
        By how many places both stand further on in the end.

    Returns
    -------
    Figure

    Examples
    --------
    >>> str(clock_hands())[:77]
    'A hand for the query and one for the key. Before they are turned, they stand '
    """
    first = QUERY - KEY
    between = first + (query - key) * A_PLACE
    faces = (
        ("before they are turned", 0, 0, f"{first}° apart"),
        (f"query at place {query}, key at {key}", query, key, f"{first}° + {query - key} · {A_PLACE}° = {between}°"),
        (f"both {moved} places further on", query + moved, key + moved, f"again {between}°"),
    )
    parts = []
    for number, (title, of_query, of_key, below) in enumerate(faces):
        x = LEFT + number * APART
        parts += [
            svg.text(x, 18, title, anchor="middle", bold=True),
            *_face(x, QUERY + of_query * A_PLACE, KEY + of_key * A_PLACE),
            svg.text(x, MIDDLE + RADIUS + 42, below, anchor="middle", bold=True),
        ]
    text = (
        f"A hand for the query and one for the key. Before they are turned, they stand {first} degrees apart. Each "
        f"turns by {A_PLACE} degrees a place: with the query at place {query} and the key at place {key} they stand "
        f"{between} degrees apart, and so they do when both are {moved} places further on."
    )
    return Figure(2 * LEFT + 2 * APART, MIDDLE + RADIUS + 56, parts, text)


def _face(x, query, key):
    """Draw a clock with both hands, and the arc from the key's to the query's."""
    parts = [
        svg.circle(x, MIDDLE, RADIUS, fill=style.PANEL, stroke=style.GRID),
        svg.polyline([_point(x, angle, 26) for angle in range(key, query + 1, 5)], colour=style.INK),
    ]
    for name, role, angle in (("query", "queries", query), ("key", "keys", key)):
        colour = palette.role_text(role)
        label_at = _point(x, angle, RADIUS + 28)[0], _point(x, angle, RADIUS + 16)[1] + 5  # a word is wider than tall
        parts.append(svg.arrow(x, MIDDLE, *_point(x, angle, RADIUS + 4), colour=colour, width=3))
        parts.append(svg.text(*label_at, name, anchor="middle", bold=True, size=12, colour=colour))
    return [*parts, svg.circle(x, MIDDLE, 4, fill=style.INK)]


def _point(x, angle, distance):
    """Return the point of a face in a direction: 0 degrees to the right, 90 up."""
    turned = math.radians(angle)
    return round(x + distance * math.cos(turned), 1), round(MIDDLE - distance * math.sin(turned), 1)
