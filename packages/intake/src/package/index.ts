export { loadVerifierPackage, PACKAGE_LIMITS } from './load.ts';
export type { PackageLimits, VerifierPackage } from './load.ts';
