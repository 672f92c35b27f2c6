import { describe, expect, it } from 'vitest';

import { lintContract } from './lint.ts';
import { npmScriptsOf } from './npm-scripts.ts';
import { shellStatusKind, type StatusKind } from './shell-status.ts';
import { shellProblems } from './shell-walk.ts';
import { goodContract, goodFacts } from './testing/good-contract.ts';

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
    'git diff --exit-code',
    'git rev-parse HEAD',
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
    'sh <<EOF\ntrue\nEOF',
    'sh -s <<EOF\nexit 0\nEOF',
    'echo true | sh',
    'cat <<EOF | bash\n:\nEOF',
    'node -e ""',
    "node -e 'process.exit(0)'",
    'python3 -c pass',
    "python3 -c 'import sys; sys.exit(0)'",
    'node --version',
    'npm -v',
    'xargs true',
    'sudo -u nobody true',
    'flock -w 5 lock true',
    'ls -la',
    'cat /dev/null',
    'cd /workspace',
    'test -d .',
    'test -f x -o true',
    '[ "$x" -o true ]',
    '[ ! "" ]',
    '[ 1 -lt 2 ]',
    'npm() { true; }; npm test',
  ],
  masked: [
    'node gen.js && git diff --exit-code',
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
    'for f in *.js; do node "$f"; done',
    'for f in a b; do node $f.js; done',
    'for f in a b; do node $f.js; done || exit 1',
    'while read -r f; do node "$f"; done < list.txt',
    'if ! npm test; then :; fi',
    'npm test; [ $? ]',
    'npm test; test -n "$?"',
    'npm test; [ $? -ge 0 ]',
    'npm test; test $? -lt 256',
    "sh <<'EOF'\nnpm test || true\nEOF",
    "echo 'npm test; exit 0' | sh",
    'npm test | xargs',
    'npm test | xargs echo',
    "npm test | awk '{ print }'",
    'npm test > log; cat log',
    'npm test > log 2>&1; tail -n 5 log',
    'npm test | tee log; cat log',
    'npm test > log || cat log',
    'npm test; node -e 0',
    'npm test || node -e ""',
    'alias npm=true\nnpm test',
    'f() { npm test; return 0; }; f',
    'make -i test',
    'make -ki test',
    'make --ignore-errors',
    'flake8 --exit-zero src',
    'find test -name "*.js" -exec node {} \\;',
    'script -qc "npm test" /dev/null',
    'mvn -o -Dmaven.test.failure.ignore=true test',
  ],
  open: [
    'git diff --no-index --exit-code a b',
    'git init -q && git add -A && node gen.js && git diff --exit-code',
    'git -C other status',
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
    'for f in a; do node $f.js; done',
    'for i in 1 2 3; do npm test && break; done',
    'set -e; for f in *.js; do node "$f"; done',
    'for f in *.js; do node "$f"; done; node check.js',
    'sh <<EOF\nnpm test\nEOF',
    'sh check.sh <<EOF\ntrue\nEOF',
    'echo x | node check.js',
    'cat list | xargs -n 1 node',
    'find test -name "*.js" -exec node {} +',
    'exec npm test; true',
    '[ ! x ] || npm test',
    'node x.js | sort -c',
    "node x.js | awk 'NF != 3 { exit 1 }'",
    'node x.js > rows; sort -c rows',
    'npm test > log || { cat log; false; }',
    'npm test; [ $? -eq 1 ]',
    'npm test; test $? -ge 0 -a -f out',
    'node --check x.js',
    'node -e "require(\'./check.js\')"',
    './check --version',
    'ls dist',
    'make -k test',
    'script -qec "npm test" /dev/null',
    "alias t='npm test'\nt",
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

  it.each([
    ['exit 0', 'vacuous'],
    ['echo "no tests" && exit 0', 'vacuous'],
    ['echo "Error: no test specified" && exit 1', 'vacuous'],
    ['jest || true', 'masked'],
    ['npm run inner; exit 0', 'masked'],
    ['npm run inner', 'open'],
    ['npm run again', 'open'],
    ['node --test # || true', 'open'],
  ] as const)('looks into npm test, which is %j: %s', (test, kind) => {
    const scripts = JSON.stringify({ scripts: { test, inner: 'jest', again: 'npm test' } });
    const facts = goodFacts({ files: new Map([['package.json', scripts]]) });
    expect(shellStatusKind('npm test', npmScriptsOf(facts, 'npm test'))).toBe(kind);
  });

  it('looks into pre and post scripts, and at scripts that may be missing', () => {
    const kindOf = (command: string, scripts: Record<string, string>): StatusKind => {
      const text = JSON.stringify({ scripts });
      const facts = goodFacts({ files: new Map([['package.json', text]]) });
      return shellStatusKind(command, npmScriptsOf(facts, command));
    };
    expect(kindOf('npm test', { pretest: 'node check.js', test: 'true' })).toBe('open');
    expect(kindOf('npm test', { test: 'node check.js', posttest: 'exit 1' })).toBe('masked');
    expect(kindOf('npm run build --if-present', {})).toBe('masked');
    expect(kindOf('npm run build', {})).toBe('open');
  });

  it.each([
    'cd pkg && npm test',
    '(cd pkg; npm test)',
    'npm --prefix pkg test',
    'npm test -w pkg',
    'npm test --workspaces',
    'pnpm --filter=a test',
    'npm run inner',
  ])('knows that %j is about another package.json', (command) => {
    const text = JSON.stringify({ scripts: { test: 'exit 0', inner: 'cd pkg && npm test' } });
    const facts = goodFacts({ files: new Map([['package.json', text]]) });
    expect(shellStatusKind(command, npmScriptsOf(facts, command))).toBe('open');
  });

  it('reads functions and scripts that call each other over and over: gives up on them', () => {
    const calls = (name: string) => `${name};`.repeat(20);
    const functions = Array.from({ length: 15 }, (_, i) => `f${i}() { ${calls(`f${i + 1}`)} }`);
    expect(shellStatusKind(`${functions.join('\n')}\nf0`)).toBe('open');
    const scripts = Object.fromEntries(
      Array.from({ length: 15 }, (_, i) => [`s${i}`, `npm run s${i + 1}; `.repeat(400)]),
    );
    const text = JSON.stringify({ scripts: { ...scripts, test: 'npm run s0' } });
    const facts = goodFacts({ files: new Map([['package.json', text]]) });
    expect(shellStatusKind('npm test', npmScriptsOf(facts, 'npm test'))).toBe('open');
    expect(lintContract(goodContract(), facts)).toBeInstanceOf(Array);
  });

  it('answers for deep nesting', () => {
    expect(shellStatusKind('('.repeat(2_000) + 'npm test' + ')'.repeat(2_000))).toBeTypeOf(
      'string',
    );
  });
});

// Keeps R-APPROVAL-STATUS.
it.each([
  'npm test | tee log',
  'npm test 2>&1 | tail -n 5',
  '{ npm test; } | cat',
  "sh -c 'npm test | cat'",
])(
  'C13 hides a failure behind a pipe, %j: EXIT_CODE_MASKED, which keeps the contract from opening',
  (command) => {
    const contract = goodContract();
    Object.assign(contract.criteria[0] ?? {}, { command });
    const findings = lintContract(contract, goodFacts());
    expect(findings.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['EXIT_CODE_MASKED', '/criteria/0/command'],
    ]);
  },
);

describe('shellProblems', () => {
  it.each([
    'if true; then',
    "echo 'x",
    'a && ',
    'a | | b',
    '( a',
    "sh -c 'if'",
    'sh <<EOF\nif\nEOF',
    "echo 'if' | sh",
    'echo "[[ -f x ]]" | sh',
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
    'bash <<EOF\n[[ -f x ]]\nEOF',
    'a > log 2>&1',
    'echo $((1 + 1))',
    'node -e \'for(const s of ["[["]){}\'',
  ])('finds none in %j', (command) => {
    expect(shellProblems(command)).toEqual([]);
  });
});
