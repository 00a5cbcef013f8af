#!/bin/sh
# `make demo`: run the Z production on this machine, without daemon or configuration.
# It takes $D0CTL_HOME, else a home in .demo, so that nobody's own home is touched.
set -u
cd "$(dirname "$0")/.." || exit
d0ctl=.venv/bin/d0ctl

produce() {
    # The name is taken if the demo ran before.
    if "$d0ctl" status zpeak >/dev/null 2>&1; then
        "$d0ctl" remove zpeak --yes || return
    fi
    "$d0ctl" run examples/zpeak/job.yaml --set python="$PWD/.venv/bin/python"
}

given=${D0CTL_HOME:-}
export D0CTL_HOME="${given:-$PWD/.demo/home}"
[ -n "$given" ] || mkdir -p .demo || exit
produce
code=$?
if [ $code -eq 5 ] && [ -z "$given" ]; then
    # No database on a network file system: the demo can use a temporary home.
    D0CTL_HOME=$(mktemp -d "${TMPDIR:-/tmp}/d0ctl-demo.XXXXXX") || exit
    echo "So the demo's home is $D0CTL_HOME." >&2
    produce
    code=$?
fi
[ $code -eq 0 ] || exit $code

results=$D0CTL_HOME/results/zpeak
echo
cat "$results/peak.txt"
cat <<END

The results are in $results:
    $(cd "$results" && echo *)

Worth trying next:
    export D0CTL_HOME='$D0CTL_HOME'
    $d0ctl status zpeak              # stages, lines and packages of the job
    $d0ctl history zpeak/1/3/1       # what a package went through, try by try
    $d0ctl logs zpeak/1/3/1          # and what it printed: job/stage/line/package
END
