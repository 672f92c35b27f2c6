import { toPrintable } from '@kervyxa/core';
import ssri from 'ssri';
import { z } from 'zod';
import { depsError } from './errors.ts';
import { fetchBytes } from './fetch-bytes.ts';
import type { NpmOptions } from './npm-options.ts';
import type { Requirement } from './requirements.ts';
import { isUsableWheel } from './wheel-name.ts';

export interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly fileName: string;
  readonly url: string;
  /** `sha256-` and the digest in base64. */
  readonly integrity: string;
  readonly headers: Readonly<Record<string, string>>;
}

const PAGE_BYTES_MAX = 64 * 1_048_576;
const ACCEPT =
  'application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.2, text/html; q=0.1';

// The index's own document (PEP 691), which has more in it than is looked at here.
const PageSchema = z.looseObject({
  files: z.array(
    z.looseObject({
      filename: z.string(),
      url: z.string(),
      hashes: z.record(z.string(), z.string()),
    }),
  ),
});

interface IndexFile {
  readonly fileName: string;
  readonly url: string;
  readonly sha256: string | null;
}

/**
 * The wheels of a requirement that the runtime image can install, of those that its hashes name. Each hash must be of a
 * file that the index has: which files there are must not depend on the day or on the index.
 *
 * Throws DEPS_INDEX_UNKNOWN, DEPS_NOT_FOUND, DEPS_REGISTRY_UNAVAILABLE and what `fetchBytes` throws.
 */
export async function findWheels(
  requirement: Requirement,
  index: PythonIndex,
  npm: NpmOptions,
  signal: AbortSignal,
): Promise<Wheel[]> {
  const { name, version, sha256s, isConditional } = requirement;
  const url = `${index.url}${name}/`;
  const what = `the files of ${name}`;
  const { headers } = index;
  const page = await fetchBytes(
    {
      url,
      what,
      integrity: null,
      headers: { ...headers, accept: ACCEPT },
      bytesMax: PAGE_BYTES_MAX,
    },
    npm,
    signal,
  );
  const bySha256 = new Map(parsePage(page, url).map((file) => [file.sha256, file]));
  const files = [...new Set(sha256s)].map((sha256) => {
    const file = bySha256.get(sha256);
    if (file !== undefined) return { ...file, sha256 };
    throw notFound(`expected a file of ${name}==${version} with SHA-256 ${sha256} at the index`);
  });
  const usable = files.filter(({ fileName }) => isUsableWheel(fileName));
  if (usable.length === 0 && !isConditional) {
    throw notFound(`expected a wheel of ${name}==${version} for CPython 3.11 on Linux`);
  }
  return usable.map(({ fileName, url: at, sha256 }) => ({
    name,
    version,
    fileName,
    url: at,
    integrity: ssri.fromHex(sha256, 'sha256').toString(),
    headers: new URL(at).origin === new URL(index.url).origin ? headers : {},
  }));
}

export interface PythonIndex {
  /** With a slash at its end and without credentials. */
  readonly url: string;
  /** The credentials, for its own origin. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The index that pip would ask, by PIP_INDEX_URL. Throws DEPS_INDEX_UNKNOWN. */
export function toPythonIndex(env: Readonly<Record<string, string | undefined>>): PythonIndex {
  const text = env['PIP_INDEX_URL'] ?? '';
  if (!URL.canParse(text) || !/^https?:/i.test(text)) {
    throw depsError('DEPS_INDEX_UNKNOWN', {
      message: `expected PIP_INDEX_URL to be the address of a Python index, got ${text === '' ? 'nothing' : 'something else'}`,
      fix: 'export PIP_INDEX_URL with the address that pip uses: "pip install -v" and a name shows it',
    });
  }
  const url = new URL(text);
  const { username, password } = url;
  url.username = url.password = '';
  const secret = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    url: url.href.replace(/\/*$/, '/'),
    headers:
      secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` },
  };
}

function parsePage(bytes: Buffer, url: string): IndexFile[] {
  const text = bytes.toString();
  const files = text.trimStart().startsWith('{') ? parseJson(text, url) : parseHtml(text);
  // Relative to the page, and nothing but the web.
  return files
    .map((file) => ({ ...file, url: URL.parse(file.url, url)?.href ?? '' }))
    .filter((file) => /^https?:/.test(file.url));
}

function parseJson(text: string, url: string): IndexFile[] {
  try {
    return PageSchema.parse(JSON.parse(text)).files.map(({ filename, url: at, hashes }) => ({
      fileName: filename,
      url: at,
      sha256: hashes['sha256'] ?? null,
    }));
  } catch (cause) {
    throw depsError('DEPS_REGISTRY_UNAVAILABLE', {
      message: `expected a list of files (PEP 691) at ${toPrintable(url, 300)}, got ${toPrintable(text, 100)}`,
      fix: 'look at PIP_INDEX_URL: it should end with /simple on most servers',
      cause,
    });
  }
}

/** The older form (PEP 503): a link for each file, its hash in the fragment. */
function parseHtml(text: string): IndexFile[] {
  const links = text.matchAll(/<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>([^<]*)</gi);
  return [...links].map(([, double, single, label = '']) => {
    const href = (double ?? single ?? '').replaceAll('&amp;', '&');
    const [url = '', fragment = ''] = href.split('#', 2);
    const sha256 = /(?:^|&)sha256=([0-9a-f]{64})(?:&|$)/.exec(fragment)?.[1] ?? null;
    return { fileName: label.trim(), url, sha256 };
  });
}

function notFound(expected: string): Error {
  return depsError('DEPS_NOT_FOUND', {
    message: `${expected}, got none`,
    fix: 'look at PIP_INDEX_URL; where the index is right, pin a version that has a wheel, and let pip-compile --generate-hashes write its hashes',
  });
}
