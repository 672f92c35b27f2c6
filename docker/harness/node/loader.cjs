'use strict';

// Loads the program's modules. CommonJS is all ours: the program never gets hold of Node's own `Module`, which could
// compile text that does not count. ES modules go through Node's loader, with hooks. Runs in the realm of the
// instrumenter, and reaches the program's realm only through the functions of `host`.

/** What a program under count may load: nothing that compiles text, starts threads or processes, or opens a debugger. */
const BUILTINS = new Set([
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'console',
  'constants',
  'crypto',
  'events',
  'fs',
  'fs/promises',
  'module',
  'os',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'process',
  'punycode',
  'querystring',
  'readline',
  'readline/promises',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'sys',
  'timers',
  'timers/promises',
  'tty',
  'url',
  'util',
  'util/types',
  'zlib',
]);

const MODULE_URL = 'kervyxa:module';

/**
 * @param host functions of the program's realm, captured before the program ran
 * @param transform (source, kind) → the text that is compiled
 * @param detect (source) → 'commonjs' | 'module', for files that no name and no package.json declares
 */
function createLoader(host, { transform, detect }) {
  const cache = host.createCache();
  let main;

  /**
   * @param parent the module that asks first, null for the main one, undefined for an ES module
   * @returns what `require` gives for a file
   */
  function loadFile(path, parent) {
    const known = cache[path];
    if (known !== undefined) return known.exports;
    const source = read(path);
    if (path.endsWith('.json')) return register(path, parent, host.parseJson(source)).exports;
    if (kindOf(path, source) === 'module') return host.requireModule(path);
    const code = transformed(path, source, 'commonjs');
    const module = register(path, parent, host.createObject());
    let isLoaded = false;
    try {
      host.run(code, path, module, createRequire(path));
      isLoaded = true;
    } finally {
      if (!isLoaded) delete cache[path];
    }
    module.loaded = true;
    return module.exports;
  }

  function register(path, parent, exports) {
    const module = host.createModule(path, exports, parent);
    if (parent === null) main = module;
    cache[path] = module;
    return module;
  }

  /** @returns the `require` of a file */
  function createRequire(path) {
    const resolve = (request) => (isBuiltin(request) ? request : host.resolve(request, path));
    const load = (request) =>
      isBuiltin(request) ? loadBuiltin(request) : loadFile(resolve(request), cache[path]);
    return host.createRequire({ load, resolve, cache, main });
  }

  function isBuiltin(request) {
    return host.isBuiltin(request);
  }

  function loadBuiltin(request) {
    const name = allowed(request);
    return name === 'module' ? host.moduleModule : host.requireBuiltin(`node:${name}`);
  }

  /** The program may have patched the arrays of its realm. */
  function localKeys(value) {
    const keys = host.keysOf(value);
    return Array.from({ length: keys.length }, (_, index) => keys[index]);
  }

  function allowed(request) {
    const name = request.replace(/^node:/, '');
    if (BUILTINS.has(name)) return name;
    throw host.error(`the module ${request} can't be used where work is counted`);
  }

  function transformed(path, source, kind) {
    try {
      return transform(source, kind);
    } catch (error) {
      throw host.syntaxError(`${path}: ${error.message}`);
    }
  }

  /** What may stand in front of a program, and in the middle of none, is made a comment or left out. */
  function read(path) {
    return host
      .readText(path)
      .replace(/^\uFEFF/, '')
      .replace(/^#!/, '//');
  }

  function kindOf(path, source) {
    const [extension] = /\.[^./]*$/.exec(path) ?? [''];
    if (extension === '.mjs') return 'module';
    if (extension === '.cjs') return 'commonjs';
    if (['.node', '.wasm', '.ts', '.mts', '.cts'].includes(extension)) {
      throw host.error(`${path}: files of this kind can't be used where work is counted`);
    }
    const declared = extension === '.js' ? packageType(path) : 'commonjs';
    return declared ?? detect(source);
  }

  /** @returns the `type` of the nearest package.json; null where it says none */
  function packageType(path) {
    for (let folder = path; folder !== '';) {
      folder = folder.slice(0, folder.lastIndexOf('/'));
      if (folder.endsWith('/node_modules')) return null;
      const text = host.readIfThere(`${folder}/package.json`);
      if (text !== null) return typeIn(text);
    }
    return null;
  }

  return {
    loadMain(path) {
      const source = read(path);
      if (path.endsWith('.json') || kindOf(path, source) === 'commonjs') {
        loadFile(path, null);
        return null;
      }
      return host.importModule(path);
    },

    createRequire,

    /** For `process.getBuiltinModule`. */
    findBuiltin(request) {
      return isBuiltin(request) && BUILTINS.has(request.replace(/^node:/, ''))
        ? loadBuiltin(request)
        : undefined;
    },

    /** For the modules that `load` makes of CommonJS files. */
    commonJs: (url) => loadFile(host.toPath(url)),

    resolve(specifier, context, next) {
      if (isBuiltin(specifier)) {
        if (allowed(specifier) !== 'module') return next(specifier, context);
        return { url: MODULE_URL, format: 'module', shortCircuit: true };
      }
      const found = next(specifier, context);
      if (found.url.startsWith('file:')) return found;
      throw host.error(`${specifier.slice(0, 100)} can't be imported where work is counted`);
    },

    load(url, context, next) {
      if (url === MODULE_URL) return ready(MODULE_SOURCE);
      if (url.startsWith('node:')) return next(url, context);
      const path = host.toPath(url);
      if (path.endsWith('.json')) return next(url, context);
      const source = read(path);
      if (kindOf(path, source) === 'module') return ready(transformed(path, source, 'module'));
      return ready(wrapperOf(url, localKeys(loadFile(path))));
    },
  };
}

function typeIn(packageJson) {
  try {
    const { type } = JSON.parse(packageJson);
    return type === 'module' || type === 'commonjs' ? type : null;
  } catch {
    return null;
  }
}

const MODULE_SOURCE = `const module = $kervyxaHost.module;
export const { builtinModules, createRequire, isBuiltin } = module;
export default module;`;

/** An ES module with what a CommonJS file exports. */
function wrapperOf(url, keys) {
  const names = keys
    .filter((key) => typeof key === 'string' && key !== 'default' && key.isWellFormed())
    .map(quoted);
  return [
    `const value = $kervyxaHost.commonJs(${quoted(url)});`,
    ...names.map((name, index) => `const v${index} = value[${name}];`),
    `export { ${names.map((name, index) => `v${index} as ${name}`).join(', ')} };`,
    'export default value;',
  ].join('\n');
}

function quoted(text) {
  return JSON.stringify(text);
}

function ready(source) {
  return { format: 'module', source, shortCircuit: true };
}

module.exports = { createLoader };
