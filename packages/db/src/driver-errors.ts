import { createDbError } from './errors.ts';

// What Prisma, its adapter and pg throw, read in one place. Kinds are the adapter's, `P…` Prisma's, five characters
// PostgreSQL's.

const CONNECTION_KINDS = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
  'AuthenticationFailed',
  'DatabaseAccessDenied',
  'DatabaseDoesNotExist',
]);
/** Also: P2024 no connection in time, P2028 a transaction that took too long or lost its connection. */
const CONNECTION_CODES =
  /^(P1\d{3}|P2024|P2028|08...|57P0.|53...|55P03|57014|25P03|ECONN[A-Z]+|E(PIPE|NOENT|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN))$/;
/** pg gives these no code. */
const CONNECTION_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|Cannot use a pool after|Client has encountered a connection error)/;

/** A transaction that lost to another and may be tried again as a whole. */
export function isConflict(error: unknown): boolean {
  const { code, kind, sqlState } = traitsOf(error);
  return (
    code === 'P2034' ||
    kind === 'TransactionWriteConflict' ||
    /^(40001|40P01)$/.test(sqlState || code)
  );
}

/** The unique index or constraint that a row would have broken; null for any other error. */
export function brokenUniqueConstraint(error: unknown): string | null {
  const { code, cause } = traitsOf(error);
  if (code === '23505') return textOf(error, 'constraint') || null;
  if (textOf(cause, 'kind') !== 'UniqueConstraintViolation') return null;
  return textOf(fieldOf(cause, 'constraint'), 'index') || null;
}

/** DB_UNAVAILABLE for trouble with the connection, without the driver's words; any other error as it is. */
export function toDbError(error: unknown): unknown {
  const { code, kind, sqlState } = traitsOf(error);
  const isTrouble =
    CONNECTION_KINDS.has(kind) ||
    CONNECTION_CODES.test(code) ||
    CONNECTION_CODES.test(sqlState) ||
    (error instanceof Error && CONNECTION_MESSAGE.test(error.message));
  if (!isTrouble) return error;
  const what = [kind, code, sqlState].find((text) => text !== '') ?? 'a lost connection';
  return createDbError('DB_UNAVAILABLE', {
    message: `expected an answer from the database, got ${what}`,
    fix: 'Check that PostgreSQL runs and takes connections; then try again.',
    details: { what },
  });
}

/** In a transaction the adapter's error is wrapped by Prisma's; at COMMIT it comes bare; raw queries wrap it again. */
function traitsOf(error: unknown) {
  const inner = fieldOf(fieldOf(error, 'meta'), 'driverAdapterError');
  const cause = fieldOf(inner ?? error, 'cause');
  return {
    code: textOf(error, 'code'),
    kind: textOf(cause, 'kind'),
    sqlState: textOf(cause, 'originalCode') || textOf(cause, 'code'),
    cause,
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function textOf(value: unknown, name: string): string {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : '';
}
