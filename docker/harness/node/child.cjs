'use strict';

// The process that runs the program: node … child.cjs (count | plain) SCRIPT ARGUMENT…
// Everything that the program could patch is taken hold of before it runs. What it must not touch lives in closures
// or in a realm of its own, and nothing of that realm is handed out, errors included.
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const url = require('node:url');
const vm = require('node:vm');
const { closeDoors } = require('./doors.cjs');
const { confineProcess, reportAtExit } = require('./process.cjs');

const REPORT_FD = 3;
const TOKEN_BYTES = 32;

const { readFileSync, readSync } = fs;
const { apply, ownKeys } = Reflect;
const { create, getPrototypeOf, prototype: ObjectPrototype } = Object;
const { compileFunction, runInThisContext } = vm;
const { fileURLToPath, pathToFileURL } = url;
const { isBuiltin, _nodeModulePaths: nodeModulePaths, _resolveFilename: resolveFilename } = Module;
const parseJson = JSON.parse;
const resolvePath = path.resolve;
const dirname = path.dirname;
const LocalError = Error;
const LocalSyntaxError = SyntaxError;
const LocalTypeError = TypeError;

const MODULE_PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

const [mode, script, ...scriptArguments] = process.argv.slice(2);
const token = readToken();
closeDoors();
const { counter, setDoor } = createCounter();
const loader = createRealm();
setDoor({ module: createModuleModule(), commonJs: guard(loader.commonJs) });
Module.registerHooks({ resolve: guard(loader.resolve), load: guard(loader.load) });
confineProcess({ getBuiltinModule: guard(loader.findBuiltin) });
const waiting = reportAtExit(REPORT_FD, () => `${token} ${counter[0]}\n`);
start();

function start() {
  // Node's own words for a script that is not there.
  const file = resolveFilename(resolvePath(script), null, true);
  process.argv = [process.execPath, file, ...scriptArguments];
  process.execArgv = [];
  const pending = loader.loadMain(file);
  if (pending === null) return;
  waiting.begin();
  pending.then(waiting.end, (error) => {
    waiting.end();
    throw error;
  });
}

/** What the parent knows a report by. It is never in a buffer that others get to see. */
function readToken() {
  const bytes = new Uint8Array(TOKEN_BYTES);
  let length = 0;
  while (length < TOKEN_BYTES) {
    const read = readSync(REPORT_FD, bytes, length, TOKEN_BYTES - length, null);
    if (read === 0) throw new Error('no token came');
    length += read;
  }
  const text = String.fromCharCode(...bytes);
  bytes.fill(0);
  return text;
}

/**
 * A constant of the script scope is seen by every module by its name and is no property of anything, so only text that
 * names it can reach it; and the instrumenter refuses such text.
 */
function createCounter() {
  runInThisContext(
    `'use strict'; const $kervyxa = new Float64Array(1); const $kervyxaHost = Object.create(null);`,
  );
  const host = runInThisContext('$kervyxaHost');
  return { counter: runInThisContext('$kervyxa'), setDoor: (door) => Object.assign(host, door) };
}

function createRealm() {
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    codeGeneration: { strings: false, wasm: false },
  });
  const loadInRealm = (name) => {
    const file = path.join(__dirname, name);
    const wrapped = `(function (module, exports) { ${readFileSync(file, 'utf8')}\n})`;
    const module = new vm.Script(`({ exports: {} })`).runInContext(context);
    new vm.Script(wrapped, { filename: file }).runInContext(context)(module, module.exports);
    return module.exports;
  };
  const { createLoader } = loadInRealm('loader.cjs');
  const parsing = () => {
    const acorn = loadInRealm('acorn.js');
    return loadInRealm('instrument.cjs').createInstrumenter(acorn);
  };
  return createLoader(createHost(), transformOf(parsing));
}

/** The parser takes heap, so a program whose heap is measured does without where it can. */
function transformOf(parsing) {
  let instrument = mode === 'count' ? parsing() : null;
  const parses = (source, kind) => {
    instrument ??= parsing();
    try {
      instrument(source, kind);
      return true;
    } catch {
      return false;
    }
  };
  const detect = (source) => {
    const isCommonJs = mode === 'count' ? parses(source, 'commonjs') : compiles(source);
    return !isCommonJs && parses(source, 'module') ? 'module' : 'commonjs';
  };
  const transform = mode === 'count' ? instrument : (source) => source;
  return { detect, transform };
}

function compiles(source) {
  try {
    compileFunction(source, MODULE_PARAMETERS, { __proto__: null });
    return true;
  } catch {
    return false;
  }
}

/** What the loader needs of the program's realm. No patch of the program's reaches into any of these. */
function createHost() {
  return {
    __proto__: null,
    createCache: () => create(null),
    createModule: (file, exports, parent) => ({
      id: parent === null ? '.' : file,
      path: dirname(file),
      filename: file,
      exports,
      loaded: false,
      parent,
      children: [],
      paths: nodeModulePaths(dirname(file)),
    }),
    createObject: () => ({}),
    createRequire,
    error: (message) => new LocalError(message),
    importModule: (file) => import(pathToFileURL(file).href),
    isBuiltin,
    keysOf: (value) =>
      (typeof value === 'object' && value !== null) || typeof value === 'function'
        ? ownKeys(value)
        : [],
    moduleModule: createModuleModule(),
    parseJson: (text) => parseJson(text),
    readIfThere(file) {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return null;
      }
    },
    readText: (file) => readFileSync(file, 'utf8'),
    requireBuiltin: (name) => require(name),
    requireModule: (file) => require(file),
    resolve: (request, file) =>
      resolveFilename(
        request,
        { __proto__: null, id: file, filename: file, paths: nodeModulePaths(dirname(file)) },
        false,
      ),
    run(code, file, module, requireOfModule) {
      const body = compileFunction(code, MODULE_PARAMETERS, {
        __proto__: null,
        filename: file,
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
      module.require = requireOfModule;
      const given = [module.exports, requireOfModule, module, file, dirname(file)];
      apply(body, module.exports, given);
    },
    syntaxError: (message) => new LocalSyntaxError(message),
    toPath: (location) => fileURLToPath(location),
  };
}

function createRequire({ load, resolve, cache, main }) {
  const guardedLoad = guard(load);
  const guardedResolve = guard(resolve);
  const require = (request) => guardedLoad(toName(request));
  require.resolve = (request) => guardedResolve(toName(request));
  require.cache = cache;
  require.main = main;
  return require;
}

/** In place of `node:module`. */
function createModuleModule() {
  return {
    builtinModules: Module.builtinModules,
    createRequire: guard((from) => loader.createRequire(toFile(from))),
    isBuiltin: (name) => isBuiltin(name),
  };
}

function toFile(from) {
  try {
    return fileURLToPath(from);
  } catch {
    return resolvePath(toName(from));
  }
}

function toName(value) {
  if (typeof value === 'string' && value !== '') return value;
  throw new LocalTypeError('expected the name of a module, got something else');
}

/** A function of the loader's realm, safe to be called by the program: no error of that realm comes out. */
function guard(method) {
  return (...given) => {
    try {
      return apply(method, undefined, given);
    } catch (error) {
      throw isLocal(error) ? error : new LocalError('the module could not be loaded');
    }
  };
}

function isLocal(value) {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return true;
  for (let at = value; at !== null; at = getPrototypeOf(at)) {
    if (at === ObjectPrototype) return true;
  }
  return false;
}
