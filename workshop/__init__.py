"""The instructor's side: the run sheet, and a hub for one machine."""
