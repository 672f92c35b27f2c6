import { buffer } from 'node:stream/consumers';
import { withPackageDigest, type Contract } from '@kervyxa/contract';
import { Sha256HexSchema } from '@kervyxa/core';
import { loadVerifierPackage } from '@kervyxa/intake/package';
import { z } from 'zod';
import { withOrigin, type Fixture } from '../../fixtures/load.ts';
import type { Client } from './client.ts';

const HOUR_MS = 3_600_000;
/** Proving takes a minute: asked seldom, so that what kervyxa logs is not only that. */
const POLL_MS = 500;
const CURRENCY = 'USD';

/** Who takes part, with their roles and what they bring: minor units, bonds and reward to the last one. */
const CAST = {
  rita: { role: 'requester', deposit: 50_000n },
  carl: { role: 'solver', deposit: 0n },
  ana: { role: 'solver', deposit: 0n },
  bela: { role: 'solver', deposit: 0n },
  dina: { role: 'challenger', deposit: 5_000n },
  otto: { role: 'challenger', deposit: 5_000n },
  alma: { role: 'arbiter', deposit: 0n },
} as const;
export type Name = keyof typeof CAST;
export const NAMES = Object.keys(CAST) as Name[];
export type Cast = Readonly<Record<Name, { readonly id: string; readonly client: Client }>>;

export const IdSchema = z.looseObject({ id: z.string() });
export const AnythingSchema = z.looseObject({});
const NewPrincipalSchema = z.looseObject({ id: z.string(), apiKey: z.string() });
const ContractSchema = z.looseObject({
  state: z.string(),
  approval: z.looseObject({
    state: z.string(),
    problem: z.string().nullable(),
    findings: z.array(z.looseObject({ code: z.string(), severity: z.string() })),
  }),
});

/** Opens an account for everybody, with what they bring on it. */
export async function hire(operator: Client, clientOf: (apiKey: string) => Client): Promise<Cast> {
  const hired = await Promise.all(
    NAMES.map(async (name) => {
      const { role, deposit } = CAST[name];
      const body = { name, roles: [role] };
      const { id, apiKey } = await operator.post('/principals', body, NewPrincipalSchema);
      if (deposit > 0n) {
        const amount = { amountMinor: String(deposit), currency: CURRENCY };
        const reference = `from-${name}`;
        await operator.post('/deposits', { principalId: id, ...amount, reference }, AnythingSchema);
      }
      return [name, { id, client: clientOf(apiKey) }] as const;
    }),
  );
  return Object.fromEntries(hired) as Cast; // Every name was hired.
}

export interface PrepareOptions {
  readonly fixture: Fixture;
  readonly gitOrigin: string;
  readonly windowSeconds: number;
}

/** The fixture's contract, with its package uploaded, and windows of that length. */
export async function prepare(
  rita: Client,
  { fixture, gitOrigin, windowSeconds }: PrepareOptions,
): Promise<Contract> {
  const { archive, sha256 } = await loadVerifierPackage(fixture.packageFolder);
  await rita.post(
    '/packages',
    await buffer(archive.open(AbortSignal.timeout(HOUR_MS))),
    AnythingSchema,
  );
  const { submission, settlement } = fixture.contract;
  return {
    ...withPackageDigest(withOrigin(fixture.contract, gitOrigin), Sha256HexSchema.parse(sha256)),
    submission: { ...submission, closesAt: new Date(Date.now() + HOUR_MS).toISOString() },
    settlement: {
      ...settlement,
      challengeWindowSeconds: windowSeconds,
      responseWindowSeconds: windowSeconds,
    },
  };
}

export async function draft(rita: Client, contract: Contract): Promise<string> {
  return (await rita.post('/contracts', contract, IdSchema)).id;
}

/** A worker approves; asked until it has. */
export async function approve(
  rita: Client,
  contractId: string,
): Promise<z.infer<typeof ContractSchema>> {
  await rita.post(`/contracts/${contractId}/approve`, {}, AnythingSchema);
  for (;;) {
    const contract = await rita.get(`/contracts/${contractId}`, ContractSchema);
    if (!['QUEUED', 'RUNNING'].includes(contract.approval.state)) return contract;
    await new Promise((later) => setTimeout(later, POLL_MS));
  }
}
