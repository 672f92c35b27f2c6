// What `kervyxa doctor` thinks of the facts; `diagnose` gathers them.
import { isNewEnough, NODE_MIN } from './packages.mjs';

const ENGINE_VERSION_MIN = [20, 10];
const DISK_BYTES_MIN = 2e9;
const MEMORY_BYTES_MIN = 2e9;

// THREATS C34: below the floor a known escape is public and easy; the fixes of 2025 came in three lines of releases.
const RUNC_FLOOR = [1, 1, 12];
const RUNC_FIXED = [
  [1, 2, 8],
  [1, 3, 3],
  [1, 4, 0],
];
const RUNC_2025 = 'CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881';

/**
 * @typedef {object} Check one thing that was looked at
 * @property {string} id
 * @property {'ok' | 'warn' | 'fail'} status fail: verifications can't run safely; warn: they can, with a risk or less room
 * @property {string} found
 * @property {string} expected
 * @property {string} fix empty when ok
 */

/**
 * @param {string} id
 * @param {{ found: string, expected: string, fix: string, status: 'ok' | 'warn' | 'fail' }} check
 * @returns {Check}
 */
export function toCheck(id, { found, expected, fix, status }) {
  return { id, status, found, expected, fix: status === 'ok' ? '' : fix };
}

/** @param {string} version */
export function checkNode(version) {
  return toCheck('node', {
    status: isNewEnough(version) ? 'ok' : 'fail',
    found: version,
    expected: `${NODE_MIN.join('.')} or newer`,
    fix: 'run kervyxa through npx in the repository: a newer Node.js is among its packages',
  });
}

/** @param {number} count */
export function checkCpus(count) {
  return toCheck('cpu', {
    status: count >= 2 ? 'ok' : 'warn',
    found: String(count),
    expected: 'at least 2',
    fix: 'a second core lets two criteria run side by side',
  });
}

/** @param {number} bytes of the engine's machine */
export function checkMemory(bytes) {
  return toCheck('memory', {
    status: bytes >= MEMORY_BYTES_MIN ? 'ok' : 'warn',
    found: gigabytes(bytes),
    expected: `at least ${gigabytes(MEMORY_BYTES_MIN)}`,
    fix: 'contracts that ask for more memory than there is end in ERROR: use a larger machine',
  });
}

/**
 * @param {string} id
 * @param {string} folder
 * @param {number} bytesFree for this user
 */
export function checkDisk(id, folder, bytesFree) {
  return toCheck(id, {
    status: bytesFree >= DISK_BYTES_MIN ? 'ok' : 'fail',
    found: `${gigabytes(bytesFree)} free at ${folder}`,
    expected: `at least ${gigabytes(DISK_BYTES_MIN)}`,
    fix: 'free some space there, or set KERVYXA_HOME to a folder on a larger disk',
  });
}

/**
 * @param {string} version
 * @param {string} where
 */
export function checkEngineVersion(version, where) {
  return toCheck('engine', {
    status: compareVersions(parseVersion(version), ENGINE_VERSION_MIN) >= 0 ? 'ok' : 'fail',
    found: `${version} (${where})`,
    expected: `${ENGINE_VERSION_MIN.join('.')} or newer`,
    fix: 'update the Docker engine',
  });
}

/**
 * @param {string | null} version as the engine states it, a distribution's revision included
 */
export function checkRunc(version) {
  return toCheck('runc', {
    ...judgeRunc(version),
    found: version ?? 'not stated by the engine',
    expected: '1.2.8, 1.3.3, 1.4.0 or newer',
  });
}

/**
 * @param {string | null} version
 * @returns {{ status: 'ok' | 'warn' | 'fail', fix: string }}
 */
function judgeRunc(version) {
  if (version === null) {
    return { status: 'warn', fix: `make sure that its runtime has the fixes of ${RUNC_2025}` };
  }
  const numbers = parseVersion(version);
  const line = RUNC_FIXED.find(([major, minor]) => numbers[0] === major && numbers[1] === minor);
  const isFixed =
    compareVersions(numbers, line ?? RUNC_FIXED.at(-1) ?? []) >= 0 && !/rc/.test(version);
  if (isFixed) return { status: 'ok', fix: '' };
  if (/\+ds|deb\d|ubuntu|\.el\d|\.fc\d/.test(version)) {
    // A distribution keeps the number and backports the fixes (Debian: 1.1.5+ds1-1+deb12u1 has that of CVE-2024-21626),
    // so the number proves nothing either way.
    return {
      status: 'warn',
      fix: `keep it updated (Debian: apt-get install --only-upgrade runc) and look up ${RUNC_2025} in the distribution’s security tracker`,
    };
  }
  return compareVersions(numbers, RUNC_FLOOR) < 0
    ? { status: 'fail', fix: 'update runc: any container can leave this one (CVE-2024-21626)' }
    : { status: 'warn', fix: `update runc: it lacks the fixes of ${RUNC_2025}` };
}

/** @param {any} info the engine's /info */
export function checkCgroup(info) {
  const lacking = ['MemoryLimit', 'SwapLimit', 'PidsLimit', 'CpuCfsQuota'].filter(
    (name) => !info[name],
  );
  return toCheck('cgroup', {
    status: lacking.length === 0 ? 'ok' : 'fail',
    found: `v${info.CgroupVersion ?? '1'}${lacking.length === 0 ? '' : `, without ${lacking.join(', ')}`}`,
    expected: 'limits of memory, swap, pids and CPU',
    fix: 'enable these controllers in the kernel (for swap on cgroup v1: boot with swapaccount=1)',
  });
}

/** @param {string} driver */
export function checkStorage(driver) {
  const fast = ['overlay2', 'overlayfs', 'fuse-overlayfs', 'btrfs', 'zfs'].includes(driver);
  return toCheck('storage', {
    status: fast ? 'ok' : 'warn',
    found: driver,
    expected: 'overlay2',
    fix: 'it works, but each container is a copy: keep the engine’s data on ext4 or xfs to get overlay2',
  });
}

/** @param {string[]} options the engine's SecurityOptions */
export function checkSeccomp(options) {
  const option = options.find((text) => text.startsWith('name=seccomp'));
  return toCheck('seccomp', {
    status: option === undefined ? 'fail' : 'ok',
    found: option ?? 'off',
    expected: 'on',
    fix: 'use a kernel and an engine with seccomp: without it system calls are not filtered',
  });
}

/** @param {any} info the engine's /info */
export function checkPlatform(info) {
  return toCheck('platform', {
    status: info.OSType === 'linux' ? 'ok' : 'fail',
    found: `${info.OSType} ${info.Architecture}, kernel ${info.KernelVersion}`,
    expected: 'an engine for Linux containers',
    fix: 'switch the engine to Linux containers',
  });
}

/**
 * @param {string} name
 * @param {import('./runtimes.mjs').RuntimeBinding | undefined} binding of the image that is there and current
 */
export function checkImage(name, binding) {
  return toCheck(`image ${name}`, {
    status: binding === undefined ? 'fail' : 'ok',
    found:
      binding === undefined
        ? 'missing, or made from an older recipe'
        : `${binding.imageId} (${binding.source})`,
    expected: 'an image of the current recipe',
    fix: 'run npm run setup',
  });
}

/**
 * @param {string} text
 * @returns {number[]} the numbers it begins with
 */
export function parseVersion(text) {
  return (/^v?(\d+(?:\.\d+)*)/.exec(text)?.[1] ?? '0').split('.').map(Number);
}

/**
 * @param {number[]} left
 * @param {number[]} right
 * @returns {number} below, equal to or above 0
 */
export function compareVersions(left, right) {
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** @param {number} bytes */
function gigabytes(bytes) {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
