import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Finding } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { VerificationEvent, VerificationResult } from '@kervyxa/verifier';
import type { Fixture } from '../fixtures/load.ts';
import type { HistoryCommit } from '../fixtures/schema.ts';

const COLUMNS_MAX = 100;
const SOLVER_COLUMNS = 5;
const ATTEMPT_COLUMNS = 46;
const REASON_INDENT = '   ✗ FAIL  '.length;
const REASON_COLUMN = REASON_INDENT + SOLVER_COLUMNS + 1 + ATTEMPT_COLUMNS + 2;
const REDRAW_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

type Style = Parameters<typeof styleText>[0];

/** One commit's line. `finish` at most once; `stop` in any case, also twice. */
export interface CommitLine {
  onEvent(event: VerificationEvent): void;
  finish(result: VerificationResult, difference: string | null): void;
  /** Takes the changing line away. */
  stop(): void;
}

/** The demo's output: plain lines, at most 100 columns or the terminal's, and on a terminal one line that changes. */
export interface Page {
  title(): void;
  refusal(fixture: Fixture, findings: readonly Finding[]): void;
  contract(chapter: number, fixture: Fixture): void;
  group(name: string): void;
  start(commit: HistoryCommit): CommitLine;
  note(line: string): void;
  end(surprises: readonly string[]): void;
}

export function createPage(stream: WriteStream): Page {
  const paint = (style: Style, text: string): string => styleText(style, text, { stream });
  const print = (text = ''): void => {
    stream.write(`${text}\n`);
  };
  const wrap = wrapperOf(stream);
  const chapter = (number: number, name: string, title: string): void =>
    print(`\n${paint('bold', `${number}  ${name}`)}  ${title}\n`);
  return {
    title: () => {
      print(
        `\n${paint('bold', 'kervyxa')}  decides, by machine, whether a commit earned its bounty`,
      );
      print(paint('dim', 'Real git over HTTP, real containers without a network, nobody asked.'));
    },
    refusal: (fixture, findings) => {
      const { title, objective } = fixture.contract;
      chapter(1, fixture.name, title);
      print(wrap(objective, 3));
      print();
      for (const { code, pointer, message } of findings) {
        print(`   ${paint('red', `✗ refused  ${code}`)}  at ${toPrintable(pointer)}`);
        print(wrap(toPrintable(message), 14));
      }
      for (const fix of new Set(findings.map((finding) => finding.fix))) {
        print(wrap(`fix: ${toPrintable(fix)}`, 14));
      }
    },
    contract: (number, fixture) => {
      const { title, objective, criteria } = fixture.contract;
      chapter(number, fixture.name, title);
      print(wrap(objective, 3));
      const names = criteria.map(({ id, visibility }) =>
        visibility === 'hidden' ? `${id} (hidden)` : id,
      );
      print(paint('dim', wrap(`criteria: ${names.join(', ')}`, 3)));
    },
    group: (name) => print(`\n   ${paint('underline', name)}`),
    start: (commit) => startLine(stream, paint, commit),
    note: (line) => {
      if (stream.isTTY) stream.write(CLEAR_LINE);
      print(paint('dim', `   ${toPrintable(line)}`));
    },
    end: (surprises) => printEnd({ print, paint, wrap }, surprises),
  };
}

function startLine(
  stream: WriteStream,
  paint: (style: Style, text: string) => string,
  { solver, attempt }: HistoryCommit,
): CommitLine {
  const who = `${solver.padEnd(SOLVER_COLUMNS)} ${attempt.padEnd(ATTEMPT_COLUMNS)}`;
  const startedMs = performance.now();
  let step = 'fetch';
  const draw = (): void => {
    const elapsed = `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
    // A line that wraps could not be taken away again.
    const line = `   · ....  ${who}  ${step} ${elapsed}`.slice(0, columnsOf(stream) - 1);
    stream.write(`${CLEAR_LINE}${paint('dim', line)}`);
  };
  let timer = stream.isTTY ? setInterval(draw, REDRAW_MS) : null;
  const stop = (): void => {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    stream.write(CLEAR_LINE);
  };
  return {
    stop,
    onEvent: (event) => {
      if (event.kind === 'step_started')
        step = event.step.id.replace('criterion:', '').slice(0, 20);
    },
    finish: (result, difference) => {
      stop();
      const isPass = result.verdict === 'PASS';
      const verdict = paint(isPass ? 'green' : 'red', `${isPass ? '✓' : '✗'} ${result.verdict}`);
      const room = columnsOf(stream) - REASON_COLUMN;
      const beside = sayReason(result, room);
      const fits = beside.length <= room;
      const reason = fits ? beside : sayReason(result, columnsOf(stream) - REASON_INDENT);
      const gap = fits ? '  ' : `\n${' '.repeat(REASON_INDENT)}`;
      stream.write(`   ${verdict}  ${who}${gap}${paint('dim', reason)}\n`);
      if (difference !== null)
        stream.write(paint('red', `${wrapperOf(stream)(difference, REASON_INDENT)}\n`));
    },
  };
}

/** The primary reason with what it is about, as far as the line has room. */
function sayReason({ reasons, criteria }: VerificationResult, room: number): string {
  const [first, ...others] = reasons;
  if (first === undefined) return `all ${criteria.length} criteria`;
  const more = others.length === 0 ? '' : ` +${others.length}`;
  const subject = first.subject === null ? '' : ` ${toPrintable(first.subject)}`;
  const full = `${first.code}${subject}${more}`;
  return full.length <= room ? full : `${first.code}${more}`;
}

function printEnd(
  {
    print,
    paint,
    wrap,
  }: {
    readonly print: (text?: string) => void;
    readonly paint: (style: Style, text: string) => string;
    readonly wrap: Wrap;
  },
  surprises: readonly string[],
): void {
  print();
  if (surprises.length > 0) {
    print(paint(['bold', 'red'], 'Not everything came out as the fixtures say it must:'));
    for (const surprise of surprises) print(wrap(surprise, 3));
    return;
  }
  print(paint('bold', 'What you saw'));
  print(
    wrap(
      'Every commit was fetched by its SHA, its diff held against the contract, and each criterion run in a ' +
        'container of its own. Every verdict is the one that fixtures/*/expected.json foretells, and any other ' +
        'machine comes to the same.',
      3,
    ),
  );
  print(`\n${paint('bold', 'What next')}`);
  const commands = [
    ['npm run demo -- memory-benchmark test-creation', 'two more contracts'],
    ['npx kervyxa lint fixtures/perf-benchmark/contract.json', 'the refusal, in full'],
    ['npx kervyxa verify --help', 'judge your own commit'],
    ['npx kervyxa doctor', 'what is missing here'],
    ['less docs/contracts.md', 'write your own'],
  ];
  for (const [command = '', what = ''] of commands) {
    print(`   ${paint('cyan', command.padEnd(56))}${paint('dim', what)}`);
  }
  print();
}

type Wrap = (text: string, indent: number) => string;

/** Makes lines that fit, each indented. */
function wrapperOf(stream: WriteStream): Wrap {
  return (text, indent) => {
    const lines = [''];
    for (const word of text.split(' ')) {
      const last = lines.at(-1) ?? '';
      if (last !== '' && last.length + 1 + word.length > columnsOf(stream) - indent) {
        lines.push(word);
      } else {
        lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
      }
    }
    return lines.map((line) => ' '.repeat(indent) + line).join('\n');
  };
}

function columnsOf(stream: WriteStream): number {
  // Some terminals say 0, and what is no terminal says nothing, whatever the types promise.
  return Math.min(COLUMNS_MAX, stream.isTTY && stream.columns > 0 ? stream.columns : COLUMNS_MAX);
}
