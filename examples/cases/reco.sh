# reco RAW STEM: reconstruct the events of a raw file, each a number and a signal.
# Makes reco-STEM-1.aod and reco-STEM-2.aod with all events, and filtered-STEM.aod with large ones.
awk -v stem="$2" '
    { print $1, $2 * 10 > ("reco-" stem "-" (NR % 2 ? 1 : 2) ".aod") }
    $2 >= 50 { print $1, $2 * 10 > ("filtered-" stem ".aod") }
' "$1"
touch "filtered-$2.aod"
