"""The instructor's side: the run sheet, a hub for one machine, and its trial under load."""
