"""The REST interface: the documents of `--json`, the actions of the command line, and a stream."""
