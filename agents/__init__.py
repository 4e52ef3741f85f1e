"""Who decides: five plain functions from message to message, with their ports passed in."""
