export type { DependencyBundle, PackRequest } from './bundle.ts';
