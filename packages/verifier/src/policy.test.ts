import { describe, expect, it } from 'vitest';
import type { ChangedFile } from '@kervyxa/intake';
import { fenceAdditions, gradePolicy, type PolicyFacts } from './policy.ts';
import { contractWith } from './testing/contract.ts';

function change(
  path: string,
  status: ChangedFile['status'] = 'modified',
  { baseMode = '100644', mode = '100644' } = {},
): ChangedFile {
  const [absent, none] = [status === 'added', status === 'deleted'];
  return { path, status, baseMode: absent ? '000000' : baseMode, mode: none ? '000000' : mode };
}

function facts(changedFiles: ChangedFile[], others: Partial<PolicyFacts> = {}): PolicyFacts {
  return {
    isDescendant: true,
    changedFiles,
    treeFaults: [],
    message: 'Fix it\n',
    baseFiles: () => ({ paths: [] }),
    ...others,
  };
}

const contract = contractWith({
  constraints: {
    protectedPaths: ['package.json', 'verifier/', 'protected/**'],
    maxChangedFiles: 2,
    allowedLanguages: ['javascript'],
  },
});

function codes(changedFiles: ChangedFile[], others: Partial<PolicyFacts> = {}): string[] {
  return gradePolicy(contract, facts(changedFiles, others), null).map(({ code }) => code);
}

// Keeps R-POLICY-DIFF.
describe('policy', () => {
  it('lets a change within the constraints through', () => {
    expect(codes([change('a.js'), change('README.md', 'added')])).toEqual([]);
  });

  it('edits a protected file', () => {
    expect(codes([change('package.json')])).toEqual(['PROTECTED_PATH_CHANGED']);
  });

  it.each([
    ['Makefile', 'GNUmakefile'],
    ['**/Makefile', 'deep/makefile'],
    ['package-lock.json', 'npm-shrinkwrap.json'],
    ['vite.config.ts', 'vitest.config.js'],
    ['vitest.config.ts', 'postcss.config.mjs'],
    ['vitest.config.*', '.postcssrc.json'],
    ['.eslintrc.json', '.eslintrc.js'],
    ['pyproject.toml', 'pytest.ini'],
    ['Gemfile', 'gems.rb'],
    ['phpunit.xml.dist', 'phpunit.xml'],
  ])('H08 protects %s, and %s would be read in its place', (rule, path) => {
    const protecting = contractWith({
      constraints: { protectedPaths: [rule], maxChangedFiles: 9 },
    });
    const of = (name: string): string[] =>
      gradePolicy(protecting, facts([change(name, 'added')]), null).map(({ code }) => code);
    expect(of(path)).toEqual(['PROTECTED_PATH_CHANGED']);
    expect(of(`elsewhere/${path.slice(path.lastIndexOf('/') + 1)}`)).toEqual(
      rule.startsWith('**') ? ['PROTECTED_PATH_CHANGED'] : [],
    );
  });

  it('renames a protected file away: the deletion counts (D01)', () => {
    expect(codes([change('protected/verify.js', 'deleted'), change('moved.js', 'added')])).toEqual([
      'PROTECTED_PATH_CHANGED',
    ]);
  });

  it('adds a hidden file below a protected folder (D16)', () => {
    expect(codes([change('protected/.hidden/x.js', 'added')])).toEqual(['PROTECTED_PATH_CHANGED']);
  });

  it('puts a link where a protected folder would be, with nothing there at base (D09)', () => {
    expect(codes([change('verifier', 'added')])).toContain('PROTECTED_PATH_CHANGED');
    expect(codes([change('protected', 'added')])).toContain('PROTECTED_PATH_CHANGED');
  });

  it.each([
    ['points a link above it elsewhere', 'modified', '120000', '120000'],
    ['takes a link above it away', 'deleted', '120000', '120000'],
    ['turns a file above it into a link', 'type_changed', '100644', '120000'],
  ] as const)('%s, so that protected bytes are others (D09)', (_attack, status, baseMode, mode) => {
    const file = change('verifier', status, { baseMode, mode });
    const narrow = contractWith({
      constraints: { protectedPaths: ['verifier/run.js'], editablePaths: ['verifier'] },
    });
    expect(gradePolicy(narrow, facts([file]), null).map(({ code }) => code)).toContain(
      'PROTECTED_PATH_CHANGED',
    );
  });

  it('adds a link among the folders of a protected pattern, but may add a file (D09)', () => {
    const globbed = contractWith({
      constraints: { protectedPaths: ['packages/*/package.json', '*/x'], maxChangedFiles: 9 },
    });
    const judge = (...files: ChangedFile[]): string[] =>
      gradePolicy(globbed, facts(files), null).map(({ code }) => code);
    expect(judge(change('packages/evil', 'added', { mode: '120000' }))).toContain(
      'PROTECTED_PATH_CHANGED',
    );
    expect(
      judge(change('packages/README.md', 'added'), change('a.js'), change('b.js', 'added')),
    ).toEqual([]);
  });

  it('spells a protected name another way: upper case, or an accent in two parts (D19)', () => {
    const named = contractWith({
      constraints: { protectedPaths: ['verifier/', 'prüfung.js'], maxChangedFiles: 9 },
    });
    const judge = (file: ChangedFile): string[] =>
      gradePolicy(named, facts([file]), null).map(({ code }) => code);
    expect(judge(change('Verifier/run.js', 'added'))).toEqual(['PROTECTED_PATH_CHANGED']);
    expect(judge(change('PRÜFUNG.js', 'added'))).toEqual(['PROTECTED_PATH_CHANGED']);
    expect(judge(change('pru\u0308fung.js'))).toEqual(['PROTECTED_PATH_CHANGED']);
    // A name that the base has is what the requester saw when choosing what to protect.
    expect(judge(change('Verifier/run.js'))).toEqual([]);
  });

  it('changes a thousand protected files: the reasons are counted, not all listed', () => {
    const files = Array.from({ length: 1_000 }, (_, index) => change(`protected/${index}.js`));
    const reasons = gradePolicy(contract, facts(files), null);
    expect(reasons).toHaveLength(102);
    expect(reasons[100]).toMatchObject({ code: 'PROTECTED_PATH_CHANGED', subject: null });
    expect(reasons[100]?.message).toContain('900');
  });

  it('D18 changes a hundred thousand files, more than any contract allows: the first are looked at', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => change(`a${index}.js`));
    const reasons = gradePolicy(contract, facts([...many, change('package.json')]), null);
    expect(reasons.map(({ code }) => code)).toEqual(['TOO_MANY_CHANGED_FILES']);
    expect(reasons[0]?.message).toContain('got 100001 (');
  });

  it('names the file as it is called, and the kind of change in words', () => {
    const [reason] = gradePolicy(
      contract,
      facts([change('protected/a_b.js', 'type_changed')]),
      null,
    );
    expect(reason?.message).toContain('protected/a_b.js type changed');
  });

  it('squeezes renames under the limit: each counts twice (D02)', () => {
    const files = ['a.js', 'b.js'].flatMap((name) => [
      change(name, 'deleted'),
      change(`moved/${name}`, 'added'),
    ]);
    expect(codes(files)).toEqual(['TOO_MANY_CHANGED_FILES']);
  });

  it('brings a language that is not allowed', () => {
    expect(codes([change('x.py', 'added')])).toEqual(['LANGUAGE_NOT_ALLOWED']);
  });

  it('changes nothing', () => {
    expect(codes([])).toEqual(['EMPTY_DIFF']);
  });

  it('is not a descendant: nothing else is said of a comparison that was not made', () => {
    expect(codes([], { isDescendant: false })).toEqual(['NOT_A_DESCENDANT']);
  });

  it('breaks many rules at once: all are reported, in the published order', () => {
    expect(
      codes([change('package.json'), change('a.py'), change('b.js')], {
        treeFaults: [
          { reason: 'LFS_POINTER', path: 'b.js', message: 'a pointer' },
          { reason: 'SUBMODULE_CHANGED', path: 's', message: 'a gitlink' },
          { reason: 'UNSAFE_PATH', path: '.GIT', message: 'a git folder' },
          { reason: 'SOURCE_TOO_LARGE', path: null, message: 'too large' },
        ],
      }),
    ).toEqual([
      'UNSAFE_PATH',
      'SUBMODULE_CHANGED',
      'PROTECTED_PATH_CHANGED',
      'TOO_MANY_CHANGED_FILES',
      'LANGUAGE_NOT_ALLOWED',
      'SOURCE_TOO_LARGE',
      'LFS_POINTER',
    ]);
  });

  it('changes a file outside editablePaths', () => {
    const narrow = contractWith({ constraints: { editablePaths: ['src/**'], maxChangedFiles: 9 } });
    expect(gradePolicy(narrow, facts([change('src/a.js')]), null)).toEqual([]);
    expect(gradePolicy(narrow, facts([change('lib/a.js')]), null).map(({ code }) => code)).toEqual([
      'PROTECTED_PATH_CHANGED',
    ]);
  });

  it('shows a name that would move the cursor as escapes only', () => {
    const [reason] = gradePolicy(contract, facts([change('protected/\u001b[2J.js')]), null);
    expect(reason?.message).not.toContain('\u001b');
  });
});

describe('a claim trailer', () => {
  const claimed = contractWith({ submission: { claim: 'trailer' } });
  const message = 'Fix it\n\nWhy.\n\nSigned-off-by: A <a@b.c>\nKervyxa-Claim: tok_123\n';
  const judge = (text: string, token: string | null): string[] =>
    gradePolicy(claimed, facts([change('a.js')], { message: text }), token).map(({ code }) => code);

  it('is accepted where it carries the token of this solver', () => {
    expect(judge(message, 'tok_123')).toEqual([]);
  });

  it("submits somebody else's commit under an own token (S19)", () => {
    expect(judge(message, 'tok_other')).toEqual(['CLAIM_MISSING']);
  });

  it('is written by a form that ends lines with CR LF: accepted', () => {
    expect(judge(message.replaceAll('\n', '\r\n'), 'tok_123')).toEqual([]);
  });

  it('counts only in the last paragraph', () => {
    expect(judge('Fix\n\nKervyxa-Claim: tok_123\n\nmore\n', 'tok_123')).toEqual(['CLAIM_MISSING']);
  });

  it('is required where no token is issued, too', () => {
    expect(judge(message, null)).toEqual([]);
    expect(judge('Fix it\n', null)).toEqual(['CLAIM_MISSING']);
  });
});

// Keeps R-POLICY-SETUP.
describe('what set-up may add', () => {
  const { judge } = fenceAdditions(
    contractWith({
      constraints: {
        protectedPaths: [
          '**/.npmrc',
          '**/node_modules/',
          'tests/',
          '.cargo/config.toml',
          '**/.bundle/',
        ],
        editablePaths: ['lib/'],
      },
    }),
    [],
    ['Makefile', 'tests/rules.py', 'tools/check.py', 'vitest.config.ts'],
  );

  it.each([
    ['.npmrc', 'other', 'goes'],
    ['deep/.npmrc', 'folder', 'goes'],
    ['.NPMRC', 'other', 'goes'],
    ['node_modules', 'folder', 'stays'],
    ['packages/a/node_modules', 'folder', 'stays'],
    ['node_modules', 'link', 'goes'],
    ['node_modules', 'other', 'goes'],
    ['tests/made', 'folder', 'goes'],
    ['.cargo', 'folder', 'inside'],
    ['.cargo/config.toml', 'other', 'goes'],
    ['.cargo', 'link', 'goes'],
    ['.bundle', 'folder', 'goes'],
    ['dist', 'folder', 'stays'],
    ['dist.js', 'other', 'stays'],
    ['current', 'link', 'stays'],
    ['GNUmakefile', 'other', 'goes'],
    ['deep/GNUmakefile', 'other', 'stays'],
    ['postcss.config.mjs', 'other', 'goes'],
    ['tools/__pycache__', 'folder', 'goes'],
    ['tools/check', 'folder', 'inside'],
    ['tools/check/__init__.py', 'other', 'goes'],
    ['tools/check.cpython-313-x86_64-linux-gnu.so', 'other', 'goes'],
    ['tools/check.so', 'link', 'goes'],
    ['tools/other.so', 'other', 'stays'],
  ] as const)('%s, a %s: %s', (path, kind, fate) => {
    expect(judge(path, kind)).toBe(fate);
  });
});

describe('a rule of wildcards', () => {
  const json = contractWith({
    constraints: { protectedPaths: ['**/*.json'], maxChangedFiles: 2, allowedLanguages: [] },
  });
  const codesWith = (paths: readonly string[]): string[] => {
    const base = { baseFiles: () => ({ paths }) };
    return gradePolicy(json, facts([change('jest.config.js', 'added')], base), null).map(
      ({ code }) => code,
    );
  };

  it('H08 has a file of the base that another would be read in place of: PROTECTED_PATH_CHANGED', () => {
    expect(codesWith(['jest.config.json'])).toEqual(['PROTECTED_PATH_CHANGED']);
  });

  it('would match a file that nobody has: an honest commit may add what outranks it', () => {
    expect(codesWith(['data.json'])).toEqual([]);
  });
});
