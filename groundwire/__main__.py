"""`python -m groundwire`: the command line, where the console script is not on PATH."""

from groundwire.cli import main

main()
