"""The screen of failures: groups, and all about the selected one."""
