import { describe, expect, it } from 'vitest';

import { readDraft } from './draft.ts';
import { harnessOf } from './harness.ts';
import { editedContract, goodFacts } from './testing/good-contract.ts';

const harnessOfText = (command: string, packageJson = '{}') => {
  const [, criterion] = readDraft(editedContract([['/criteria/1/command', command]])).criteria;
  if (criterion === undefined) throw new TypeError('expected a second criterion');
  return harnessOf(criterion, goodFacts({ files: new Map([['package.json', packageJson]]) }));
};

describe('harnessOf', () => {
  it.each([
    ['node bench.js', ['bench.js']],
    ['node --disable-sigusr1 -r ./pre.js tools/bench.js 5', ['pre.js', 'tools/bench.js']],
    ['node --import=./pre.mjs check.js', ['pre.mjs', 'check.js']],
    ['node -r dotenv/config check.js', ['check.js']],
    ['sh < check.sh', ['check.sh']],
    ['cross-env CI=1 c8 --reporter text node check.js', ['check.js']],
    ['node - < check.js', ['check.js']],
    ['cat check.sh | sh', ['check.sh']],
    ['sh ./a/../check.sh', ['check.sh']],
    ['cd pkg && node run.js', ['pkg/run.js']],
    ['cd pkg && node ../run.js', ['run.js']],
    ['cd pkg/a; cd ../b; node run.js', ['pkg/b/run.js']],
    ['cd /tmp && node /workspace/run.js', ['run.js']],
    ['find test -name "*.js" -exec node check.js {} +', ['check.js']],
    ['sh ./verify.sh', ['verify.sh']],
    ['sh /workspace/verify.sh', ['verify.sh']],
    ['./run', ['run']],
    ['. ./env.sh && node x.js', ['x.js']],
    ['node build.js && node check.js', ['check.js']],
    ['node check-a.js && node b.js', ['b.js', 'check-a.js']],
    ['node a.js; node b.js', ['b.js']],
    ['set -e; node a.js; node b.js', ['a.js', 'b.js']],
    ['node a.js || exit 1', ['a.js']],
    ['if node a.js; then exit 0; else exit 1; fi', ['a.js']],
    ['cat in.txt | node a.js', ['a.js']],
    ['( cd . && python3 a.py )', ['a.py']],
    ["bash -c 'node a.js'", ['a.js']],
    ['node transform.js a.json b.csv && cmp b.csv want.csv', []],
    ["node -e 'x'", []],
    ['node --test', []],
    ['npx --no-install eslint .', []],
    ['node node_modules/eslint/bin/eslint.js .', []],
    ['sh "$KERVYXA_VERIFIER_PACKAGE/run.sh"', []],
    ['cp "$KERVYXA_VERIFIER_PACKAGE/t.js" t.js && node t.js', []],
    ['cp -r "$KERVYXA_VERIFIER_PACKAGE/hidden" . && node hidden/t.js', []],
    ['cp helper.js t.js && node t.js', ['t.js']],
    ['sh ../outside.sh', []],
  ])('finds the scripts that decide %j', (command, scripts) => {
    expect(harnessOfText(command).scripts).toEqual(scripts);
  });

  it.each([
    ['npm test', '{"scripts":{"test":"node run.js"}}', ['run.js']],
    [
      'npm run --silent bench',
      '{"scripts":{"bench":"npm run inner","inner":"node b.js"}}',
      ['b.js'],
    ],
    ['npm test', '{"scripts":{"test":"npm test"}}', []],
    ['cd pkg && npm test', '{"scripts":{"test":"node run.js"}}', []],
    ['npm test --workspace=pkg', '{"scripts":{"test":"node run.js"}}', []],
    ['npm test', '{"scripts":{"test":7}}', []],
    ['npm test', 'no json', []],
    ['npm run __proto__', '{"scripts":{}}', []],
  ])('follows %j through package.json %s', (command, packageJson, scripts) => {
    expect(harnessOfText(command, packageJson).scripts).toEqual(scripts);
  });

  it('reads a path from the folder in which the base has it', () => {
    const paths = ['pkg/check.js', 'gen.js', 'gen/check.js'];
    const scriptsOf = (command: string) => {
      const document = editedContract([['/criteria/1/command', command]]);
      const [, criterion] = readDraft(document).criteria;
      if (criterion === undefined) throw new TypeError('expected a second criterion');
      return harnessOf(criterion, goodFacts({ paths })).scripts;
    };
    expect(scriptsOf('node gen.js && cd pkg && node check.js')).toEqual(['pkg/check.js']);
    expect(scriptsOf('cd pkg && node check.js && cd ..')).toEqual(['pkg/check.js']);
  });

  it('names the configuration that a command chooses', () => {
    const configsOf = (command: string) => harnessOfText(command).tools[0]?.configs ?? [];
    expect(configsOf('npx eslint -c lint/strict.js .')).toContain('lint/strict.js');
    expect(configsOf('tsc -p tsconfig.build.json')).toContain('tsconfig.build.json');
    expect(configsOf('jest --config=jest.unit.js')).toContain('jest.unit.js');
    expect(configsOf('make -f build.mk test')).toContain('build.mk');
    expect(configsOf("jest --config '{}'")).not.toContain('{}');
    expect(configsOf('prettier -c src/a.js')).not.toContain('src/a.js');
  });

  it.each([
    ['npx eslint .', ['eslint', 'npx']],
    ['npm exec -- prettier --check .', ['prettier', 'npm']],
    ['yarn jest -i', ['yarn', 'jest']],
    ['pnpm exec vitest run', ['vitest', 'pnpm']],
    ['uv run pytest', ['uv', 'pytest']],
    ['coverage run -m pytest', ['coverage', 'pytest']],
    ['bundle exec rspec', ['bundle', 'rspec']],
    ['node --run test', ['node --run']],
    ['./gradlew test', ['gradle']],
    ['npx @biomejs/biome check .', ['biome', 'npx']],
    ['./node_modules/.bin/tsc --noEmit', ['tsc']],
    ['node node_modules/jest/bin/jest.js', ['jest']],
    ['python3 -m pytest -q', ['pytest']],
    ['pytest', ['pytest']],
    ['make check', ['make']],
    ['node --test', ['node --test']],
    ['node x.js', []],
  ])('finds the tool of %j', (command, tools) => {
    expect(harnessOfText(command).tools.map(({ name }) => name)).toEqual(tools);
  });

  it.each([
    ['node x.js > o && cmp o want.txt', [['o', 'want.txt']]],
    ['sha256sum -c sums.txt', [['sums.txt']]],
    ["printf '%s' x | sha256sum -c --status", []],
    ['node x.js > a && node x.js > b && cmp a b', []],
    ['node x.js > o && diff o "$KERVYXA_VERIFIER_PACKAGE/want"', []],
  ])('finds what %j compares with', (command, references) => {
    expect(harnessOfText(command).references).toEqual(references);
  });
});
