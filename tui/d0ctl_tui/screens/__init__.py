"""The screens, one layout each."""
