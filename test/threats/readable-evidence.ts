import { createHash } from 'node:crypto';

/** Texts that have ids, times and what this machine measured in them. */
const MOVING = ['bundle.json', 'result.json', 'evaluation.json', 'run.json'] as const;

/**
 * Evidence in an answer as it reads, for worlds that are to be compared: statements decoded, signatures left out, and so
 * are digests and sizes of texts that move, once they are seen to be those of the texts beside them. All else stays:
 * the digest of the contract, and those of the archives.
 */
export function toReadable(body: string): string {
  const readable = body.startsWith('bundle.json\0') ? toReadableBundle(body) : toReadableText(body);
  return withoutKeys(readable);
}

/** Alone, such digests can be held against nothing; the bundle has the same texts. */
function toReadableText(body: string): string {
  if (body.startsWith('{"payload":')) {
    const names = MOVING.map((name) => name.replace('.', '\\.')).join('|');
    const moving = new RegExp(
      `\\{"digest":\\{"sha256":"[0-9a-f]{64}"\\},"name":"(${names})"\\}`,
      'g',
    );
    return decodeEnvelope(body).replaceAll(moving, '"$1"');
  }
  return body.includes('operator-task-verifier-evaluation')
    ? body.replaceAll(/("result\/(?:ref|digest)":"[\w:]*sha256:)[0-9a-f]{64}/g, '$1')
    : body;
}

function toReadableBundle(body: string): string {
  const files = readFiles(body);
  const moving = MOVING.map((path) => {
    const text = files.get(path) ?? '';
    const sha256 = createHash('sha256').update(text, 'latin1').digest('hex');
    return { path, sha256, size: `"sha256":"${sha256}","size":${text.length}` };
  });
  const withNames = (text: string): string =>
    moving.reduce(
      (said, { path, sha256, size }) =>
        said.replaceAll(size, `THAT OF ${path}`).replaceAll(sha256, `DIGEST OF ${path}`),
      text,
    );
  return [...files]
    .map(([path, text]) => {
      const readable = path === 'attestation.json' ? decodeEnvelope(text) : text;
      return `${path}\n${withNames(readable)}`;
    })
    .join('\n');
}

const BLOCK = 512;

/** Of a tar of regular files with short names. */
function readFiles(body: string): Map<string, string> {
  const files = new Map<string, string>();
  for (let at = 0; body[at] !== '\0' && at < body.length;) {
    const header = body.slice(at, at + BLOCK);
    const [path = ''] = header.split('\0');
    const size = parseInt(header.slice(124, 135), 8);
    files.set(path, body.slice(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function decodeEnvelope(text: string): string {
  const { payload } = JSON.parse(text) as { readonly payload: string };
  return Buffer.from(payload, 'base64').toString();
}

/** Each world has a key and a log of its own. */
function withoutKeys(text: string): string {
  return text
    .replaceAll(/"(x|kid|keyid)":"[\w-]+"/g, '"$1":""')
    .replaceAll(/PUBLIC KEY-----\n[\w+/=]+\n/g, 'PUBLIC KEY-----\n')
    .replaceAll(/"audit":\{"head":"[0-9a-f]{64}","seq":\d+\}/g, '"audit":{}');
}
