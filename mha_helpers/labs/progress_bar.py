"""A bar that fills while a model is trained, with the loss beside it."""

import ipywidgets

from live_pictures.live import show_live


class ProgressBar:
    """Show how far a training is: `training.run(400, see=ProgressBar(400), every=10)`.

    Parameters
    ----------
    n_steps : int
        How many steps there will be.
    """

    def __init__(self, n_steps: int) -> None:
        self.bar = ipywidgets.IntProgress(max=n_steps, description="training")
        self.label = ipywidgets.Label()
        whole = ipywidgets.HBox([self.bar, self.label])
        # Where it doesn't run, the same at every run: that is what is stored, and compared.
        plain = f"Training, {n_steps} steps."
        show_live(whole, {"text/html": plain, "text/plain": plain})

    def __call__(self, training):
        """Show where a training is now."""
        step = len(training.losses)
        self.bar.value = step
        self.label.value = f"step {step} of {self.bar.max}, loss {training.losses[-1]:.2f}"
