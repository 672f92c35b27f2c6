import { availableParallelism } from 'node:os';
import { contractDigest } from '@kervyxa/contract';
import { loadVerifierPackage, openBundle } from '@kervyxa/intake/package';
import { proveContract, verifyCommit } from '@kervyxa/verifier';
import type { ProveMachine } from '../commands/prove.ts';
import type { VerifyMachine } from '../commands/verify.ts';
import type { Host } from '../host.ts';
import { toFailure } from '../present/failure.ts';
import { parseSettings } from '../settings.ts';
import { openBaseRepository } from './base-repository.ts';
import { openCaptures } from './captures.ts';
import { loadCheckerPackage } from './checker-package.ts';
import { openEngine } from './engine.ts';
import { loadSettings } from './settings.ts';
import { openSigningKeys, ownKeysFolder } from './signing-key.ts';

/** This machine's engine, images and git, made ready when a worker is opened and not before. */
export function createMachine(host: Host): VerifyMachine & ProveMachine {
  const { clock, interactive } = host;
  const settings = loadSettings(host);
  const { allowedOrigins } = settings;
  const { containerRuntime, verifierId } = parseSettings(host.env);
  return {
    settings,
    signer: { verifierId, openKeys: () => openSigningKeys(ownKeysFolder(), clock) },
    async loadPackage(folder) {
      return (await loadVerifierPackage(folder)).archive;
    },
    openBundle: (path) => openBundle(path),
    loadChecker: loadCheckerPackage,
    openBase: openBaseRepository(host, allowedOrigins),
    async open({ log, live, signal }) {
      const places = { allowedOrigins, containerRuntime };
      const engine = await openEngine({ clock, interactive, ...places, log, live, signal });
      // What runs left that were killed; nobody else on a laptop would remove it. It says nothing about this one.
      await engine.sandbox.reap(signal).catch((error: unknown) => {
        signal.throwIfAborted();
        const { code, message, fix } = toFailure(error);
        log(`What killed runs left could not be removed: ${code}: ${message}`);
        if (fix !== undefined) log(`fix: ${fix}`);
      });
      const deps = { ...engine, clock, coreCount: availableParallelism() };
      return {
        verify: (request, options) =>
          verifyCommit(
            deps,
            { ...request, contractDigest: contractDigest(request.contract) },
            options,
          ),
        openCaptures: (request, to) => openCaptures(engine.intake, request, to),
        prove: (request, options) => proveContract(deps, request, options),
      };
    },
  };
}
