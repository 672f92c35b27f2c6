const SHA256 = 'ab'.repeat(32);
const CRITERION = {
  id: 'says-hello',
  type: 'regression',
  visibility: 'hidden',
  status: 'fail',
  reason: 'EXIT_CODE_MISMATCH',
  message: 'expected exit status 0, got 1',
  exitCode: 1,
  metric: null,
  peakMemoryBytes: 1_000,
  durationMs: 12,
  outputSha256: SHA256,
};
const REASON = { code: 'EXIT_CODE_MISMATCH', subject: 'says-hello', message: 'expected 0, got 1' };
const FINDING = {
  code: 'UNSTABLE_CRITERION',
  severity: 'refuse',
  pointer: '/criteria/0',
  message: 'it ended in two ways',
  fix: 'sort what it prints',
  acknowledgement: null,
};

export const RESULT = {
  verdict: 'FAIL',
  contractDigest: `sha256:${SHA256}`,
  commit: 'ab'.repeat(20),
  tree: 'cd'.repeat(20),
  imageDigest: `sha256:${SHA256}`,
  changedFiles: [{ path: 'hello.sh', status: 'modified' }],
  inputs: { checkout: 'c'.repeat(64), package: null, dependencies: null },
  criteria: [CRITERION],
  reasons: [REASON],
};

export const REPORT = {
  schemaVersion: 'kervyxa.proving.v1',
  contractDigest: `sha256:${SHA256}`,
  imageDigest: null,
  isProved: false,
  criteria: [
    { id: 'says-hello', title: 'Hello', type: 'regression', visibility: 'hidden', metric: null },
  ],
  columns: [
    {
      id: 'base',
      kind: 'base',
      title: 'the base',
      commit: null,
      expected: null,
      verdict: 'FAIL',
      reasons: [REASON],
      criteria: [CRITERION],
      diff: null,
    },
  ],
  replays: [
    {
      criterionId: 'says-hello',
      runs: [
        {
          status: 'pass',
          reason: null,
          exitCode: 0,
          metric: 1.5,
          outputSha256: null,
          durationMs: 1,
        },
      ],
      metricSpread: 0,
      tolerance: null,
      durationSpread: null,
    },
  ],
  findings: [FINDING],
  notes: ['no test to delete'],
};

export const LOCKFILE = {
  lockfileVersion: 3,
  packages: {
    '': { name: 'x', version: '1.0.0' },
    'node_modules/a': {
      version: '1.0.0',
      resolved: 'https://registry.invalid/a/-/a-1.0.0.tgz',
      integrity: `sha512-${'A'.repeat(86)}==`,
    },
    'node_modules/b/node_modules/@c/d': {
      version: '1.0.0-rc.1',
      integrity: `sha512-${'B'.repeat(86)}==`,
      optional: true,
      os: ['linux', '!win32'],
      cpu: ['x64'],
    },
    'packages/own': { version: '1.0.0', link: true },
  },
};
