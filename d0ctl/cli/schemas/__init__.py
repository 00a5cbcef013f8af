"""The shapes of the JSON documents, which `d0ctl schema` prints and mypy checks.

Reading commands import them for the type checker only, as msgspec's schemas take time to load.
"""
