import { defineConfig } from 'vitest/config';

// Two projects: unit tests run side by side; tests on a real engine one file at a time, so that they don't starve
// each other on a small machine.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{packages,apps,bench,demo,docker}/**/*.test.{ts,mjs}', 'test/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/node_modules/**'],
          // Ends what hangs; a busy machine may be slow without being wrong.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{packages,apps,test,docker}/**/*.int.test.ts'],
          exclude: ['**/node_modules/**'],
          globalSetup: ['packages/db/src/testing/global-setup.ts'],
          fileParallelism: false,
          // Of the tests that say concurrent: containers wait for the engine more than for a core.
          maxConcurrency: 2,
          testTimeout: 120_000,
          // A second is what a busy machine takes for nothing; the test's own time-out ends what never comes.
          expect: { poll: { timeout: 60_000 } },
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
