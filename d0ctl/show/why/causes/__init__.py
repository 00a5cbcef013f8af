"""Causes of failures that messages show, and how the job is corrected."""
