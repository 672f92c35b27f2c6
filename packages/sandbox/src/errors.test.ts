import { expect, it } from 'vitest';
import { SANDBOX_ERRORS, sandboxError, type SandboxErrorCode } from './errors.ts';

it.each(Object.keys(SANDBOX_ERRORS) as SandboxErrorCode[])(
  '%s carries its own code and has a meaning for the README',
  (code) => {
    expect(code).toMatch(/^SANDBOX_[A-Z]+_[A-Z_]+$|^SANDBOX_MISUSED$/);
    expect(sandboxError(code, { message: 'm' }).code).toBe(code);
    expect(SANDBOX_ERRORS[code].meaning).toMatch(/^[A-Z].*\.$/);
  },
);
