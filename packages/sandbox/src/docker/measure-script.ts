/**
 * Functions of the keeper's script. `digest` answers for a folder with the digest that src/input-digest.ts describes;
 * what anybody took the right to read from is in the first list alone, with the mode that it has now. An `x` before it
 * says that something failed, which a pipe would hide. `measure` answers for some folders, with a line of its own, since
 * it may take a while.
 */
export const MEASURE_SCRIPT = `digest() (
  closed='-type d ! ( -readable -executable ) -prune'
  cd $1 && {
    { find . -printf '%y %m %P//%l\\0' $closed || printf x >&3; } | sort -z || printf x >&3
    { { find . $closed -o -type f -readable -print0 || printf x >&3; } |
      xargs -0 -r sha256sum -bz || printf x >&3; } | sort -z || printf x >&3
  } | sha256sum
) 3>&1
measure() {
  line="measured $1"
  shift
  for folder; do
    sum=$(digest $folder)
    line="$line \${sum%% *}"
  done
  echo "$line"
}`;
