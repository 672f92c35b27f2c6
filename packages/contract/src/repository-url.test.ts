import { describe, expect, it } from 'vitest';

import { repositoryUrlProblem } from './repository-url.ts';

describe('repositoryUrlProblem', () => {
  it.each([
    ['https://github.com\\@169.254.169.254/r.git'],
    ['https://user:secret@example.org/r.git'],
    ['https://@example.org/r.git'],
    ['https://example.org/r.git?token=x'],
    ['https://example.org/r.git?'],
    ['https://example.org/r.git#main'],
    ['https://example.org/r.git#'],
    ['https://example.org/r .git'],
    [' https://example.org/r.git'],
    ['https://example.org/r.git\n'],
    ['https://example.org/\u202er.git'],
    ['https://example.org/\u200br.git'],
    ['https://example.org/\ud800r.git'],
    ['https://example.org:8443/r.git'],
    ['https://'],
    ['https:///r.git'],
    ['https:example.org/r.git'],
    ['http://example.org/r.git'],
    ['HTTPS://example.org/r.git'],
    ['ssh://git@example.org/r.git'],
    ['git@example.org:r.git'],
    ['git://example.org/r.git'],
    ['ext::sh -c id'],
    ['http::https://example.org/r.git'],
    ['file:///etc'],
    ['/srv/r.git'],
    ['--upload-pack=x'],
    ['https://127.0.0.1/r.git'],
    ['https://2130706433/r.git'],
    ['https://0x7f.1/r.git'],
    ['https://①②⑦.0.0.1/r.git'],
    ['https://[::1]/r.git'],
    ['https://[::ffff:127.0.0.1]/r.git'],
    ['https://10.0.0.8/r.git'],
    ['https://localhost/r.git'],
    ['https://localhost./r.git'],
    ['https://git.internal/r.git'],
    ['https://example.org./r.git'],
    ['https://intranet/r.git'],
    ['https://example.org'],
    ['https://example.org/'],
    ['https://example.org//'],
    ['https://example.org/r%0a.git'],
    ['https://example.org/a%2Fr.git'],
    [`https://example.org/${'a'.repeat(2_000)}`],
  ])('finds one in %j', (url) => {
    expect(repositoryUrlProblem(url, [])).not.toBeNull();
  });

  it.each([
    'https://github.com/kervyxa-fixtures/parse-numbers',
    'https://git.example.org/team/r.git',
    'https://git.example.org:443/team/r.git',
    'https://xn--bcher-kva.example/r.git',
  ])('finds none in %j', (url) => {
    expect(repositoryUrlProblem(url, [])).toBeNull();
  });

  it('lets an allowed origin be local, on http and on any port, and nothing else of it', () => {
    const allowed = ['http://127.0.0.1:8080'];
    expect(repositoryUrlProblem('http://127.0.0.1:8080/r.git', allowed)).toBeNull();
    expect(repositoryUrlProblem('http://127.0.0.1:8081/r.git', allowed)).not.toBeNull();
    expect(repositoryUrlProblem('http://u@127.0.0.1:8080/r.git', allowed)).not.toBeNull();
    expect(repositoryUrlProblem('http://127.0.0.1:8080/r.git?x', allowed)).not.toBeNull();
  });
});
