"""The shapes of the JSON documents, which `d0ctl schema` prints and `fill` fills from records.

Commands that people wait for import them with --json only.
"""
