import { describe, expect, it } from 'vitest';
import { columnOf, reportOf, replaysOf } from '../testing/sample-report.ts';
import { toReportPage } from './report-page.ts';

/** Text as a browser shows it, with one blank for any white space. */
function shown(page: string): string {
  const body = page.slice(page.indexOf('<body>'));
  return body
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ');
}

// What each attack would run or load, were it markup.
const ATTACKS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></details><iframe src="https://evil.example">',
  '</style><style>@import url(https://evil.example)</style>',
  '<svg/onload=alert(1)>&lt;script&gt;',
] as const;

describe('the page of a report', () => {
  it('says what the contract is, which criterion passes where, and shows every column', () => {
    const text = shown(toReportPage(reportOf(), 'Do less'));
    expect(text).toContain('This contract is proved : the known-good commit passes');
    expect(text).toMatch(/tests The tests pass ✔ ✔ ·/);
    expect(text).toMatch(/work \(hidden\) blocks < 100 blocks \(node_block_count\) ✘ 120 ✔ 50 ·/);
    expect(text).toContain('3 FAIL Nothing changed');
  });

  it('shows findings with evidence and fix, and columns that did not end as wanted', () => {
    const report = reportOf({
      isProved: false,
      columns: [columnOf('bad-1', 'Known-bad', ['pass', 'fail'], { verdict: 'PASS' })],
      findings: [
        {
          code: 'CHEAT_PASSES',
          severity: 'refuse',
          pointer: '/criteria',
          message: 'expected FAIL, got PASS',
          fix: 'Add a criterion.',
          evidence: '+cheat\n-honest',
          acknowledgement: null,
        },
      ],
    });
    const page = toReportPage(report, 'Do less');
    const text = shown(page);
    expect(text).toContain('This contract is refused : 1 finding below keeps it from opening.');
    expect(text).toMatch(/CHEAT_PASSES \/criteria expected FAIL, got PASS Fix: Add a criterion\./);
    expect(page).toContain('<pre>+cheat\n-honest</pre>');
    expect(text).toContain('(wanted FAIL)');
  });

  it('tells why seconds can not settle what a count can', () => {
    const text = shown(toReportPage(reportOf(), 'Do less'));
    expect(text).toContain('the wall-clock of one criterion moved by 50 %');
    expect(text).toContain('The metric was the same to the last unit in every run');
    const moving = reportOf({ replays: [replaysOf('work', [50, 40, 50], [100, 100, 100])] });
    expect(shown(toReportPage(moving, 'Do less'))).toContain('The metric moved by 20 %');
    expect(text).toContain('wall-clock: 900 … 1400 ms, spread 50 %');
    expect(text).toContain('metric: 50, spread 0 (0 %), tolerance 0');
    const timeless = reportOf({ replays: [] });
    expect(shown(toReportPage(timeless, 'Do less'))).not.toContain('wall-clock');
  });

  it('draws every run of wall-clock and metric as a bar on a scale that begins at nothing', () => {
    const page = toReportPage(reportOf(), 'Do less');
    const widths = (name: string) =>
      [...page.matchAll(new RegExp(`<rect[^>]*class="${name}"[^>]*>`, 'g'))].map(([rect]) =>
        Number(/ width="(\d+)"/.exec(rect)?.[1]),
      );
    expect(widths('count')).toEqual([240, 240, 240]);
    expect(widths('time')).toEqual([160, 240, 192, 171, 240, 154]);
  });

  it.each(ATTACKS)('holds %s wherever a text comes from outside: shown, never obeyed', (attack) => {
    const result = reportOf().columns[0]?.criteria ?? [];
    const hostile = reportOf({
      contractDigest: attack,
      imageDigest: attack,
      criteria: reportOf().criteria.map((one) => ({
        ...one,
        id: attack,
        title: attack,
        metric: attack,
      })),
      columns: [
        columnOf('bad-1', attack, ['fail', 'fail'], {
          diff: `${attack}\n${attack}`,
          reasons: [{ code: 'UNSAFE_PATH', subject: attack, message: attack }],
          criteria: result.map((one) => ({ ...one, message: attack })),
        }),
      ],
      replays: [replaysOf(attack, [1, 2], [3, 4])],
      findings: [
        {
          code: attack,
          severity: 'refuse',
          pointer: attack,
          message: attack,
          fix: attack,
          evidence: attack,
          acknowledgement: null,
        },
      ],
      notes: [attack],
    });
    const page = toReportPage(hostile, attack);
    const plain = toReportPage(reportOf({ ...hostile, ...plainly(hostile) }), 'x');
    expect(tagsOf(page)).toEqual(tagsOf(plain));
    expect(page).not.toContain(attack);
  });

  it('M22 holds control and bidirectional characters: shown, not obeyed', () => {
    const page = toReportPage(reportOf({ notes: ['a\u202eb\u0000c\u001b[2J'] }), '\u2066evil');
    expect(page).not.toMatch(/[\u0000\u001b\u202e\u2066]/);
    expect(page).toContain('a\\u{202e}b\\u{0}c\\u{1b}[2J');
  });

  it('loads nothing and runs nothing', () => {
    const page = toReportPage(reportOf(), 'Do less');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"`,
    );
    expect(page).not.toMatch(
      /<(?:script|link|img|iframe|object|embed|form)\b| (?:src|href|on\w+)=|url\(|@import/i,
    );
  });
});

/** Every tag with its attributes' names, in order: what a browser would make of the page. */
function tagsOf(page: string): string[] {
  return [...page.matchAll(/<\/?[a-z!][^>]*>/gi)].map(([tag]) => tag.replaceAll(/"[^"]*"/g, '""'));
}

/** The same report with x for every attack. */
function plainly(report: ReturnType<typeof reportOf>): typeof report {
  return JSON.parse(
    JSON.stringify(report, (_key, value: unknown) =>
      typeof value === 'string' && ATTACKS.some((attack) => value.includes(attack))
        ? value
            .split('\n')
            .map(() => 'x')
            .join('\n')
        : value,
    ),
  );
}
