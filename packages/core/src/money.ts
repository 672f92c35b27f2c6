import { z } from 'zod';

/** 63 bits: what the ledger's columns hold. */
export const AMOUNT_MINOR_MAX = 9_223_372_036_854_775_807n;

const AMOUNT_EXPECTED = `expected a decimal string of minor units from 1 to ${AMOUNT_MINOR_MAX}`;

/** A positive decimal string of minor units, as it is on the wire and in contracts. */
export const AmountMinorTextSchema = z
  .string()
  .regex(/^[1-9][0-9]{0,18}$/, { error: AMOUNT_EXPECTED, abort: true })
  .refine((text) => BigInt(text) <= AMOUNT_MINOR_MAX, AMOUNT_EXPECTED);

/** The same on the wire, a positive `bigint` inside. */
export const AmountMinorSchema = z.codec(AmountMinorTextSchema, z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (amount) => amount.toString(),
});

export const CurrencySchema = z
  .string()
  .regex(/^[A-Z][A-Z0-9]{2,9}$/, 'expected a currency code such as USD');
