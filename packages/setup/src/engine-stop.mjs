// `npm run engine:stop`: ends the Docker engine that set-up started, and no other.
import { explainError } from './errors.mjs';
import { withLock } from './lock.mjs';
import { stopOwnEngine } from './own-engine.mjs';
import { prepareStateFolder, stateFolder, statePaths } from './state.mjs';

try {
  const folder = stateFolder();
  const { engine } = statePaths(folder);
  prepareStateFolder(folder);
  const stopped = await withLock(folder, { log: console.log }, () =>
    stopOwnEngine(engine, console.log),
  );
  console.log(
    stopped
      ? `stopped; its images are kept in ${engine.data}`
      : `no engine of ours is running (${engine.folder}); other engines are left alone`,
  );
} catch (error) {
  const { text, exitCode } = explainError(error);
  console.error(text);
  process.exitCode = exitCode;
}
