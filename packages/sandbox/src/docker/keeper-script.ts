import { TREE_TIME } from '@kervyxa/core';
import { KEPT_SCRIPT } from './kept-script.ts';
import { MEASURE_SCRIPT } from './measure-script.ts';
import { CHECK_USER } from './apart.ts';

/** Where a keeper has its volumes; each folder below is one. */
export const KEEPER_ROOT = '/k';
/** Holds `tree/` and `etc/`. */
export const TREE_FOLDER = 'tree';
export const HIDDEN_FOLDER = 'hidden';
export const PROBE_INPUTS_FOLDER = 'probe';
export const BUNDLE_FOLDER = 'bundle';
/** What stands in the place of what a run does not see or have: for ever empty. */
export const EMPTY_FOLDER = 'empty';
/** Followed by a name: the top of one workspace, with `upper/` and `work/`. */
export const TOP_PREFIX = 'top-';
export const COPY_FROM_FOLDER = 'from';
export const COPY_TO_FOLDER = 'to';

/** With no network the engine writes no hosts file, and no image knows the session's user. */
export const ETC_FILES = ['hosts', 'passwd', 'group'] as const;

const TREE_TIME_SECONDS = TREE_TIME.getTime() / 1_000;

/**
 * What a keeper executes, on our own image. It takes one command a line on stdin and answers each with one line that
 * begins with `ok` or `failed`, after which it exits. A tree comes as frames, a line with the number of bytes and
 * then the bytes, up to a 0: tar reads a pipe to its end, and stdin has to go on. When stdin ends, because our
 * program died, the keeper exits and its memory volumes go with it. `$1` is the text of `kervyxa-run`.
 *
 * Folders that an archive does not list get tar's time of day; `unpack` gives all the same, so that equal trees are
 * equal to the last bit. The root of an overlay is its top's, so `inherit` hands on what a set-up made of it. `clear`
 * frees memory early; what it may not remove goes with the volume. `measure` is answered at once, and its result comes
 * as a line `measured` between other answers when it is there.
 */
export const KEEPER_SCRIPT = `umask 022
run=$1
cd ${KEEPER_ROOT} || exit 1
while read -r skip skip skip skip at rest; do
  case "$at $rest" in
    ${KEEPER_ROOT}/*' - tmpfs '*) ;;
    ${KEEPER_ROOT}/${COPY_TO_FOLDER}' '*' - overlay '*) ;;
    ${KEEPER_ROOT}/*) echo "failed $at is no memory file system"; exit 1 ;;
  esac
done </proc/self/mountinfo
old='touch -d @${TREE_TIME_SECONDS}'
layout() {
  set --
  for top in ${TOP_PREFIX}*; do set -- "$@" $top/upper $top/work; done
  mkdir ${TREE_FOLDER}/tree ${TREE_FOLDER}/etc "$@" && $old ${EMPTY_FOLDER} ${TOP_PREFIX}*/upper &&
    cd ${TREE_FOLDER}/etc && echo '127.0.0.1 localhost' >hosts &&
    uid=$(id -u) && next=$((uid + 1)) && rest=/nonexistent:/usr/sbin/nologin &&
    printf '%s\\n' root:x:0:0:root:/root:/bin/sh nobody:x:$uid:$uid:nobody:$rest \
      ${CHECK_USER}:x:$next:$next:${CHECK_USER}:$rest >passwd &&
    printf '%s\\n' root:x:0: nogroup:x:$uid: ${CHECK_USER}:x:$next: >group &&
    printf '%s\\n' "$run" >kervyxa-run && chmod 755 kervyxa-run && cd ${KEEPER_ROOT}
}
frames() {
  while read -r bytes && [ "$bytes" -gt 0 ]; do head -c "$bytes" || exit 1; done
}
unpack() {
  frames | tar -xf - -C "$1" && find "$1" -type d -exec $old {} +
}
${KEPT_SCRIPT}
${MEASURE_SCRIPT}
clear() {
  chmod -R u+rwx "$1"/upper; rm -rf "$1"/upper
  true
}
while read -r verb one two; do
  answer=
  case $verb in
    layout) layout ;;
    unpack) unpack $one ;;
    list) answer=$(list $one) ;;
    remove) remove $one ;;
    touched) answer=$(touched $one) ;;
    keep) keep $one ;;
    restore) restore $one ;;
    clear) clear $one ;;
    inherit) chmod --reference=$one/upper $two/upper && touch -r $one/upper $two/upper ;;
    measure) measure $one $two & ;;
    copy) cp -a $one/. $two/ ;;
    long) answer=$(find $one -printf '%P\\0' | tr -c '\\0' x | tr '\\0' '\\n' | wc -L) ;;
    deep) answer=$(find $one -mindepth $two -print -quit | wc -c) ;;
    usage) answer=$(stat -f -c '%S %b %f %c %d' $one) ;;
    *) false ;;
  esac || { echo "failed $verb"; exit 1; }
  echo "ok $answer"
done`;
