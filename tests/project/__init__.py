"""What a newcomer sees and what CI runs: the README, the Makefile, the image, the rules."""
