import type { CriterionReplays, ProvingReport, Replay } from '@kervyxa/verifier';
import { html, type Html } from './html.ts';
import { sayEnds, sayPercent, sayRange } from './proving.ts';
import { count } from './text.ts';

const BAR_HEIGHT = 8;
const BAR_GAP = 4;
const BAR_WIDTH = 240;

/** Per criterion every run of the known-good commit, and why seconds can't settle what a count can. */
export function toReplaysPart({ replays, criteria }: ProvingReport): Html | string {
  const [first] = replays;
  if (first === undefined) return '';
  const parts = replays.map((one, at) => toCriterion(one, criteria[at]?.metric ?? null));
  return html`<section>
    <h2>The same commit, ${count(first.runs.length, 'time')} over</h2>
    <p>${saySettlement(replays)}</p>
    ${parts}
  </section>`;
}

/** The plain sentence: what moved, and what did not, while nothing changed. */
function saySettlement(replays: readonly CriterionReplays[]): string {
  const times = replays.flatMap(({ durationSpread }) => durationSpread ?? []);
  const slow = times.length === 0 ? null : Math.max(...times);
  const time =
    slow === null
      ? 'Nothing here took a time that can be compared'
      : `Nothing changed between these runs, and yet the wall-clock of one criterion moved by ${sayPercent(slow)}: a threshold in seconds between its quickest and its slowest run would be met or missed by luck, so seconds can not settle anything`;
  const metrics = replays.flatMap((one) => relativeSpread(one) ?? []);
  if (metrics.length === 0) return `${time}.`;
  const most = Math.max(...metrics);
  return most === 0
    ? `${time}. ${metrics.length === 1 ? 'The metric' : 'Each metric'} was the same to the last unit in every run: a threshold on it is met or missed by the work alone.`
    : `${time}. ${metrics.length === 1 ? 'The metric' : 'One metric'} moved by ${sayPercent(most)}; what its threshold leaves room for is the tolerance that the contract declares.`;
}

/** In parts of the largest value; null without a metric in every run. */
function relativeSpread({ runs, metricSpread }: CriterionReplays): number | null {
  if (metricSpread === null) return null;
  if (metricSpread === 0) return 0;
  return metricSpread / Math.max(...runs.map(({ metric }) => Math.abs(metric ?? 0)));
}

function toCriterion(replays: CriterionReplays, metric: string | null): Html {
  const { criterionId, runs, durationSpread, metricSpread, tolerance } = replays;
  const relative = relativeSpread(replays);
  const moved =
    relative === null
      ? ''
      : html`<div>
          <p class="soft">
            metric: ${sayRange(runs.map((run) => run.metric))}, spread ${metricSpread ?? 0}
            (${sayPercent(relative)}), tolerance ${tolerance ?? 0}
          </p>
          ${toBars(
            runs.map((run) => run.metric),
            { name: 'count', what: 'metric' },
          )}
        </div>`;
  const time =
    durationSpread === null
      ? 'not known'
      : `${sayRange(runs.map(({ durationMs }) => durationMs))} ms, spread ${sayPercent(durationSpread)}`;
  return html`<article class="card">
    <h3><code>${criterionId}</code></h3>
    <p class="soft">${metric ?? ''}</p>
    <p>${sayEnds(runs)}</p>
    <div class="pair">
      <div>
        <p class="soft">wall-clock: ${time}</p>
        ${toBars(
          runs.map((run) => run.durationMs),
          { name: 'time', what: 'wall-clock' },
        )}
      </div>
      ${moved}
    </div>
    <details>
      <summary>Every run</summary>
      <div class="wide">
        <table class="runs">
          <thead>
            <tr>
              <th scope="col">replay</th>
              <th scope="col">status</th>
              <th scope="col">exit</th>
              <th scope="col">metric</th>
              <th scope="col">wall-clock</th>
            </tr>
          </thead>
          <tbody>
            ${runs.map(toRow)}
          </tbody>
        </table>
      </div>
    </details>
  </article> `;
}

function toRow({ status, reason, exitCode, metric, durationMs }: Replay, at: number): Html {
  const time = durationMs === null ? '–' : `${durationMs} ms`;
  const what = reason === null ? status.replace('_', ' ') : `${status} ${reason}`;
  return html`<tr>
    <th scope="row">${at + 1}</th>
    <td class="${status}">${what}</td>
    <td>${exitCode ?? '–'}</td>
    <td>${metric ?? '–'}</td>
    <td>${time}</td>
  </tr> `;
}

/** A bar a run, all on one scale that begins at nothing, so that what moves is seen to move. */
function toBars(
  values: readonly (number | null)[],
  { name, what }: { readonly name: 'time' | 'count'; readonly what: string },
): Html {
  const most = Math.max(...values.map((value) => Math.abs(value ?? 0)));
  const height = values.length * (BAR_HEIGHT + BAR_GAP) - BAR_GAP;
  const bars = values.map((value, at) => {
    const width = most === 0 ? 0 : Math.round((Math.abs(value ?? 0) / most) * BAR_WIDTH);
    const y = at * (BAR_HEIGHT + BAR_GAP);
    return html`<rect
        class="track"
        x="0"
        y="${y}"
        width="${BAR_WIDTH}"
        height="${BAR_HEIGHT}"
        rx="2"
      /><rect class="${name}" x="0" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2" />`;
  });
  return html`<svg
    viewBox="0 0 ${BAR_WIDTH} ${height}"
    role="img"
    aria-label="${what} of each run: ${sayRange(values)}"
  >
    ${bars}
  </svg>`;
}
