"""Commands that submit jobs and follow them."""
