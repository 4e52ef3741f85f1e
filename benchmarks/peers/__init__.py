"""The bus beside other libraries over Redis Streams, each set up as its own pages say."""
