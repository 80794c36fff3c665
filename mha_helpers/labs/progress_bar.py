"""A bar that fills while a model is trained, with the loss beside it."""

import ipywidgets
from IPython.display import display


class ProgressBar:
    """Show how far a training is: `training.run(400, see=ProgressBar(400), every=10)`.

    Parameters
    ----------
    n_steps : int
        How many steps there will be.
    """

    def __init__(self, n_steps):
        self.bar = ipywidgets.IntProgress(max=n_steps, description="training")
        self.said = ipywidgets.Label()
        whole = ipywidgets.HBox([self.bar, self.said])
        view = {"model_id": whole.model_id, "version_major": 2, "version_minor": 0}
        # As plain text the same at every run: that is what is stored, and compared.
        plain = f"Training, {n_steps} steps."
        display({"application/vnd.jupyter.widget-view+json": view, "text/plain": plain}, raw=True)

    def __call__(self, training):
        """Show where a training is now."""
        step = len(training.losses)
        self.bar.value = step
        self.said.value = f"step {step} of {self.bar.max}, loss {training.losses[-1]:.2f}"
