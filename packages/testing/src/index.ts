export { buildRepository } from './build-repository.ts';
export type { CommitRecipe, FileRecipe, RepositoryRecipe } from './build-repository.ts';
export { rawCommit, rawTree, writeBranch, writeObject } from './write-object.ts';
export type { RawTreeEntry } from './write-object.ts';
export { gitProcessesOf } from './git-processes.ts';
export { deltaBombPack } from './git-server-attacks.ts';
export { startGitServer } from './git-server.ts';
export type { GitServer, GitServerOptions, ServedRequest } from './git-server.ts';
