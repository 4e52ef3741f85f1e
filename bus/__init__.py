"""How messages move over Redis Streams. The only package that knows commands and key names."""
