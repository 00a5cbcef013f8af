"""Jobs on their way in and out, and what changes of one as a whole."""
