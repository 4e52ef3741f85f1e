"""The command line: what each command prints, and the exit code that it ends with."""
