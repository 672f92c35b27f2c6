import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKER_ERRORS } from '@kervyxa/checker';
import { CONTRACT_ERRORS, FINDING_TABLE } from '@kervyxa/contract';
import {
  CHECK_REASONS,
  CONTRACT_REASONS,
  type ErrorTable,
  INFRA_REASONS,
  SOLVER_REASONS,
  SOURCE_REASONS,
} from '@kervyxa/core';
import { DB_ERRORS } from '@kervyxa/db';
import { DEPS_ERRORS } from '@kervyxa/deps';
import { EVIDENCE_ERRORS } from '@kervyxa/evidence';
import { INTAKE_ERRORS } from '@kervyxa/intake';
import { SANDBOX_ERRORS } from '@kervyxa/sandbox';
import { SETTLEMENT_ERRORS } from '@kervyxa/settlement';
import { SETUP_ERRORS } from '@kervyxa/setup';
import { VERIFIER_ERRORS } from '@kervyxa/verifier';
import { describe, expect, it } from 'vitest';
import { API_ERRORS } from '../apps/api/src/errors.ts';
import { CLI_ERRORS } from '../apps/cli/src/errors.ts';
import { bulletsOf, loadLintTable } from '../fixtures/lint-table.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The rows of the table below a heading of the README, each as its cells without back quotes. */
function tableUnder(heading: string): string[][] {
  const section = README.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\|', '|')),
    );
}

function listMarkdown(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('/base/'))
    .map((name) => `${folder}/${name}`);
}

describe('the README', () => {
  it('has every reason with its verdict, and no other', () => {
    const verdictOf = [
      ...SOLVER_REASONS.map((code) => [code, 'FAIL']),
      ...[...SOURCE_REASONS, ...CONTRACT_REASONS, ...CHECK_REASONS].map((code) => [
        code,
        'INCONCLUSIVE',
      ]),
      ...INFRA_REASONS.map((code) => [code, 'ERROR']),
    ];
    expect(tableUnder('What a verdict says').map(([code, verdict]) => [code, verdict])).toEqual(
      verdictOf,
    );
  });

  it('has every finding with its severity and meaning, and no other', () => {
    const findings = Object.entries(FINDING_TABLE).map(([code, { severity, meaning }]) => [
      code,
      severity,
      meaning,
    ]);
    expect(tableUnder('What approval says')).toEqual(findings);
  });

  it('has every way to be invalid with its finding, and no other', () => {
    const bullets = bulletsOf(loadLintTable()).map(({ kind, says, codes }) => [
      kind,
      says,
      codes.join(', '),
    ]);
    expect(tableUnder('What makes a contract invalid')).toEqual(bullets);
  });

  it('has every error code with its exit status and meaning, and no other', () => {
    const tables: ErrorTable[] = [
      API_ERRORS,
      CHECKER_ERRORS,
      CLI_ERRORS,
      CONTRACT_ERRORS,
      DB_ERRORS,
      DEPS_ERRORS,
      EVIDENCE_ERRORS,
      INTAKE_ERRORS,
      SANDBOX_ERRORS,
      SETTLEMENT_ERRORS,
      VERIFIER_ERRORS,
    ];
    const errors = [
      ...tables.map((table) => Object.entries(table)),
      Object.entries(SETUP_ERRORS),
    ].flatMap((table) =>
      table.map(([code, { exitCode, meaning }]) => [code, String(exitCode), meaning]),
    );
    expect(tableUnder('What errors say')).toEqual(errors);
  });

  it('lists every decision with its title, and no other', () => {
    const decisions = readdirSync(join(ROOT, 'docs/adr')).map((name) => {
      const [title = ''] = readFileSync(join(ROOT, 'docs/adr', name), 'utf8').split('\n');
      return `- [${title.replace(/^# /, '')}](docs/adr/${name})`;
    });
    const section = README.split('## Decisions\n')[1]?.split('\n## ')[0] ?? '';
    expect(section.split('\n').filter((line) => line.startsWith('- '))).toEqual(decisions);
  });
});

describe('a document', () => {
  const texts = [
    'README.md',
    'SECURITY.md',
    ...listMarkdown('docs'),
    ...listMarkdown('fixtures'),
  ].map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);

  it.each(texts)('%s leads to files that are there', (path, text) => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link = '']) => link);
    // Of ours and of nobody's example: these folders are in no repository but this one.
    const named = [...text.matchAll(/`((?:packages|apps|bench|test\/[a-z]+)\/[\w./-]+)`/g)];
    const places = [
      ...links.map((link) => join(path, '..', link)),
      ...named.map(([, name = '']) => name),
    ];
    expect(places.filter((place) => !existsSync(join(ROOT, place)))).toEqual([]);
  });
});

describe('npx kervyxa', () => {
  it('is there in a fresh clone: npx looks for the name in the manifest before it asks a registry', () => {
    const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'kervyxa',
      bin: { kervyxa: 'apps/cli/bin/kervyxa.mjs' },
    });
  });
});

describe('a decision', () => {
  it('has a number of its own, its own title, and the four parts', () => {
    const names = readdirSync(join(ROOT, 'docs/adr'));
    expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length);
    for (const name of names) {
      const text = readFileSync(join(ROOT, 'docs/adr', name), 'utf8');
      expect(name).toMatch(/^\d{4}-[a-z0-9-]+\.md$/);
      expect(text.slice(0, 7)).toBe(`# ${name.slice(0, 4)} `);
      const parts = ['\nStatus: ', '\n## Context\n', '\n## Decision\n', '\n## Consequences\n'];
      expect(
        parts.filter((part) => !text.includes(part)).map((part) => `${name} lacks${part}`),
      ).toEqual([]);
    }
  });
});

describe('the error codes', () => {
  it('begin with the name of their package', () => {
    const owners: [string, object][] = [
      ['API_', API_ERRORS],
      ['CHECKER_', CHECKER_ERRORS],
      ['CLI_', CLI_ERRORS],
      ['CONTRACT_', CONTRACT_ERRORS],
      ['DB_', DB_ERRORS],
      ['DEPS_', DEPS_ERRORS],
      ['INTAKE_', INTAKE_ERRORS],
      ['SANDBOX_', SANDBOX_ERRORS],
      ['SETTLEMENT_', SETTLEMENT_ERRORS],
      ['SETUP_', SETUP_ERRORS],
      ['VERIFIER_', VERIFIER_ERRORS],
    ];
    for (const [prefix, table] of owners) {
      expect(Object.keys(table).filter((code) => !code.startsWith(prefix))).toEqual([]);
    }
  });
});
