"""What the examination found: as text, as a panel, at a line, and for other programs."""
