"""Finding the course's data, in the repository and in an installed package alike."""

from pathlib import Path


def data_path(name):
    """Return the path of one of the course's data files.

    In the repository `data/` stands beside the package; in an installed wheel, inside it.

    Parameters
    ----------
    name : str
        The file's path below `data/`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ValueError
        If neither place has such a file.

    Examples
    --------
    >>> data_path("worked_examples.json").name
    'worked_examples.json'
    """
    package = Path(__file__).parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / name).is_file():
            return folder / name
    remedy = "take it: python -m tools refresh" if name.startswith("labs/") else "install mha_helpers again"
    raise ValueError(f"no data file {name!r} beside or inside the package; {remedy}")
