import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { contractDigest } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import { createGitIntake } from '@kervyxa/intake/git';
import { loadVerifierPackage } from '@kervyxa/intake/package';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady, stateFolder } from '@kervyxa/setup';
import { verifyCommit } from '@kervyxa/verifier';
import type { VerifyMachine } from '../commands/verify.ts';
import type { Host } from '../host.ts';
import { toImageIds, toToolsImage } from './runtime-images.ts';
import { loadSettings } from './settings.ts';

/** This machine's engine, images and git, made ready when a worker is opened and not before. */
export function createMachine(host: Host): VerifyMachine {
  const { clock, interactive } = host;
  const settings = loadSettings(host);
  return {
    settings,
    async loadPackage(folder) {
      return (await loadVerifierPackage(folder)).archive;
    },
    async open({ log, live, signal }) {
      const { dockerHost, runtimes } = await ensureReady({ log, live, interactive, signal });
      const images = toImageIds(runtimes);
      const sandbox = createDockerSandbox({ dockerHost, toolsImage: toToolsImage(images), clock });
      const cacheFolder = join(stateFolder(), 'git');
      const intake = createGitIntake({
        cacheFolder,
        allowedOrigins: settings.allowedOrigins,
        clock,
      });
      // What runs left that were killed; nobody else on a laptop would remove it. It says nothing about this one.
      await sandbox.reap(signal).catch((error: unknown) => {
        signal.throwIfAborted();
        log(`what killed runs left could not be removed: ${toPrintable(String(error))}`);
      });
      return {
        verify: (request, options) =>
          verifyCommit(
            { intake, sandbox, clock, runtimes: images, coreCount: availableParallelism() },
            { ...request, contractDigest: contractDigest(request.contract) },
            options,
          ),
      };
    },
  };
}
