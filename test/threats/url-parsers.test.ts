import fc from 'fast-check';
import { repositoryUrlProblem } from '@kervyxa/contract';
import { expect, it } from 'vitest';
import { parseRepositoryUrl } from '../../packages/intake/src/git/url-policy.ts';

const WORDS =
  'https http ext : :: / // /// \\ @ # ? % %00 %2f %2e . .. [ ] [::1] 127.1 0x7f.1 2130706433 ① 。 example.org ' +
  'git.example /team/r.git localhost :443 :0 :22 - + * _ xn-- ß İ';
const pieces = fc.constantFrom(
  ...WORDS.split(' '),
  ...' \t\n\u0000\u00a0\u00ad\u200b\u202e\ufeff\ud800',
);
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.array(pieces, { maxLength: 6 }).map((parts) => `https://${parts.join('')}`),
  fc.array(pieces, { maxLength: 6 }).map((parts) => `https://example.org/${parts.join('')}`),
);

it('G01 gives one text to every parser of addresses: what the API takes, intake reads as the same host', () => {
  fc.assert(
    fc.property(texts, (text) => {
      if (repositoryUrlProblem(text, []) !== null) return;
      const parsed = parseRepositoryUrl(text, []);
      expect(parsed).toMatchObject({ kind: 'ok' });
      if (parsed.kind !== 'ok') return;
      const { href, host, port } = parsed.url;
      // What is handed on reads the same again, and by a reader that knows nothing of the standard.
      expect(parseRepositoryUrl(href, [])).toEqual(parsed);
      expect(/^https:\/\/([a-z0-9.+*_~!$&'()=;,-]+)\//.exec(href)?.[1]).toBe(host);
      expect(port).toBe(443);
    }),
    { numRuns: 20_000 },
  );
});
