// The public surface: adding a line here makes a name public.
export { createApi } from './app.ts';
export type { ApiDependencies } from './app.ts';
export { startApi } from './server.ts';
export type { ListenOptions, RunningApi } from './server.ts';
export { DEFAULT_API_SETTINGS } from './settings.ts';
export type { ApiSettings } from './settings.ts';
export { createApiKey, hashOfKey } from './auth/api-key.ts';
export { API_ERRORS } from './errors.ts';
export type { ApiErrorCode } from './errors.ts';
