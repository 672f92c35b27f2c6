export { DEPS_ERRORS } from './errors.ts';
export type { DepsErrorCode } from './errors.ts';
export { packDependencies } from './pack.ts';
export type { PackOptions } from './pack.ts';
export type {
  DependencyBundle,
  NamedText,
  PackedPackage,
  PackProgress,
  PackRequest,
} from './bundle.ts';
export type { NpmPlace } from './npm-options.ts';
