import { join } from 'node:path';
import { createVitest, type Reporter, type TestCase, type TestModule } from 'vitest/node';
import { idsOfTitle } from './catalogue.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface TestEnd {
  readonly title: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** The first line of its failure, or why it did not run here; null where it passed. */
  readonly why: string | null;
}

export interface TitlesRun {
  readonly ends: readonly TestEnd[];
  /** Errors that belong to no test: files that can not be loaded, promises that nobody waits for. */
  readonly trouble: readonly string[];
  /** Ctrl-C came: what had not begun was left out, and what tests share was taken down. */
  readonly isStopped: boolean;
}

/** Runs the tests of these files whose titles begin with one of the ids, and no other. */
export async function runTitles(
  ids: readonly string[],
  files: readonly string[],
  say: (line: string) => void,
): Promise<TitlesRun> {
  if (files.length === 0) return { ends: [], trouble: [], isStopped: false };
  const ends: TestEnd[] = [];
  const trouble: string[] = [];
  const isAsked = (title: string): boolean => idsOfTitle(title).some((id) => ids.includes(id));
  const reporter: Reporter = {
    onTestModuleStart: (module) => say(relativeOf(module)),
    onTestCaseResult(test) {
      if (!isAsked(test.name)) return;
      const end = toEnd(test);
      ends.push(end);
      say(`  ${end.state} ${end.title}${end.why === null ? '' : `: ${end.why}`}`);
    },
    onTestRunEnd(modules, unhandled) {
      const errors = modules.flatMap((each) => each.errors()).concat(unhandled);
      trouble.push(...errors.map(({ message }) => firstLine(message)));
    },
  };
  const vitest = await createVitest('test', {
    root: ROOT,
    watch: false,
    reporters: [reporter],
    // Where a describe block stands around a test, its title comes first.
    testNamePattern: new RegExp(`(?:^|\\s)(?:${ids.join('|')})\\s`),
  });
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    say('stopping, and taking down what tests share; Ctrl-C again leaves at once');
    void vitest.cancelCurrentRun('keyboard-input');
  };
  // Vitest's own would end this process before anything is taken down.
  process.removeAllListeners('SIGINT').once('SIGINT', stop);
  try {
    const wanted = new Set(files.map((file) => join(ROOT, file)));
    const found = await vitest.globTestSpecifications([...files]);
    await vitest.runTestSpecifications(found.filter(({ moduleId }) => wanted.has(moduleId)));
  } finally {
    await vitest.close();
    process.off('SIGINT', stop);
  }
  return { ends, trouble, isStopped };
}

function toEnd(test: TestCase): TestEnd {
  const { state, errors, ...rest } = test.result();
  const end = { title: test.name, file: relativeOf(test.module) };
  if (state === 'passed') return { ...end, state, why: null };
  const note = 'note' in rest ? rest.note : undefined;
  if (state === 'skipped' && note !== undefined) return { ...end, state, why: note };
  // A test that says nothing about why it was left out has a broken set-up around it.
  const message = errors?.[0]?.message ?? 'it did not run, and does not say why';
  return { ...end, state: 'failed', why: firstLine(message) };
}

function relativeOf({ moduleId }: Pick<TestModule, 'moduleId'>): string {
  return moduleId.slice(ROOT.length + 1);
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
