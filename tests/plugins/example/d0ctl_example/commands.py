"""Commands that nodes run, as texts: the nodes need the programs, but not this package."""

MERGE_HISTOGRAMS = "awk '{n[$1] += $2} END {for (bin in n) print bin, n[bin]}' {inputs} >{output}"
"""Adds the counts of histograms, in lines of bin and count."""

LAB = {
    "fetch": "d=$(echo {source} | sed 's,^lab://,/,') && cp \"$d\" {dest}",
    "store": "d=$(echo {dest} | sed 's,^lab://,/,') && cp {source} \"$d\"",
}
"""Copies files of `lab://FOLDER/NAME`, which every node has mounted as `/FOLDER`."""
