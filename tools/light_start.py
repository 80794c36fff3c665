"""What pytest loads before all else: it spares every process of the tests a second and a half.

nbval imports nbformat, and that jsonschema, which looks for a package that compiles 39 grammars on import: for formats
of addresses, which no notebook has. jsonschema goes on without it.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
