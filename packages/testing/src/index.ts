export { buildRepository } from './build-repository.ts';
export type { CommitRecipe, FileRecipe, RepositoryRecipe } from './build-repository.ts';
export { startGitServer } from './git-server.ts';
export type { GitServer, GitServerOptions, ServedRequest } from './git-server.ts';
