import { rmSync, writeFileSync } from 'node:fs';
import { runCommand } from './command.mjs';
import {
  listProcesses,
  processStamp,
  readIfThere,
  sendSignal,
  waitUntilGone,
} from './processes.mjs';

const END_MS = 10_000;

/**
 * Runs a program and notes in a file, while it runs, which processes those are: they outlive this one when it is
 * killed, and would then work against the next set-up. Hold the lock.
 * @param {string} program
 * @param {string[]} args
 * @param {import('./command.mjs').CommandOptions & { noteFile: string }} options
 */
export async function runNoted(program, args, { noteFile, ...options }) {
  const onStart = (/** @type {number} */ pid) => noteGroup(noteFile, pid);
  try {
    return await runCommand(program, args, { ...options, onStart });
  } finally {
    rmSync(noteFile, { force: true });
  }
}

/**
 * @param {string} file
 * @param {number} leader pid of the leader of a process group
 */
export function noteGroup(file, leader) {
  writeFileSync(file, `${leader} ${processStamp(leader)}`);
}

/**
 * Kills the processes of a set-up that was itself killed. Hold the lock.
 * @param {string} file
 */
export async function endNotedGroup(file) {
  const group = parseNote(readIfThere(file) ?? '');
  if (group !== null && sendSignal(-group, 'SIGKILL')) {
    const members = listProcesses().filter((member) => member.group === group);
    await waitUntilGone(
      members.map(({ pid }) => pid),
      END_MS,
    );
  }
  rmSync(file, { force: true });
}

/**
 * @param {string} note
 * @returns {number | null} null when the number may have gone to somebody else since
 */
function parseNote(note) {
  const [leader, stamp] = note.split(' ');
  const boot = processStamp(process.pid)?.split(':')[0];
  if (stamp === undefined || stamp.split(':')[0] !== boot) return null;
  // A dead leader's number is not given out again while its group lives.
  const life = processStamp(Number(leader));
  return life === null || life === stamp ? Number(leader) : null;
}
