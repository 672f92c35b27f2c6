import { judgeFixtures } from './fixtures/judge.ts';
import { showLife } from './life/show.ts';

const EXIT_INTERRUPTED = 130;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

process.exitCode = await main(process.argv.slice(2));

/**
 * `npm run demo`: one contract from its draft to the last posting. `npm run demo -- fixtures [names]`: what honest and
 * cheating commits are judged to be. Exit code 1 where anything comes out otherwise than foretold, 130 after Ctrl-C.
 */
async function main([chapter, ...names]: readonly string[]): Promise<number> {
  const interrupt = watchInterrupt();
  try {
    if (chapter === 'fixtures') return await judgeFixtures(names, interrupt.signal);
    if (chapter === undefined) return await showLife(interrupt.signal);
    console.error(`expected nothing, or fixtures and their names, got ${chapter}`);
    return 2;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    return EXIT_INTERRUPTED;
  } finally {
    interrupt.close();
  }
}

/** The first Ctrl-C ends the demo after its clean-up, the second at once. A reader that goes away ends it too. */
function watchInterrupt(): { signal: AbortSignal; close(): void } {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    console.error('\n   stopping: removing what was made; once more leaves at once');
    controller.abort(new Error('stopped'));
  };
  process.stdout.on('error', () => controller.abort(new Error('nobody reads the output')));
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    close: () => {
      for (const name of STOP_SIGNALS) process.off(name, onSignal);
    },
  };
}
