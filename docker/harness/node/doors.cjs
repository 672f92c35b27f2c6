'use strict';

// Ways from the program's realm to Node's inner parts and to other runs, closed before the program runs.
const fs = require('node:fs');
const Module = require('node:module');

const { defineProperty } = Object;

/** What shows Node's own promises, opens sockets, or leaves a mark on the harness that the next run finds. */
const TAKEN = {
  async_hooks: ['createHook', 'executionAsyncResource'],
  os: ['setPriority'],
  tty: ['ReadStream', 'WriteStream'],
};

function closeDoors() {
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

/** What the harness asks of its channel is told by an object of a class that the program may get hold of. */
function fixStats(Stats) {
  defineProperty(Stats, 'prototype', { writable: false });
  for (const name of ['dev', 'ino']) {
    defineProperty(Stats.prototype, name, { value: 0, writable: true, configurable: false });
  }
}

module.exports = { closeDoors };
