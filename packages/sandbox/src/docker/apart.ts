import { MAKE_HOME, RUN_PATH, toWaitForGo, WORKSPACE } from './gate.ts';

/**
 * Who runs the command of a run whose package is `apart`, by name and by number; the code under test stays who it is
 * everywhere, `nobody`. Both are the session's own.
 */
export const CHECK_USER = 'check';
export const toCheckUid = (uid: number): number => uid + 1;
/** Only the command's user may enter it: the package lies in it, and `own`. */
export const SEALED_FOLDER = '/kervyxa/sealed';
/** That user's home and temporary files; a file system of its own, or everybody could ask how much is in it. */
export const OWN_FOLDER = `${SEALED_FOLDER}/own`;
/** Pipes between `kervyxa-run` and the launcher. Only the command's user may make or remove any. */
export const CALLS_FOLDER = '/kervyxa/calls';
/** Where `kervyxa-run` is in every run, whatever the image. */
export const RUN_PROGRAM = '/usr/local/bin/kervyxa-run';
/** What the command is given to the gate in: an argument could be read by everybody in the container. */
export const COMMAND_VARIABLE = 'KERVYXA_COMMAND';

/** What the gate gives away again, before anything but itself runs. */
export const GATE_CAPABILITIES = ['SETGID', 'SETPCAP', 'SETUID'];

const REQUESTS = `${CALLS_FOLDER}/requests`;

/**
 * Runs as the user of the code under test, from before the command begins, and starts for each line that comes what is
 * asked for in the folder of that name. It has no capability and nothing that a process of its user could not have:
 * who takes its place can say no more than the code under test says anyway. Each command leads a session, and so a
 * group, of its own; the group is killed when its `kervyxa-run` dies before it. A shell has its background jobs ignore
 * two signals, which the code under test does not do in other runs. Its stdin goes through \`cat\`, since opening the
 * named pipe again as /dev/stdin would wait for another writer.
 */
const LAUNCHER_SCRIPT = `cd /
exec 3<>${REQUESTS}
reset=
env --default-signal=INT,QUIT true && reset="env --default-signal=INT,QUIT"
serve() {
  call=${CALLS_FOLDER}/$1
  exec 4>"$call/status" || exit
  if [ -p "$call/in" ]; then
    cat "$call/in" 4>&- | start
  else
    start
  fi
}
start() {
  exec 5<&0
  setsid $reset /bin/sh "$call/command" <&5 >"$call/out" 2>"$call/err" 4>&- 5>&- &
  command=$!
  { read -r none; kill -9 -$command || kill -9 $command; } <"$call/life" 4>&- 5>&- &
  watcher=$!
  exec 5<&-
  wait $command
  status=$?
  kill $watcher
  echo $status >&4
}
while read -r name <&3; do
  serve "$name" 3<&- </dev/null &
done`;

/** Of the command's own shell. Its text is in no argument, and its variable in no environment but this shell's. */
const COMMAND_SCRIPT = `umask 077
cd ${WORKSPACE} || exit 1
kervyxa_command=$${COMMAND_VARIABLE}
unset ${COMMAND_VARIABLE} OLDPWD
eval "$kervyxa_command"`;

/**
 * The gate of such a run, the only program that has root's name, with the capabilities to become others. Both others
 * lose them, from the bounding set too. The launcher has no descriptor of the container's. The pipes that are the
 * command's stdin, stdout and stderr belong to root; where its user could not open them, `/dev/stderr` would not work.
 * Without a fitting setpriv the gate ends as a command that is not there does, which is the fault of no solver.
 */
export const APART_GATE_SCRIPT = `umask 022
command=$${COMMAND_VARIABLE}
unset ${COMMAND_VARIABLE}
drop='--inh-caps=-all --bounding-set=-all'
code="setpriv --reuid=nobody --regid=nogroup --groups=nogroup $drop"
check="setpriv --reuid=${CHECK_USER} --regid=${CHECK_USER} --clear-groups $drop"
chmod 622 /proc/self/fd/1 /proc/self/fd/2
if $code true; then
  $check mkfifo -m 666 ${REQUESTS} && $check mkdir -m 700 ${OWN_FOLDER}/tmp || exit 1
  $code /bin/sh -c '${MAKE_HOME}'
  HOME=${OWN_FOLDER}/home $check /bin/sh -c '${MAKE_HOME}'
  $code setsid /bin/sh -c '${LAUNCHER_SCRIPT}' </dev/null >/dev/null 2>&1 &
else
  check=
fi
${toWaitForGo(WORKSPACE)}
if [ ! "$check" ]; then
  echo 'kervyxa: expected setpriv of util-linux in the image, to run the check apart from the code' >&2
  exit 127
fi
[ ! -p /proc/self/fd/0 ] || chmod 444 /proc/self/fd/0
export HOME=${OWN_FOLDER}/home TMPDIR=${OWN_FOLDER}/tmp ${COMMAND_VARIABLE}="$command"
exec $check /bin/sh -c '${COMMAND_SCRIPT}'`;

/**
 * `kervyxa-run COMMAND [ARGUMENT…]`: runs it as the user of the code under test, in the caller's folder, with the
 * caller's stdin, stdout and stderr, and ends as it does, 128 + n for death by signal n. Where the caller is that user
 * already it only steps aside. Ends when the command has ended and its output is closed; killed, it takes the command
 * along. The tools are the image's, whatever a check put into its PATH: \`node_modules/.bin\` is the solver's.
 */
export const RUN_SCRIPT = `#!/bin/sh
[ $# -gt 0 ] || { echo 'kervyxa-run: expected a command' >&2; exit 125; }
[ -w ${CALLS_FOLDER} ] || exec "$@"
PATH=${RUN_PATH}
fail() {
  echo "kervyxa-run: $1" >&2
  exit 125
}
quote() {
  case $1 in
    *\\'*) quoted=$(printf '%s.' "$1" | LC_ALL=C sed "s/'/'\\\\\\\\''/g") && quoted=\${quoted%.} ;;
    *) quoted=$1 ;;
  esac
}
umask 022
call=${CALLS_FOLDER}/$$
[ ! -e "$call" ] || rm -rf "$call"
in=
[ /proc/self/fd/0 -ef /dev/null ] || in=$call/in
mkdir "$call" && mkfifo -m 666 $in "$call/out" "$call/err" "$call/life" "$call/status" ||
  fail 'no room for pipes'
folder=$(pwd -P && echo .) || fail 'no folder'
quote "\${folder%??}"
{
  printf '%s\\n' "cd '$quoted' || exit 126" 'unset OLDPWD'
  printf exec
  for argument do
    quote "$argument"
    printf " '%s'" "$quoted"
  done
} >"$call/command" || fail 'no room for arguments'
if [ "$in" ]; then
  exec 3<&0
  cat <&3 >"$in" 2>/dev/null 3<&- &
  in=$!
  exec 3<&-
fi
cat "$call/out" &
out=$!
cat "$call/err" >&2 &
err=$!
exec 4<>"$call/life"
echo $$ 1<>${REQUESTS}
read -r status <"$call/status" || status=none
wait $out $err
[ ! "$in" ] || kill $in 2>/dev/null
rm -r "$call"
case $status in
  [0-9] | [0-9][0-9] | 1[0-9][0-9] | 2[0-4][0-9] | 25[0-5]) exit "$status" ;;
esac
fail 'lost the end of the command'`;
