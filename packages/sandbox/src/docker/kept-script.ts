/** Folder of the keeper's: the paths of the tree that every run finds as they are there. */
export const KEPT_FOLDER = 'kept';

/**
 * Functions of the keeper's script; names come as frames, and each ends with NUL. `touched` answers for
 * names of the root, by a digit each, whether the top of a set-up has anything there: who changes what is below a folder
 * leaves the folder in the top. `keep` copies paths into a folder: links would cost no memory, but show in the number
 * of links of a file. `restore` puts what is there into another folder, a copy of what set-up made: what stands in
 * the way goes, and no link is followed. `list` answers in base64, each with NUL at its end, a letter for a type and a
 * name, and for each folder itself, before what is in it, the letter alone; `!` where it could not see all. `remove`
 * takes paths away, whatever they are.
 */
export const KEPT_SCRIPT = `touched() {
  frames | xargs -0 sh -c '
    top=$1; shift
    for name; do
      if [ ! -x "$top" ] || [ -e "$top/$name" ] || [ -L "$top/$name" ]; then printf 1; else printf 0; fi
    done' sh "$PWD/$1/upper"
}
list() {
  frames | xargs -0 sh -c '
    if cd "$1" 2>/dev/null && shift; then
      find "$@" -maxdepth 1 -printf "%y%P\\0" && exit
    fi
    printf "!\\0"' sh "$PWD/$1" 2>/dev/null | base64 -w 0
}
remove() {
  frames | xargs -0 sh -c 'cd "$1" && shift && rm -rf -- "$@"' sh "$PWD/$1"
}
keep() {
  kept=$PWD/${KEPT_FOLDER}
  frames | (cd "$1" && xargs -0 cp -a --parents -t "$kept" --) &&
    find "$kept" -type d -exec $old {} +
}
restore() {
  to=$PWD/$1
  (cd ${KEPT_FOLDER} && find . -mindepth 1 -exec sh -c '
    to=$1; shift
    for path; do
      if [ -d "$path" ] && [ ! -L "$path" ]; then
        [ -d "$to/$path" ] && [ ! -L "$to/$path" ] || { rm -rf "$to/$path" && mkdir "$to/$path"; } || exit 1
        chown --reference="$path" "$to/$path" && chmod --reference="$path" "$to/$path" || exit 1
      else
        rm -rf "$to/$path" && cp -a "$path" "$to/$path" || exit 1
      fi
    done' sh "$to" {} + && find . -mindepth 1 -type d -exec sh -c '
    to=$1; shift
    for path; do touch -r "$path" "$to/$path" || exit 1; done' sh "$to" {} +)
}`;
