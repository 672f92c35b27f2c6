import { toPrintable } from '@kervyxa/core';
import type { NamedText } from './bundle.ts';
import { depsError } from './errors.ts';

/** One version of one Python package as requirements pin it. */
export interface Requirement {
  /** As the index spells it: lower case, single dashes. */
  readonly name: string;
  readonly version: string;
  /** 64 hex digits each. */
  readonly sha256s: readonly string[];
  /** It has an environment marker, so that there may be no file of it for Linux. */
  readonly isConditional: boolean;
}

const LINE =
  /^([A-Za-z0-9][\w.-]*)(?:\[[\w., -]*\])?\s*==\s*([0-9A-Za-z][\w.!+-]*)\s*(;[^#]*?)?((?:\s+--hash[= ]sha256:[0-9a-f]{64})+)$/;

/**
 * Reads requirements in pip's hash-checking form: `name==version --hash=sha256:…`, with further hashes, continuation
 * lines, extras, environment markers and comments. Pure.
 *
 * Throws DEPS_REQUIREMENTS_INVALID.
 */
export function parseRequirements({ name, text }: NamedText): Requirement[] {
  return text
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => toRequirement(line, name));
}

function toRequirement(line: string, file: string): Requirement {
  const [, name, version, marker, hashes] = LINE.exec(line) ?? [];
  if (name === undefined || version === undefined || hashes === undefined) {
    throw depsError('DEPS_REQUIREMENTS_INVALID', {
      message: `expected every line of ${toPrintable(file, 300)} to be name==version --hash=sha256:…, got ${toPrintable(line, 200)}`,
      fix: 'let pip-tools write it: pip-compile --generate-hashes --no-emit-index-url',
    });
  }
  return {
    name: normalise(name),
    version,
    sha256s: hashes.match(/[0-9a-f]{64}/g) ?? [],
    isConditional: marker !== undefined,
  };
}

/** PEP 503. */
export function normalise(name: string): string {
  return name.replaceAll(/[-_.]+/g, '-').toLowerCase();
}
