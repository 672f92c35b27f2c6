import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { toPrintable } from '@kervyxa/core';
import type { Endpoint } from './address.ts';

/** What answers at a URL. Every kind but `smart` comes with a sentence for its submitter. */
export type ProbeResult =
  { readonly kind: 'smart' } | { readonly kind: 'unusable'; readonly message: string };

const SMART_TYPE = 'application/x-git-upload-pack-advertisement';

/**
 * Asks the server what git would ask first, and looks only at the head of the answer. Redirects, missing permissions
 * and servers without the smart protocol are told apart by status and type here, so that nothing has to be read out
 * of git's messages, which a server can write in. Rejects only when aborted.
 */
export async function probe(
  { url, addresses }: Endpoint,
  stallSecondsMax: number,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const target = new URL(`${url.href.replace(/\/$/, '')}/info/refs?service=git-upload-pack`);
  const lookup: LookupFunction = (_host, options, found) => {
    const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const first = all[0];
    if (options.all === true || first === undefined) found(null, all);
    else found(null, first.address, first.family);
  };
  const headers = { 'user-agent': 'git/kervyxa', 'git-protocol': 'version=2' };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(stallSecondsMax * 1_000)]);
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === 'https' ? requestHttps : requestHttp;
      send(target, { lookup, headers, signal: limited, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
    answer.destroy();
    return judge(answer.statusCode ?? 0, answer.headers);
  } catch (error) {
    signal.throwIfAborted();
    return unusable(`the server did not answer (${codeOf(error)})`);
  }
}

function judge(status: number, headers: IncomingMessage['headers']): ProbeResult {
  if (status >= 300 && status < 400) {
    const location = toPrintable(headers.location ?? 'another place', 200);
    return unusable(
      `the URL redirects to ${location}; redirects are not followed: give the final URL`,
    );
  }
  if (status === 401 || status === 403) {
    return unusable(
      `the server wants permission (status ${status}); the repository must be public`,
    );
  }
  if (status !== 200) return unusable(`the server answered with status ${status}`);
  if (headers['content-type'] !== SMART_TYPE) {
    // Git would fetch file by file then, past its own object checks (THREATS G06).
    return unusable('the server does not speak git\u2019s smart HTTP protocol');
  }
  return { kind: 'smart' };
}

function unusable(message: string): ProbeResult {
  return { kind: 'unusable', message };
}

/** The system's code of a network error, like ECONNREFUSED or CERT_HAS_EXPIRED. */
function codeOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timed out';
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code !== 'ABORT_ERR' ? toPrintable(code, 60) : 'timed out';
}
