"""How much memory a learner's kernel takes, and the two kinds of attention."""

import tracemalloc

import numpy as np
from nbclient import NotebookClient
from nbformat import v4

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.blockwise import blockwise_attention
from tools.bench.labs import notebook_of
from tools.table import print_table
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read

N_HEADS, D_HEAD = 8, 64


def memory():
    """What attention takes at its peak, and a kernel at the end of each notebook."""
    peaks()
    kernels()


def peaks():
    """The largest memory in use during a call, as far as NumPy asks for it."""
    rows = []
    for n in (512, 2048):
        arrays = np.random.default_rng(0).normal(size=(3, 1, N_HEADS, n, D_HEAD)).astype(np.float32)
        sizes = [_peak(function, arrays) for function in (scaled_dot_product_attention, blockwise_attention)]
        rows.append([f"{N_HEADS} heads of {n} x {D_HEAD} in float32", *sizes, sizes[1] / sizes[0]])
    print_table("Attention at its peak", ["", "at once, MiB", "in blocks, MiB", "ratio"], rows)


def _peak(function, arrays):
    tracemalloc.start()
    function(*arrays)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def kernels():
    """Resident memory of a learner's kernel at the end of each notebook."""
    figure = "import ipywidgets\nimport matplotlib.pyplot as plt\nimport numpy as np\nplt.imshow(np.eye(3))"
    notebooks = {"nothing": notebook_of("pass"), "numpy, ipywidgets and a matplotlib figure": notebook_of(figure)}
    notebooks |= {path.name: read(path) for path in course_notebooks()}
    sizes = {}
    for title, notebook in notebooks.items():
        notebook.cells.append(v4.new_code_cell("import psutil\nprint(psutil.Process().memory_info().rss)"))
        NotebookClient(notebook, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
        sizes[title] = int(notebook.cells[-1].outputs[0].text) / 2**20
    rows = [[title, size, size / sizes["nothing"]] for title, size in sizes.items()]
    print_table("Resident memory of the kernel", ["after", "MiB", "ratio"], rows)
