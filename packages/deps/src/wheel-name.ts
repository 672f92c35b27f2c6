const WHEEL =
  /^[A-Za-z0-9][\w.]*-[\w.!+]+(?:-\d[\w.]*)?-(?<python>[\w.]+)-(?<abi>[\w.]+)-(?<platform>[\w.]+)\.whl$/;
/** CPython 3.11, as in the runtime images. */
const PYTHON_MINOR = 11;
const PLATFORM = /^(?:any|(?:manylinux\w*|linux)_(?:x86_64|aarch64))$/;

/** Whether a file is a wheel that CPython 3.11 installs on Linux with glibc, on x64 or on arm64. */
export function isUsableWheel(fileName: string): boolean {
  const { python, abi, platform } = WHEEL.exec(fileName)?.groups ?? {};
  if (python === undefined || abi === undefined || platform === undefined) return false;
  const abis = abi.split('.');
  return (
    platform.split('.').some((each) => PLATFORM.test(each)) &&
    python.split('.').some((tag) => abis.some((each) => runs(tag, each)))
  );
}

function runs(python: string, abi: string): boolean {
  const [, kind, minorText] = /^(py|cp)3(\d*)$/.exec(python) ?? [];
  if (kind === undefined) return false;
  const minor = minorText === undefined || minorText === '' ? 0 : Number(minorText);
  if (kind === 'py') return abi === 'none' && minor <= PYTHON_MINOR;
  if (abi === 'abi3') return minor <= PYTHON_MINOR;
  return minor === PYTHON_MINOR && (abi === 'none' || abi === `cp3${PYTHON_MINOR}`);
}
