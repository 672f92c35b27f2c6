import { lookup } from 'node:dns/promises';
import { toPrintable } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import { orAborted } from './abort.ts';
import type { IntakeLimits } from './limits.ts';
import {
  isAddress,
  isPublicAddress,
  parseRepositoryUrl,
  type RepositoryUrl,
} from './url-policy.ts';

/** All addresses of a host name; rejects or answers none where it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** A repository that may be connected to, at these addresses and no others (G04). */
export interface Endpoint {
  readonly url: RepositoryUrl;
  /** At least one, each checked. */
  readonly addresses: readonly string[];
}

/** The system's resolver. */
export const resolveWithSystem: ResolveHost = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Throws INTAKE_URL_REFUSED for a URL that the policy refuses whatever its host's address is. */
export function parseUrlOrThrow(text: string, allowedOrigins: readonly string[]): RepositoryUrl {
  const parsed = parseRepositoryUrl(text, allowedOrigins);
  if (parsed.kind === 'ok') return parsed.url;
  throw createIntakeError('INTAKE_URL_REFUSED', {
    message: parsed.message,
    fix: 'give the https URL under which anyone can clone the repository',
    details: { problem: parsed.problem },
  });
}

/**
 * Resolves the host and checks every address. Null where it does not resolve. Throws INTAKE_URL_REFUSED where any
 * address is not public, so that an answer can't be mixed from a public and a private one.
 */
export async function locate(
  url: RepositoryUrl,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Endpoint | null> {
  const addresses = isAddress(url.host)
    ? [url.host]
    : await resolveOrNone(url.host, resolver, signal);
  if (addresses.length === 0) return null;
  const inside = addresses.find((address) => !isPublicAddress(address));
  if (inside !== undefined && !url.isAllowedOrigin) {
    throw createIntakeError('INTAKE_URL_REFUSED', {
      message: `expected a host on the public internet, got ${toPrintable(url.host, 200)}, whose address ${toPrintable(inside, 60)} is not`,
      fix: 'publish the repository on a public host; an operator can open a test server by its origin',
      details: { problem: 'private_address' },
    });
  }
  return { url, addresses };
}

interface Resolver {
  readonly resolveHost: ResolveHost;
  readonly limits: Pick<IntakeLimits, 'stallSecondsMax'>;
}

/** The system's resolver can't be stopped, and a name server that never answers would hold the caller up. */
async function resolveOrNone(
  host: string,
  { resolveHost, limits }: Resolver,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const deadline = AbortSignal.timeout(limits.stallSecondsMax * 1_000);
  try {
    return await orAborted(resolveHost(host), AbortSignal.any([signal, deadline]));
  } catch {
    signal.throwIfAborted();
    // Whatever the resolver's reason, there is no address, and its outcome says so: unreachable.
    return [];
  }
}
