export { EVALUATION_REFUSALS } from './evaluation/refusals.ts';
