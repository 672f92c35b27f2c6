import { openFakeBench } from '../testing/fake-bench.ts';
import { describeCaseStore } from '../testing/shared-suite.ts';

describeCaseStore('the fake case store', openFakeBench, {
  historyCount: 1_000,
  timeoutMs: 120_000,
});
