"""One visual language: colours and sizes, SVG strings for labs, static figures."""
