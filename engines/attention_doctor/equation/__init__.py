"""The equation of attention in steps, each of which is right or has another form, and the search for those forms."""
