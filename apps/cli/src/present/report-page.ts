import {
  isAsWanted,
  type ProvingColumn,
  type ProvingFinding,
  type ProvingReport,
} from '@kervyxa/verifier';
import { html, Html, lines } from './html.ts';
import { toReplaysPart } from './report-replays.ts';
import { REPORT_STYLE } from './report-style.ts';
import { count } from './text.ts';

const MARKS = {
  pass: '✔',
  fail: '✘',
  inconclusive: '?',
  error: '!',
  not_run: '·',
} as const;

/**
 * The report as one page: no script, nothing loaded, every text from outside escaped. It shows hidden criteria: it is the
 * requester's and the operator's. Pure.
 */
export function toReportPage(report: ProvingReport, title: string): string {
  const verdict = report.isProved
    ? html`<span class="verdict pass">proved</span>`
    : html`<span class="verdict fail">refused</span>`;
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="referrer" content="no-referrer" />
        <title>${report.isProved ? 'Proved' : 'Refused'}: ${title}</title>
        <style>
          ${new Html(REPORT_STYLE)}
        </style>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          <p>This contract is ${verdict}: ${sayWhy(report)}</p>
        </header>
        <main>
          ${toFindings(report.findings)} ${toMatrix(report)} ${toReplaysPart(report)}
          ${toNotes(report.notes)}
        </main>
        <footer>
          <p>Contract <code>${report.contractDigest}</code></p>
          ${report.imageDigest === null ? '' : html`<p>Image <code>${report.imageDigest}</code></p>`}
        </footer>
      </body>
    </html> `.text;
}

function sayWhy({ findings, columns, isProved }: ProvingReport): string {
  if (isProved) {
    const others = columns.filter(({ kind }) => kind !== 'known_good').length;
    return `the known-good commit passes, and ${count(others, 'other tree')} (the base, known-bad commits, cheats) do not.`;
  }
  const refusing = findings.filter(({ severity }) => severity === 'refuse').length;
  return `${count(refusing, 'finding')} below ${refusing === 1 ? 'keeps' : 'keep'} it from opening.`;
}

function toFindings(findings: readonly ProvingFinding[]): Html | string {
  if (findings.length === 0) return '';
  const cards = findings.map(
    ({ code, pointer, message, fix, evidence }) =>
      html`<article class="card finding">
        <h3>${code}</h3>
        <p class="soft"><code>${pointer === '' ? '(the whole document)' : pointer}</code></p>
        <p>${message}</p>
        <p><strong>Fix:</strong> ${fix}</p>
        ${
          evidence === undefined
            ? ''
            : html`<details>
                <summary>Evidence</summary>
                <pre>${lines(evidence)}</pre>
              </details>`
        }
      </article> `,
  );
  return html`<section>
    <h2>What is wrong, and how to mend it</h2>
    ${cards}
  </section>`;
}

function toMatrix({ criteria, columns }: ProvingReport): Html {
  const head = columns.map(
    ({ title }, at) => html`<th scope="col" title="${title}">${at + 1}</th>`,
  );
  const rows = criteria.map(({ id, title, visibility, metric }, at) => {
    const cells = columns.map((column) => toCell(column, at));
    const hidden = visibility === 'hidden' ? html` <span class="soft">(hidden)</span>` : '';
    const what = metric ?? title;
    return html`<tr>
      <th scope="row"><code>${id}</code>${hidden}<br /><span class="soft">${what}</span></th>
      ${cells}
    </tr> `;
  });
  return html`<section>
    <h2>Which criterion passes where</h2>
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th scope="col">criterion</th>
            ${head}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
    <p class="soft">
      ✔ passes, ✘ fails, ? can not be told, · not run: an earlier step had decided. A number is the
      metric that the criterion was judged by.
    </p>
    <ol class="columns">
      ${columns.map(toColumn)}
    </ol>
  </section>`;
}

function toCell({ criteria }: ProvingColumn, at: number): Html {
  const result = criteria[at];
  const status = result?.status ?? 'not_run';
  const word = status.replace('_', ' ');
  const metric = result?.metric ?? null;
  const facts = [result?.reason ?? null, metric].filter((fact) => fact !== null);
  const why = facts.length === 0 ? word : `${word}: ${facts.join(', ')}`;
  const number = metric === null ? '' : html` <span class="soft">${metric}</span>`;
  return html`<td class="${status}" title="${why}" aria-label="${why}">
    ${MARKS[status]}${number}
  </td>`;
}

function toColumn(column: ProvingColumn, at: number): Html {
  const { title, verdict, expected, reasons, diff } = column;
  const isWanted = isAsWanted(column);
  const wanted = expected ?? 'a criterion that fails';
  const [why] = reasons;
  return html`<li>
    <span class="number">${at + 1}</span>
    <div>
      <p>
        <span class="verdict ${isWanted ? 'pass' : 'fail'}">${verdict}</span>
        ${title}${isWanted ? '' : html` <span class="fail">(wanted ${wanted})</span>`}
      </p>
      ${why === undefined ? '' : html`<p class="soft"><code>${why.code}</code> ${why.message}</p>`}
      ${
        diff === null || diff === ''
          ? ''
          : html`<details>
              <summary>Diff against the base</summary>
              <pre>${lines(diff)}</pre>
            </details>`
      }
    </div>
  </li> `;
}

function toNotes(notes: readonly string[]): Html | string {
  if (notes.length === 0) return '';
  return html`<section>
    <h2>What was not tried</h2>
    ${notes.map((note) => html`<p>${note}</p>`)}
  </section>`;
}
