import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  createConformance,
  readCheckerFolder,
  type CheckDeps,
  type CheckerPackage,
  type Conformance,
  type InputFile,
} from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { createGate } from '@kervyxa/verifier';
import { cliError } from '../errors.ts';
import type { Host } from '../host.ts';
import { parseSettings } from '../settings.ts';
import { loadCheckerFolder } from './checker-folder.ts';
import { toCause } from './contract-file.ts';
import { openEngine } from './engine.ts';

/** More than any role or slot of an honest contract takes. */
const INPUT_BYTES_MAX = 256 * 1_048_576;

/** A package of a folder, by where it is. */
export interface NamedPackage {
  /** As the user named the folder, and below it the problem of a campaign. */
  readonly name: string;
  readonly package: CheckerPackage;
}

/** What is asked of the machine that checkers are tried on. */
export interface CheckerMachine {
  /** All packages of a folder: one, or those of a campaign. Throws CLI_CHECKER_REFUSED. */
  loadPackages(folder: string): Promise<readonly NamedPackage[]>;
  /** Throws CLI_FILE_UNREADABLE. */
  loadInput(path: string): Promise<InputFile>;
  /** Makes engine and images ready; `live` gets the changing line of what takes long. */
  open(options: {
    readonly log: (line: string) => void;
    readonly live: (line: string) => void;
    readonly signal: AbortSignal;
  }): Promise<CheckDeps & { readonly conformance: Conformance }>;
}

export function createCheckerMachine(host: Host): CheckerMachine {
  const { clock, interactive } = host;
  const { containerRuntime } = parseSettings(host.env);
  return {
    loadPackages,
    loadInput,
    async open(options) {
      const places = { allowedOrigins: [], containerRuntime };
      const { sandbox, runtimes } = await openEngine({ clock, interactive, ...places, ...options });
      return { sandbox, runtimes, gate: createGate(), conformance: createConformance() };
    },
  };
}

async function loadPackages(folder: string): Promise<readonly NamedPackage[]> {
  const { files, archive } = await loadCheckerFolder(folder, new AbortController().signal);
  const { problems, findings } = readCheckerFolder(files, archive.digest);
  const codes = findings.flatMap(({ severity, code }) => (severity === 'refuse' ? [code] : []));
  if (codes.length > 0)
    throw refused(folder, `what lint refuses: ${[...new Set(codes)].join(', ')}`);
  const packages = problems.flatMap(({ folder: below, package: checker }) =>
    checker === null ? [] : [{ name: join(folder, below, '.'), package: checker }],
  );
  if (packages.length === 0) throw refused(folder, 'no verifier-contract.json');
  return packages;
}

function refused(folder: string, got: string): Error {
  const name = toPrintable(folder, 300);
  return cliError('CLI_CHECKER_REFUSED', {
    message: `expected a checker package in ${name}, got ${got}`,
    fix: `Mend what "kervyxa checker lint ${name}" lists.`,
  });
}

async function loadInput(path: string): Promise<InputFile> {
  try {
    const file = await open(path, 'r');
    try {
      const pieces: Buffer[] = [];
      for await (const piece of file.createReadStream({ autoClose: false, end: INPUT_BYTES_MAX })) {
        pieces.push(piece);
      }
      const content = Buffer.concat(pieces);
      if (content.length <= INPUT_BYTES_MAX) {
        return { filename: basename(path), mediaType: null, content };
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw unreadable(path, toCause(cause), cause);
  }
  throw unreadable(path, `more than ${INPUT_BYTES_MAX} bytes`);
}

function unreadable(path: string, got: string, cause?: unknown): Error {
  return cliError('CLI_FILE_UNREADABLE', {
    message: `expected a readable file at ${toPrintable(path, 300)}, got ${got}`,
    fix: 'Give the path of a file that you may read.',
    cause,
  });
}
