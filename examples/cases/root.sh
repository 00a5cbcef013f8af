# root OUTPUT INPUT...: a small histogram of signals, in bins of 10.
output=$1
shift
awk '{ bin[int($2 / 10)]++ } END { for (b = 0; b < 10; b++) print b * 10, bin[b] + 0 }' \
    "$@" > "$output"
