# store FILE...: a stand-in for the tape store of the experiment, the folder $TAPE.
mkdir -p "${TAPE:=$HOME/tape}"
for file; do
    cp "$file" "$TAPE/$(basename "$file")" || exit 1
    cksum "$file"
done
