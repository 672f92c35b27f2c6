'use strict';

// What is left of `process` to the program, and how the program ends. All is taken hold of before the program runs.
const { fstatSync, writeSync } = require('node:fs');
const { Writable } = require('node:stream');

const { apply, ownKeys } = Reflect;
const { defineProperty } = Object;
const LocalError = Error;

/** As Node's own, for a program that waits for what never comes. */
const UNSETTLED = 13;

/** What a program may use of `process`: the rest leads to other processes, to native code, or to Node's inner parts. */
const PROCESS_KEPT = new Set(
  `version versions arch platform release config features title argv argv0 execArgv execPath env pid ppid exitCode
  uptime hrtime cpuUsage threadCpuUsage resourceUsage memoryUsage constrainedMemory availableMemory cwd chdir umask
  getuid geteuid getgid getegid getgroups exit abort nextTick emitWarning stdin stdout stderr ref unref permission
  setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback allowedNodeEnvironmentFlags
  _events _eventsCount _maxListeners _exiting _fatalException _tickCallback domain`.split(/\s+/),
);

/** @param added functions that `process` has instead of Node's own */
function confineProcess(added) {
  for (const key of ownKeys(process)) {
    if (typeof key === 'string' && !PROCESS_KEPT.has(key) && key !== 'reallyExit')
      delete process[key];
  }
  for (const [name, value] of Object.entries(added)) setFixed(name, value);
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ]) {
    Object.defineProperty(process, name, {
      value: createOutput(fd),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
}

/** Written at once, as to a file: when a pipe is read must make no difference. */
function createOutput(fd) {
  const output = new Writable({
    write(chunk, _encoding, done) {
      for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at, chunk.length - at);
      done();
    },
  });
  return Object.assign(output, { fd, _type: 'fs' });
}

/**
 * Every way to the status 0 leads through the report, and after it nothing runs. A program that calls these itself ends
 * itself; one that keeps the report from being sent, or sends another, has no count.
 * @param fd of the channel
 * @param report answers the text to send
 * @returns {{ begin(): void, end(): void }} told while an ES module is waited for
 */
function reportAtExit(fd, report) {
  let isWaiting = false;
  const { emit, exit } = process;
  const reallyExit = process.reallyExit.bind(process);
  const { dev, ino } = fstatSync(fd);
  const end = (status) => {
    if (status === 0) {
      const now = fstatSync(fd);
      if (now.dev !== dev || now.ino !== ino) reallyExit(1);
      writeSync(fd, report());
    }
    reallyExit(status);
  };
  setFixed('reallyExit', (code) => end(toStatus(code)));
  setFixed('exit', (code) => {
    isWaiting = false;
    apply(exit, process, [code]);
  });
  setFixed('emit', function (...given) {
    if (given[0] !== 'exit') return apply(emit, this, given);
    // What throws here could be taken for a good end by Node.
    let hasThrown = true;
    try {
      apply(emit, this, given);
      hasThrown = false;
    } catch (error) {
      writeSync(2, `${error instanceof LocalError ? error.stack : error}\n`);
    } finally {
      if (hasThrown) reallyExit(1);
    }
    if (isWaiting) process.exitCode ??= UNSETTLED;
    if (toStatus(process.exitCode ?? given[1]) === 0) end(0);
    return true;
  });
  return {
    begin() {
      isWaiting = true;
    },
    end() {
      isWaiting = false;
    },
  };
}

/** What the parent sees of an exit code: the system keeps eight bits of it. */
function toStatus(code) {
  return typeof code === 'object' || typeof code === 'function' ? 0 : code & 0xff;
}

function setFixed(name, value) {
  defineProperty(process, name, { value, writable: false, configurable: false, enumerable: true });
}

module.exports = { confineProcess, reportAtExit };
