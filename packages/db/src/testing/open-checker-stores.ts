import type { CheckerPackage, ContractTerms, StageEnd } from '@kervyxa/checker';
import { sha256Hex } from '@kervyxa/core';
import { expect } from 'vitest';
import type { CheckTask } from '../checker-ports.ts';
import type { ImplementationRow, Publication } from '../checker-rows.ts';
import { callOf, openStores, type Stores } from './open-stores.ts';

export const WEEK_MS = 7 * 86_400_000;
const VERIFIED: StageEnd = { kind: 'verified', reason: null, score: null, evidence: null };

/** Stores with an owner of checkers and a solver, and what both do. */
export async function openCheckerStores() {
  const stores = await openStores();
  const ownerId = await stores.bench.addPrincipal();
  const solverId = await stores.bench.addPrincipal();
  let counter = 0;

  /** A package whose bytes are its own name, and whose program is too. */
  async function packageOf(statement: string, program: string): Promise<CheckerPackage> {
    const digest = await blobOf(`${statement} ${program}`);
    const row = { sha256: digest, sizeBytes: 1n, entryCount: 1 };
    await stores.commands.savePackage(callOf(ownerId), row, () => ({ status: 200, body: '' }));
    const script = {
      kind: 'script' as const,
      digest: `sha256:${sha256Hex(program)}`,
      filename: 'checker.py',
      content: Buffer.from(program),
      limits: { vcpu: 1, memoryMb: 64, diskMb: 1, timeoutSeconds: 1 },
    };
    return {
      digest,
      contract: terms(statement),
      contractId: null,
      verifierId: null,
      versionNumber: null,
      reviewProtocol: null,
      programs: new Map([['form', script]]),
      reference: new Map(),
      fixtureFiles: new Map(),
    };
  }

  async function blobOf(text: string): Promise<string> {
    const bytes = async function* () {
      yield Buffer.from(text);
    };
    return (await stores.blobs.saveBlob(bytes(), { bytesMax: 1_000 })).sha256;
  }

  async function publish(
    checker: CheckerPackage,
    verifierId: string | null = null,
  ): Promise<Publication> {
    counter += 1;
    const input = { verifierId, name: `family ${counter}`, checker };
    const published = Promise.withResolvers<Publication>();
    await stores.checkers.commands.publish(callOf(ownerId), input, (publication) => {
      published.resolve(publication);
      return { status: 201, body: '' };
    });
    return published.promise;
  }

  /** As a worker tells that it reproduced every fixture, or not. */
  function report(id: string, isConformant: boolean): Promise<boolean> {
    const outcome = {
      stageKey: 'form',
      programDigest: `sha256:${'0'.repeat(64)}`,
      image: 'image',
      isConformant,
      problem: isConformant ? null : 'missed one',
      fixtures: [],
    };
    return stores.checkers.work.endConformance(id, { kind: 'reported', report: outcome });
  }

  async function currentOf(contractId: string): Promise<string | undefined> {
    const page = { limit: 100, after: null };
    const { items } = await stores.checkers.reads.listImplementations(contractId, page);
    const current = items.filter(({ isCurrent }) => isCurrent);
    expect(current.length).toBeLessThan(2);
    return current[0]?.id;
  }

  /** An open problem of the contract, with both slots bound. */
  async function openProblem(contractId: string, invited: string[] | null = null): Promise<string> {
    const { commands } = stores.checkers;
    const id = Promise.withResolvers<string>();
    const later = new Date(Date.now() + WEEK_MS).toISOString();
    const input = {
      contractId,
      title: 'Find it',
      statement: 'Find it.',
      sealing: {
        sealed_until: later,
        score_release: null,
        submission_limit: 10,
        entries: 'shared' as const,
        cutoff: null,
      },
      invited,
    };
    await commands.createProblem(callOf(ownerId), input, (row) => {
      id.resolve(row.id);
      return { status: 201, body: '' };
    });
    const problemId = await id.promise;
    for (const key of ['question', 'solution']) await bind(problemId, key, await blobOf(key), key);
    await decide(problemId, { kind: 'open', actorId: ownerId });
    return problemId;
  }

  function bind(problemId: string, key: string, sha256: string, text: string): Promise<unknown> {
    const binding = {
      filename: `${key}.txt`,
      mediaType: null,
      sizeBytes: text.length,
      contentHash: `sha256:${sha256}`,
      url: null,
    };
    return decide(problemId, { kind: 'bind', actorId: ownerId, slot: key, binding });
  }

  function decide(
    problemId: string,
    command: Parameters<Stores['checkers']['commands']['decideProblem']>[1]['command'],
  ): Promise<unknown> {
    const input = { problemId, command };
    return stores.checkers.commands.decideProblem(callOf(ownerId), input, () => ({
      status: 200,
      body: '',
    }));
  }

  /** The id of the check of a new entry. */
  async function submit(problemId: string, blob: string): Promise<string> {
    const id = Promise.withResolvers<string>();
    const artifacts = [{ role: 'answer', filename: 'answer.txt', mediaType: null, blob }];
    const input = { problemId, summaryText: 'Here it is.', artifacts };
    await stores.checkers.commands.submitEntry(callOf(solverId), input, (entry, check) => {
      expect(entry.checkId).toBe(check.id);
      id.resolve(check.id);
      return { status: 201, body: '' };
    });
    return id.promise;
  }

  async function runTask(checkId: string): Promise<Extract<CheckTask, { kind: 'run' }>> {
    const task = await stores.checkers.work.checkTask(checkId);
    if (task.kind !== 'run') throw new Error(`expected a stage to run, got ${task.kind}`);
    return task;
  }

  async function stateOf(checkId: string): Promise<string | undefined> {
    return (await stores.checkers.reads.check(checkId))?.facts.state;
  }

  async function waitingJobs(queue: string): Promise<unknown[]> {
    const { rows } = await stores.test.pool.query<{ id: string }>(
      `SELECT singleton_key AS id FROM queue.job WHERE name = $1 AND state = 'created'`,
      [queue],
    );
    return rows.map(({ id }) => id);
  }

  return {
    stores,
    ownerId,
    solverId,
    packageOf,
    blobOf,
    publish,
    report,
    currentOf,
    openProblem,
    bind,
    decide,
    submit,
    runTask,
    stateOf,
    waitingJobs,
  };
}

export function implementationOf({ implementations: [first] }: Publication): ImplementationRow {
  if (first === undefined) throw new Error('expected an implementation, got none');
  return first;
}

export function sealOf({ attempt, implementation }: Extract<CheckTask, { kind: 'run' }>) {
  const program = {
    implementationId: implementation.id,
    digest: implementation.programDigest,
    image: null,
  };
  return { kind: 'seal', attempt, end: VERIFIED, program } as const;
}

function slot(key: string, sealed: boolean) {
  return { key, required: true, sealed, media_types: [], max_bytes: 100, description: key };
}

function terms(statement: string): ContractTerms {
  return {
    title: 'Answers',
    statement_md: statement,
    reference_inputs: [slot('question', false), slot('solution', true)],
    stages: [
      {
        key: 'form',
        kind: 'sandbox',
        title: 'Form',
        description_md: 'Reads the question only.',
        evidence_schema: null,
        review_protocol_id: null,
        rule_owner: null,
        acceptance: null,
        external_system: null,
        reference_input_slots: ['question'],
      },
    ],
    submission_requirements: {
      accepts_text_only: true,
      answer_format_md: null,
      required_artifacts: [],
    },
    result_kind: 'pass_fail',
    score: null,
    conformance_fixtures: [],
  };
}
