import { z } from 'zod';

/** A git commit id: 40 lower-case hex digits, the whole of it. */
export const CommitShaSchema = z
  .string()
  .regex(/^[0-9a-f]{40}$/, 'expected the full SHA: 40 hexadecimal digits in lower case')
  .brand<'CommitSha'>();
export type CommitSha = z.infer<typeof CommitShaSchema>;

/** 64 lower-case hex digits. */
export const Sha256HexSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits in lower case')
  .brand<'Sha256Hex'>();
export type Sha256Hex = z.infer<typeof Sha256HexSchema>;

export const VERDICTS = ['PASS', 'FAIL', 'INCONCLUSIVE', 'ERROR'] as const;
export const VerdictSchema = z.enum(VERDICTS);
export type Verdict = z.infer<typeof VerdictSchema>;
