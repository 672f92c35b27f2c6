/** Whose fault an error is. It decides what happens next: a caller corrects, a candidate fails, infra retries. */
export type Fault = 'caller' | 'candidate' | 'infra' | 'bug';

/** What a program may do with an error of one code. `exitCode` is a process exit status, `httpStatus` an HTTP one. */
export interface ErrorTraits {
  readonly fault: Fault;
  readonly retryable: boolean;
  readonly httpStatus: number;
  readonly exitCode: number;
  /** One sentence for the error table in the README. */
  readonly meaning: string;
}

export type ErrorTable<Code extends string = string> = Readonly<Record<Code, ErrorTraits>>;

export interface AppErrorOptions {
  /** One sentence: what was expected and what came. */
  readonly message: string;
  /** How the reader can put it right. */
  readonly fix?: string | undefined;
  readonly cause?: unknown;
  /** Facts for programs; never secrets, never a stack trace. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** The one error class of the project. Branch on `code`, never on `message`. */
export class AppError<Code extends string = string> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly traits: ErrorTraits;
  readonly fix: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, traits: ErrorTraits, options: AppErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.traits = traits;
    this.fix = options.fix;
    this.details = options.details ?? {};
  }
}

export interface ErrorFamily<Code extends string> {
  readonly table: ErrorTable<Code>;
  readonly create: (code: Code, options: AppErrorOptions) => AppError<Code>;
}

/** Freezes one package's error table and returns the only way to make its errors. */
export function defineErrors<Code extends string>(
  table: Record<Code, ErrorTraits>,
): ErrorFamily<Code> {
  const frozen: ErrorTable<Code> = Object.freeze({ ...table });
  return {
    table: frozen,
    create: (code, options) => new AppError(code, frozen[code], options),
  };
}

export function isAppError(value: unknown): value is AppError {
  return value instanceof AppError;
}
