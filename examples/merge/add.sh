#!/bin/sh
# add.sh FILE...: add up histograms, each a bin and its contents per line
awk '{ bin[$1] += $2 } END { for (at in bin) print at, bin[at] }' "$@" | sort -n
