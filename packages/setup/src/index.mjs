// The public surface: adding a line here makes a name public.
export { SETUP_ERRORS, SetupError, explainError } from './errors.mjs';
export { stateFolder } from './state.mjs';
export { createReporter } from './progress.mjs';
export { findEngine } from './engine.mjs';
export { loadRuntimes } from './runtimes.mjs';
export { ensureReady } from './ready.mjs';
export { diagnose } from './diagnose.mjs';
export { interruptible } from './interrupt.mjs';

/**
 * @typedef {import('./engine.mjs').FoundEngine} FoundEngine
 * @typedef {import('./runtimes.mjs').RuntimeBinding} RuntimeBinding
 * @typedef {import('./runtimes.mjs').Runtimes} Runtimes
 * @typedef {import('./progress.mjs').Reporter} Reporter
 * @typedef {import('./checks.mjs').Check} Check
 * @typedef {import('./errors.mjs').SetupCode} SetupCode
 */
