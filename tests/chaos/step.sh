# A binary that keeps a journal of itself: step.sh DO JOURNAL LOCKS SECONDS OUTPUT INPUT...
# It runs alone as long as it has the lock of its package, which every process of it shares.
set -eo pipefail
deed=$1 journal=$2 locks=$3 seconds=$4 output=$5
shift 5

lock=$locks/${D0CTL_PACKAGE//\//_}
exec 9>>"$lock"
# Chaos may kill this very flock: only its own answer says that another runs.
code=1
while [ $code != 0 ] && [ $code != 75 ]; do
	code=0
	flock -n -E 75 9 || code=$?
done
if [ $code = 75 ]; then
	echo "double $D0CTL_PACKAGE $D0CTL_ATTEMPT_ID $output" >>"$journal"
	for file in /proc/[0-9]*/fd/*; do
		[ "$file" -ef "$lock" ] || continue
		pid=${file#/proc/}
		echo "$D0CTL_PACKAGE open in ${pid%%/*}: $(tr '\0' ' ' <"/proc/${pid%%/*}/cmdline")"
	done >>"$journal.held" 2>&1 || :
fi
echo "start $D0CTL_PACKAGE $D0CTL_ATTEMPT_ID $output" >>"$journal"
sleep "$seconds"
case $deed in
early)
	exec 3<"$D0CTL_INPUTS"
	while :; do
		closed=
		[ ! -e "$D0CTL_INPUTS.closed" ] || closed=yes
		while read -r part <&3; do cat -- "$part" >>gathered; done
		[ -z "$closed" ] || break
		sleep 0.05
	done
	set -- gathered
	;;
bad) exit 7 ;;
flaky)
	if ! grep -q "^fail $D0CTL_PACKAGE " "$journal"; then
		echo "fail $D0CTL_PACKAGE $D0CTL_ATTEMPT_ID $output" >>"$journal"
		exit 3
	fi
	;;
esac
{
	echo "$output"
	cat -- /dev/null "$@"
} | sort >"$output"
echo "end $D0CTL_PACKAGE $D0CTL_ATTEMPT_ID $output" >>"$journal"
