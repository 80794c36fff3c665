"""The exercise and the prediction of notebook B."""
