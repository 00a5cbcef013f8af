# A binary that keeps a journal of itself: step.sh DO JOURNAL LOCKS SECONDS OUTPUT INPUT...
# It runs alone as long as it has the lock of its package, which every process of it shares.
set -eo pipefail
deed=$1 journal=$2 locks=$3 seconds=$4 output=$5
shift 5

exec 9>>"$locks/${D0CTL_PACKAGE//\//_}"
flock -n 9 || echo "double $D0CTL_PACKAGE $D0CTL_ATTEMPT $output" >>"$journal"
echo "start $D0CTL_PACKAGE $D0CTL_ATTEMPT $output" >>"$journal"
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
		echo "fail $D0CTL_PACKAGE $D0CTL_ATTEMPT $output" >>"$journal"
		exit 3
	fi
	;;
esac
{
	echo "$output"
	cat -- /dev/null "$@"
} | sort >"$output"
echo "end $D0CTL_PACKAGE $D0CTL_ATTEMPT $output" >>"$journal"
