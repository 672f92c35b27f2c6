export { loadVerifierPackage } from './load.ts';
export { readPackageArchive } from './read-archive.ts';
export { PACKAGE_LIMITS } from './seal.ts';
export type { PackageLimits, VerifierPackage } from './seal.ts';
