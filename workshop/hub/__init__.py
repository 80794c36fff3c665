"""A JupyterHub on one machine."""
