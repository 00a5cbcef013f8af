# recoanalyze OUTPUT INPUT...: the number of events, and the sum and the largest of their energies.
output=$1
shift
awk '{ n++; sum += $2; if ($2 > most) most = $2 } END { print n + 0, sum + 0, most + 0 }' \
    "$@" > "$output"
