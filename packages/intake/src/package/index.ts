export { loadVerifierPackage } from './load.ts';
export { openBundle } from './open-bundle.ts';
export { readPackageArchive } from './read-archive.ts';
export { readPackageUpload } from './read-upload.ts';
export type { PackageUpload, UploadLimits } from './read-upload.ts';
export { PACKAGE_LIMITS } from './seal.ts';
export type { PackageLimits, VerifierPackage } from './seal.ts';
