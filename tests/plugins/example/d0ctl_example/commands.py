"""Commands that nodes run, as texts: the nodes need the programs, but not this package."""

MERGE_HISTOGRAMS = "awk '{n[$1] += $2} END {for (bin in n) print bin, n[bin]}' {inputs} >{output}"
"""Adds the counts of histograms, in lines of bin and count."""
