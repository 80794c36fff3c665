"""Pictures of matrices, curves and blocks as SVG strings, in one visual language."""
