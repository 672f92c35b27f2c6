'use strict';

// Ways from the program's realm to Node's inner parts and to other runs, closed before the program runs.
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');

const { _cache: modules } = Module;
const { defineProperty, getPrototypeOf } = Object;

/** What shows Node's own promises, opens sockets, or leaves a mark on the harness that the next run finds. */
const TAKEN = {
  async_hooks: ['createHook', 'executionAsyncResource'],
  os: ['setPriority'],
  tty: ['ReadStream', 'WriteStream'],
};

function closeDoors() {
  hideCompiler();
  // Loaded when it is asked for, and needs what is taken away here.
  Reflect.get(require('node:async_hooks'), 'AsyncLocalStorage');
  for (const [name, keys] of Object.entries(TAKEN)) {
    const module = require(`node:${name}`);
    for (const key of keys) delete module[key];
  }
  Module.syncBuiltinESMExports();
  // Node's own promises hold what compiles modules. Whoever replaces one of these gets to see them.
  defineProperty(Promise.prototype, 'constructor', { writable: false, configurable: false });
  defineProperty(Promise, Symbol.species, { configurable: false });
  fixStats(fs.fstatSync(2).constructor);
}

/** The class that compiles modules is the constructor of each; Node itself does not look there for it. */
function hideCompiler() {
  const file = path.join(__dirname, 'empty.mjs');
  require(file);
  const loaded = modules[file];
  delete modules[file];
  const kept = Object.getOwnPropertySymbols(loaded).map((key) => loaded[key]);
  const wrap = kept.find((value) => value?.constructor?.name === 'ModuleWrap');
  if (wrap === undefined) throw new Error('expected what Node keeps of a module, got none');
  delete getPrototypeOf(wrap).constructor;
}

/** What the harness asks of its channel is told by an object of a class that the program may get hold of. */
function fixStats(Stats) {
  defineProperty(Stats, 'prototype', { writable: false });
  for (const name of ['dev', 'ino']) {
    defineProperty(Stats.prototype, name, { value: 0, writable: true, configurable: false });
  }
}

module.exports = { closeDoors };
