"""May this be done? Pure judgement over accesses: rules, the floor, modes, suggestions, and their text."""
