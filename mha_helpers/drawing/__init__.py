"""Pictures of matrices and blocks as SVG strings, and plots by matplotlib, in one visual language."""
