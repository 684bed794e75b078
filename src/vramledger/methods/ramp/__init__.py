"""How far a live server can be pushed: the search of `methods.knee`, climbed from below, a trial a step."""
