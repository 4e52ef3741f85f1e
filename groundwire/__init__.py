"""The rest of Groundwire: command line, corpus, profiles, embedded server, wiring."""
