import { toPrintable } from '@kervyxa/core';
import { cliError } from './errors.ts';

/**
 * The origins of KERVYXA_GIT_ALLOW, separated by commas, which git may use beside public https addresses.
 *
 * Throws CLI_GIT_ALLOW_INVALID for anything but `http://host:port` or `https://host:port`: a path or a user name there
 * would look as if it limited something.
 */
export function parseAllowedOrigins(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
    .map(parseOrigin);
}

function parseOrigin(text: string): string {
  const url = URL.parse(text);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (isOrigin && !/[\\@?#]/.test(text)) return url.origin;
  throw cliError('CLI_GIT_ALLOW_INVALID', {
    message: `expected origins such as http://127.0.0.1:8080 in KERVYXA_GIT_ALLOW, got "${toPrintable(text.replace(/^.*@/s, '…@'), 200)}"`,
    fix: 'Separate origins by commas; give scheme, host and port only, without a path.',
  });
}
