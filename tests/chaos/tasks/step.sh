# A package of the task: step.sh JOURNAL NUMBER FILE..., where the file `bad` can't be processed.
set -e
journal=$1 output=out-$2.txt
shift 2
echo "start $D0CTL_PACKAGE $D0CTL_ATTEMPT_ID $output" >>"$journal"
sleep 0.05
for file; do
	[ "$file" != bad ] || exit 7
done
echo "$@" >"$output"
echo "end $D0CTL_PACKAGE $D0CTL_ATTEMPT_ID $output" >>"$journal"
