import { describe, expect, it } from 'vitest';

import { shellStatusKind, type StatusKind } from './shell-status.ts';
import { shellProblems } from './shell-walk.ts';

const KINDS: Record<StatusKind, string[]> = {
  vacuous: [
    'true',
    ':',
    '/bin/true',
    '/usr/bin/true',
    '"true"',
    't\\rue',
    'exit 0',
    'exit',
    'exit 3',
    'false',
    '! false',
    'echo ok',
    "printf '%s' ok",
    'sh -c true',
    "sh -c 'exit 0'",
    "bash -euc 'true'",
    "sh -ec 'sh -c :'",
    'env A=1 true',
    'exec true',
    'command true',
    'timeout 5 true',
    'eval true',
    '(true)',
    '{ true; }',
    'true; true',
    'true && true',
    'true || true',
    'if true; then true; fi',
    '[ 1 = 1 ]',
    'test a',
    'x=1',
    '> out.txt',
    'sleep 1',
    'echo KERVYXA_METRIC=1',
    'true # npm test',
    'true &',
    'f() { true; }; f',
  ],
  masked: [
    'npm test || true',
    'npm test || :',
    'npm test; true',
    'npm test; exit 0',
    'npm test\ntrue',
    'npm test\nexit 0',
    'npm test || echo failed',
    'npm test || exit 0',
    'npm test | tee log',
    'npm test | cat',
    'npm test 2>&1 | tee log | tail -5',
    'npm test | sed s/a/b/',
    'npm test &',
    'npm test & wait',
    '(npm test) || true',
    '{ npm test; true; }',
    '(npm test; exit 0)',
    'if npm test; then true; fi',
    'if npm test; then echo ok; else echo no; fi',
    'npm test && true || true',
    '! npm test; true',
    "sh -c 'npm test || true'",
    'eval "npm test || true"',
    "trap 'exit 0' EXIT; npm test",
    "trap 'exit 0' 0; npm test",
    'set -e; npm test || true',
    'set -e; set +e; npm test; echo done',
    'echo $(npm test)',
    'npm test; false',
    'npm test && false',
    'case x in *) npm test || true;; esac',
    'while npm test; do break; done',
    'f() { npm test; true; }; f',
    'test 1 = 1 || npm test',
    'true || npm test',
    'exit 0; npm test',
    'npm test; wait',
    'set -e; ! npm test; echo done',
  ],
  open: [
    'npm test',
    'a && b',
    'a || exit 1',
    'a || false',
    'a || b',
    'a; b',
    'true; a',
    'a && true',
    "node x.js && printf '%s  %s\\n' 0 rows.csv | sha256sum -c --status",
    'npm test | grep -q passed',
    'npm test | node parse.js',
    '! grep -r TODO .',
    'if npm test; then true; else false; fi',
    'if npm test; then true; else exit 1; fi',
    'if npm test; then node check.js; fi',
    'set -e; npm test; echo done',
    'set -e\nnpm test\necho done',
    'set -eu; npm test; true',
    'set -e; a && b; echo done',
    "sh -ec 'npm test; true'",
    "bash -o pipefail -c 'npm test | tee log'",
    "bash -euo pipefail -c 'npm test | tee log'",
    'npm test & wait $!',
    'x=$(npm test)',
    'test "$(npm test)" = ok',
    '[ -f out.csv ]',
    '"$KERVYXA_VERIFIER_PACKAGE/run"',
    'sh "$KERVYXA_VERIFIER_PACKAGE/run-regression.sh"',
    'sh -c "$SCRIPT"',
    "node -e 'process.exit(1)'",
    'env A=1 timeout 5 node x.js',
    "trap 'rm -rf tmp' EXIT; npm test",
    'npm test || { echo failed; exit 1; }',
    'npm test; status=$?; rm -rf tmp; exit $status',
    'npm test; exit $?',
    'npm test; exit',
    'case "$1" in a) npm test;; *) exit 1;; esac',
    'for f in a b; do node $f.js || exit 1; done',
    'cat file',
    'f() { npm test; }; f',
    'f() { return 0; }; f; npm test',
    'die() { echo "$1"; exit 1; }; npm test || die no',
    'cd pkg && npm test',
    '( cd pkg && npm test )',
  ],
};

describe('shellStatusKind', () => {
  const rows = Object.entries(KINDS).flatMap(([kind, commands]) =>
    commands.map((command) => [command, kind] as const),
  );
  it.each(rows)('takes %j as %s', (command, kind) => {
    expect(shellStatusKind(command)).toBe(kind);
  });

  it('answers for a script that calls itself', () => {
    expect(shellStatusKind('f() { f; }; f')).toBe('open');
  });

  it('answers for deep nesting', () => {
    expect(shellStatusKind('('.repeat(2_000) + 'npm test' + ')'.repeat(2_000))).toBeTypeOf(
      'string',
    );
  });
});

// Keeps R-APPROVAL-STATUS.
describe('shellProblems', () => {
  it.each([
    'if true; then',
    "echo 'x",
    'a && ',
    'a | | b',
    '( a',
    "sh -c 'if'",
    'echo $(if)',
    '[[ -f x ]]',
    'diff <(a) <(b)',
    'cat <<< x',
    'a |& b',
    'npm test &> log',
    'set -o pipefail; a | b',
    '(( 1 + 1 ))',
  ])('finds one in %j', (command) => {
    expect(shellProblems(command)).not.toEqual([]);
  });

  it.each([
    'a && b || c',
    "bash -c '[[ -f x ]]'",
    'a > log 2>&1',
    'echo $((1 + 1))',
    'node -e \'for(const s of ["[["]){}\'',
  ])('finds none in %j', (command) => {
    expect(shellProblems(command)).toEqual([]);
  });
});
