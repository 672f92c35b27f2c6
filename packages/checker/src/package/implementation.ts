import { isUtf8 } from 'node:buffer';
import { canonicalDigest, sha256Hex, toPrintable } from '@kervyxa/core';
import type { AuthoredSandboxStage } from '../contract/authored.ts';
import type { StageLimits, StageProgram } from './checker-package.ts';
import type { LintCode } from './lint-table.ts';

/** What runs scripts; it is part of what identifies a program. */
export const SCRIPT_RUNTIME = 'kervyxa-runtime/python:1';
export const SCRIPT_BYTES_MAX = 256 * 1_024;

/** Builtins by name, with the role and the slot that each reads. */
export const BUILTINS = {
  'json-schema-check:1': { role: 'document', slot: 'document_schema' },
  'sat-assignment-check:1': { role: 'assignment', slot: 'instance' },
} as const;
export type BuiltinName = keyof typeof BUILTINS;

const BUILTIN = /^(?:kervyxa|tfp)-builtin\/(.*)$/;
const SCRIPT = /^\.\/((?:[A-Za-z0-9_-]+\/)*[A-Za-z0-9_-]+\.py)$/;
const IMAGE = /^[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}$/;

export type ProgramReading =
  | { readonly program: StageProgram }
  | { readonly code: LintCode; readonly message: string; readonly fix: string };

/** Finds what a stage names; `readFile` answers the bytes of a path of the folder, or null. */
export function readProgram(
  { implementation, limits }: Pick<AuthoredSandboxStage, 'implementation' | 'limits'>,
  readFile: (path: string) => Uint8Array | null,
): ProgramReading {
  const stageLimits: StageLimits = {
    vcpu: limits.vcpu,
    memoryMb: limits.memory_mb,
    diskMb: limits.disk_mb,
    timeoutSeconds: limits.timeout_seconds,
  };
  const digestOf = (identity: object) => canonicalDigest({ ...identity, limits });
  const builtin = BUILTIN.exec(implementation)?.[1];
  if (builtin !== undefined) {
    if (!Object.hasOwn(BUILTINS, builtin)) return unknownBuiltin(builtin);
    return {
      program: {
        kind: 'builtin',
        name: builtin,
        limits: stageLimits,
        digest: digestOf({ builtin }),
      },
    };
  }
  if (IMAGE.test(implementation)) {
    const digest = digestOf({ image: implementation });
    return { program: { kind: 'image', reference: implementation, limits: stageLimits, digest } };
  }
  const path = SCRIPT.exec(implementation)?.[1];
  if (path === undefined) return refuseForm(implementation);
  const content = readFile(path);
  if (content === null) {
    return {
      code: 'script_missing',
      message: `expected the script ${path} beside the contract, got none`,
      fix: `Write ${path}, or name the file that is there.`,
    };
  }
  const problem = scriptProblem(content);
  if (problem !== null) {
    return {
      code: 'script_invalid',
      message: `expected a script of 1 to ${SCRIPT_BYTES_MAX} bytes of UTF-8, got ${problem}`,
      fix: 'Keep the script to one small text file; data belongs into a reference input.',
    };
  }
  const digest = digestOf({ script: `sha256:${sha256Hex(content)}`, runtime: SCRIPT_RUNTIME });
  const filename = path.slice(path.lastIndexOf('/') + 1);
  return { program: { kind: 'script', filename, content, limits: stageLimits, digest } };
}

function scriptProblem(content: Uint8Array): string | null {
  if (content.length === 0) return 'an empty one';
  if (content.length > SCRIPT_BYTES_MAX) return `${content.length} bytes`;
  return isUtf8(content) ? null : 'bytes that are none';
}

function unknownBuiltin(name: string): ProgramReading {
  return {
    code: 'builtin_unknown',
    message: `expected a builtin that there is, got "${toPrintable(name, 100)}"`,
    fix: `Name one of ${Object.keys(BUILTINS)
      .map((known) => `kervyxa-builtin/${known}`)
      .join(', ')}.`,
  };
}

function refuseForm(implementation: string): ProgramReading {
  const got = `"${toPrintable(implementation, 100)}"`;
  if (/^[a-z0-9][a-z0-9._/:-]*$/.test(implementation) && /[/:]/.test(implementation)) {
    return {
      code: 'image_not_pinned',
      message: `expected an image by its digest, got ${got}`,
      fix: 'A tag can point elsewhere tomorrow: write name@sha256:<digest>, as the registry or "docker inspect" tells it.',
    };
  }
  return {
    code: 'implementation_invalid',
    message: `expected ./name.py, a builtin or name@sha256:<digest>, got ${got}`,
    fix: 'Name a script by its path from the contract, such as ./checker.py or ./checkers/structure.py; names have letters, digits, _ and -.',
  };
}
