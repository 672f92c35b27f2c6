import { isUtf8 } from 'node:buffer';
import { canonicalDigest, sha256Hex, toPrintable } from '@kervyxa/core';
import type { AuthoredSandboxStage } from '../contract/authored.ts';
import type { StageLimits, StageProgram } from './checker-package.ts';
import type { LintCode } from '../contract/lint-table.ts';

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

interface Refusal {
  readonly code: LintCode;
  readonly message: string;
  readonly fix: string;
}
/** A program without the limits under which it runs. */
type FoundProgram =
  | { readonly kind: 'script'; readonly filename: string; readonly content: Uint8Array }
  | { readonly kind: 'builtin'; readonly name: BuiltinName }
  | { readonly kind: 'image'; readonly reference: string };

/** The program of a stage whose implementation `findProgram` finds. */
export function toProgram(
  { limits }: Pick<AuthoredSandboxStage, 'limits'>,
  found: FoundProgram,
): StageProgram {
  const stageLimits: StageLimits = {
    vcpu: limits.vcpu,
    memoryMb: limits.memory_mb,
    diskMb: limits.disk_mb,
    timeoutSeconds: limits.timeout_seconds,
  };
  return {
    ...found,
    limits: stageLimits,
    digest: canonicalDigest({ ...identityOf(found), limits }),
  };
}

function identityOf(found: FoundProgram): object {
  switch (found.kind) {
    case 'script':
      return { script: `sha256:${sha256Hex(found.content)}`, runtime: SCRIPT_RUNTIME };
    case 'builtin':
      return { builtin: found.name };
    case 'image':
      return { image: found.reference };
  }
}

/** The builtin that an implementation names, where there is such a one. */
export function builtinOf(implementation: string): BuiltinName | null {
  const name = BUILTIN.exec(implementation)?.[1];
  return name === 'json-schema-check:1' || name === 'sat-assignment-check:1' ? name : null;
}

/** The script that an implementation names, by its path from the contract. */
export function scriptPathOf(implementation: string): string | null {
  return SCRIPT.exec(implementation)?.[1] ?? null;
}

/** Finds what a stage names, or says why it is none. `readFile` is told paths from the contract. */
export function findProgram(
  implementation: string,
  readFile: (path: string) => Uint8Array | null,
): FoundProgram | Refusal {
  const builtin = BUILTIN.exec(implementation)?.[1];
  if (builtin !== undefined) {
    const name = builtinOf(implementation);
    return name === null ? refuseBuiltin(builtin) : { kind: 'builtin', name };
  }
  if (IMAGE.test(implementation)) return { kind: 'image', reference: implementation };
  const path = scriptPathOf(implementation);
  if (path === null) return refuseForm(implementation);
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
  return { kind: 'script', filename: path.slice(path.lastIndexOf('/') + 1), content };
}

function scriptProblem(content: Uint8Array): string | null {
  if (content.length === 0) return 'an empty one';
  if (content.length > SCRIPT_BYTES_MAX) return `${content.length} bytes`;
  return isUtf8(content) ? null : 'bytes that are none';
}

function refuseBuiltin(name: string): Refusal {
  return {
    code: 'builtin_unknown',
    message: `expected a builtin that there is, got "${toPrintable(name, 100)}"`,
    fix: `Name one of ${Object.keys(BUILTINS)
      .map((known) => `kervyxa-builtin/${known}`)
      .join(', ')}.`,
  };
}

function refuseForm(implementation: string): Refusal {
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
