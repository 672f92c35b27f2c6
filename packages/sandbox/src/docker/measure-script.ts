/**
 * Functions of the keeper's script. `digest` answers for a folder with the digest that src/input-digest.ts describes; of
 * what the keeper may not read any more there is the mode that it has now, and no content. An `x` before it says that
 * something failed, which a pipe would hide. `measure` answers for some folders with a line of its own. `sort` has room
 * for the names of any tree, since a keeper has nowhere to put files.
 */
export const MEASURE_SCRIPT = `digest() {
  closed='-type d ! ( -readable -executable ) -prune'
  sort='sort -z -S 1G'
  cd $1 && {
    { find . -printf '%y %m %P//%l\\0' $closed || printf x >&3; } | $sort || printf x >&3
    { find . $closed -o -type f -readable -exec sha256sum -bz {} + || printf x >&3; } | $sort ||
      printf x >&3
  } | sha256sum
} 3>&1
measure() {
  line=measured
  for folder; do
    sum=$(digest $folder)
    line="$line \${sum%% *}"
  done
  echo "$line"
}`;
