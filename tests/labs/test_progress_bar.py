"""The bar that fills while a model is trained."""

from mha_helpers import tasks
from mha_helpers.labs import progress_bar
from mha_helpers.training import Training


def test_it_says_where_the_training_is_and_is_stored_as_the_same_text_each_time(monkeypatch):
    shown = []
    monkeypatch.setattr("live_pictures.live.display", lambda data, **more: shown.append(data))
    bar = progress_bar.ProgressBar(6)
    training = Training(tasks.two_before(), d_model=8, batch=2).run(6, see=bar, every=2)
    assert bar.bar.value == bar.bar.max == 6
    assert bar.label.value == f"step 6 of 6, loss {training.losses[-1]:.2f}"
    assert [bundle["text/plain"] for bundle in shown] == ["Training, 6 steps.", ""]
