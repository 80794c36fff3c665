"""SVG pictures that are controls, with a kernel or without one."""
