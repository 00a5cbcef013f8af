"""Screens of files: folders of attempts, results of jobs."""
