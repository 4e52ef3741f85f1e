"""End to end: real processes, real documents, the console script as a user starts it."""
