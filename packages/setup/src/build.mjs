import { createHash, randomBytes } from 'node:crypto';
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILD_TIME_SECONDS, imageConfig, readLayer } from './archive.mjs';
import { indent } from './command.mjs';
import { buildEnvironment, removeDeadBuilds } from './build-folder.mjs';
import { installPackages, missingPackages } from './debian.mjs';
import { SetupError } from './errors.mjs';
import { exportImage, harnessLayer, loadWithLayer } from './layers.mjs';
import { runNoted } from './process-group.mjs';
import { withProgress } from './progress.mjs';
import { stableJson, TIDY_SCRIPT } from './recipe.mjs';

/**
 * @typedef {import('./progress.mjs').Reporter & { interactive: boolean, signal?: AbortSignal | undefined }} Options
 * @typedef {import('./archive.mjs').Layer} Layer
 * @typedef {import('./layers.mjs').ImageParts} ImageParts
 * @typedef {import('./recipe.mjs').LoadedRecipe} LoadedRecipe
 */

/**
 * Builds runtime images from Debian and npm packages, and puts the harness on them, in a temporary folder of its own.
 * Reproducible: the same recipe with the same package versions gives the same image id. Hold the lock.
 */
export class Builder {
  /** @type {Map<string, Promise<Layer>>} */
  #bases = new Map();

  /**
   * @param {import('./engine-api.mjs').Engine} engine
   * @param {import('./state.mjs').StatePaths} paths
   * @param {Options} options
   */
  constructor(engine, paths, options) {
    removeDeadBuilds(paths.build);
    this.engine = engine;
    this.options = options;
    this.groupFile = paths.group;
    this.folder = join(paths.build, randomBytes(6).toString('hex'));
    mkdirSync(this.folder, { recursive: true });
  }

  close() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Builds what is below the harness of one runtime.
   * @param {LoadedRecipe} loaded
   * @returns {Promise<ImageParts>}
   * @throws {SetupError} SETUP_BUILD_FAILED, SETUP_INSTALL_FAILED, SETUP_DECLINED
   */
  async build({ recipe }) {
    const architecture = await this.#architecture();
    assertSameArchitecture(architecture);
    await this.#installTools();
    const base = await this.#base(recipe);
    const extra = await this.#npmLayer(recipe, architecture);
    const layers = extra === null ? [base] : [base, extra];
    return { config: JSON.parse(imageConfig({ architecture, layers, labels: {} })), layers };
  }

  /**
   * The parts of an image that the engine has.
   * @param {string} imageId
   * @returns {Promise<ImageParts>}
   * @throws {SetupError} SETUP_BUILD_FAILED, SETUP_ENGINE_REFUSED
   */
  async export(imageId) {
    const folder = mkdtempSync(join(this.folder, 'export-'));
    return exportImage(this.engine, imageId, {
      ...this.options,
      folder,
      unpack: async (archive) => {
        await this.#run('tar', ['--extract', '--file', archive, '--directory', folder]);
      },
    });
  }

  /**
   * Loads an image into the engine under its recipe's name: what was given, and the harness on top.
   * @param {LoadedRecipe} loaded
   * @param {ImageParts} parts
   * @param {Record<string, string>} labels
   * @throws {SetupError} SETUP_BUILD_FAILED, SETUP_ENGINE_REFUSED
   */
  async load({ recipe, harnessFiles }, parts, labels) {
    const folder = mkdtempSync(join(this.folder, 'harness-'));
    const packages = [];
    for (const file of recipe.harness) {
      const unpacked = await this.#fetchNpm(file, join(folder, file.package.replace('/', '+')));
      packages.push({ path: file.to, source: join(unpacked, file.from), executable: false });
    }
    const layer = await harnessLayer([...harnessFiles, ...packages], join(folder, 'layer.tar'));
    await loadWithLayer(this.engine, parts, { ...this.options, name: recipe.name, layer, labels });
  }

  /** @returns {Promise<string>} of the engine, as Docker calls it */
  async #architecture() {
    const { Arch } = await this.engine.readJson('/version', { signal: this.options.signal });
    return Arch;
  }

  async #installTools() {
    const missing = missingPackages(['mmdebstrap']);
    if (missing.length === 0) return;
    await installPackages(missing, { ...this.options, why: 'the runtime images have to be built' });
  }

  /** @param {import('./recipe.mjs').Recipe} recipe */
  #base({ debian }) {
    const key = stableJson(debian);
    const known = this.#bases.get(key);
    if (known !== undefined) return known;
    const made = this.#makeBase(debian, join(this.folder, `base-${this.#bases.size}.tar`));
    this.#bases.set(key, made);
    return made;
  }

  /**
   * @param {import('./recipe.mjs').Recipe['debian']} debian
   * @param {string} file
   */
  #makeBase({ suite, packages }, file) {
    return withProgress(
      this.options,
      `building the base system (Debian ${suite})`,
      async (advance) => {
        const args = [
          '--variant=minbase',
          ...(process.getuid?.() === 0 ? ['--mode=root'] : []),
          // Device nodes are the engine's to make.
          '--skip=output/dev',
          // A power cut loses the build anyway.
          '--dpkgopt=force-unsafe-io',
          '--dpkgopt=path-exclude=/usr/share/doc/*',
          '--dpkgopt=path-exclude=/usr/share/man/*',
          '--dpkgopt=path-exclude=/usr/share/locale/*',
          `--include=${packages.join(',')}`,
          `--customize-hook=${TIDY_SCRIPT}`,
          suite,
          file,
        ];
        await this.#run('mmdebstrap', args, (line) =>
          advance(line.replace(/^I: /, '').slice(0, 50)),
        );
        return readLayer(file);
      },
    );
  }

  /**
   * @param {import('./recipe.mjs').Recipe} recipe
   * @param {string} architecture
   * @returns {Promise<Layer | null>}
   */
  async #npmLayer(recipe, architecture) {
    const files = recipe.npm.filter((file) =>
      [undefined, architecture].includes(file.architecture),
    );
    if (files.length === 0) return null;
    const title = `adding ${files.map((file) => file.package).join(', ')}`;
    return withProgress(this.options, title, async (advance) => {
      const work = mkdtempSync(join(this.folder, 'npm-'));
      const tree = join(work, 'tree');
      for (const file of files) {
        advance(file.package);
        const unpacked = await this.#fetchNpm(file, join(work, file.package.replace('/', '+')));
        const target = join(tree, file.to);
        mkdirSync(dirname(target), { recursive: true });
        renameSync(join(unpacked, file.from), target);
      }
      for (const [path, target] of Object.entries(recipe.links)) {
        mkdirSync(dirname(join(tree, path)), { recursive: true });
        symlinkSync(target, join(tree, path));
      }
      const layer = join(work, 'npm.tar');
      await this.#run('tar', [
        '--create',
        `--file=${layer}`,
        `--directory=${tree}`,
        '--format=gnu',
        '--sort=name',
        '--owner=0',
        '--group=0',
        '--numeric-owner',
        '--mode=u+rwX,go+rX,go-w,ug-s',
        `--mtime=@${BUILD_TIME_SECONDS}`,
        ...readdirSync(tree),
      ]);
      return readLayer(layer);
    });
  }

  /**
   * @param {import('./recipe.mjs').NpmFile} file
   * @param {string} folder is made
   * @returns {Promise<string>} the folder of the unpacked package
   */
  async #fetchNpm(file, folder) {
    mkdirSync(folder);
    const { stdout } = await this.#run('npm', [
      'pack',
      '--ignore-scripts',
      '--pack-destination',
      folder,
      file.package,
    ]);
    const archive = join(folder, stdout.trim().split('\n').at(-1) ?? '');
    const found = await integrityOf(archive);
    if (found !== file.integrity) {
      throw new SetupError('SETUP_BUILD_FAILED', {
        message: `expected ${file.package} with integrity ${file.integrity}, got ${found}`,
        fix: 'the registry served something else than the recipe names: do not use it; check the registry setting of npm',
      });
    }
    await this.#run('tar', ['--extract', '--file', archive, '--directory', folder]);
    return join(folder, 'package');
  }

  /**
   * Runs a program in the temporary folder.
   * @param {string} program
   * @param {string[]} args
   * @param {(line: string) => void} [onLine]
   */
  async #run(program, args, onLine) {
    const result = await runNoted(program, args, {
      cwd: this.folder,
      env: buildEnvironment(this.folder),
      onLine,
      noteFile: this.groupFile,
      signal: this.options.signal,
    });
    if (result.exitCode === 0) return result;
    throw new SetupError('SETUP_BUILD_FAILED', {
      message: `${program} ended with status ${result.exitCode}:\n${indent(result.excerpt)}`,
      fix: 'put right what it complains about (network, disk space) and repeat the command; what is left of this build is removed then',
    });
  }
}

/** @param {string} architecture of the engine */
function assertSameArchitecture(architecture) {
  const here = process.arch === 'x64' ? 'amd64' : process.arch;
  if (architecture === here) return;
  throw new SetupError('SETUP_BUILD_FAILED', {
    message: `no registry has the runtime images, and images for the engine (${architecture}) can’t be built on this machine (${here})`,
    fix: 'run the set-up on a machine of the engine’s kind with the same DOCKER_HOST, or let the engine reach a registry',
  });
}

/** @param {string} file */
async function integrityOf(file) {
  const hash = createHash('sha512');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return `sha512-${hash.digest('base64')}`;
}
