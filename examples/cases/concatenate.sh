# concatenate OUTPUT: add up histograms as they arrive, until their list is closed.
seen=0
while :; do
    closed=$(test -e "$D0CTL_INPUTS.closed" && echo yes)
    tail -n "+$((seen + 1))" "$D0CTL_INPUTS" > new
    while read -r file; do
        case $file in *.hist) cat "$file" >> all ;; esac   # this script is in the list, too
        seen=$((seen + 1))
    done < new
    test "$closed" && break
    sleep 0.2
done
awk '{ bin[$1] += $2 } END { for (b in bin) print b, bin[b] }' all | sort -n > "$1"
