import { z } from 'zod';

/** 63 bits: what the ledger's columns hold. */
export const AMOUNT_MINOR_MAX = 9_223_372_036_854_775_807n;

/** A positive decimal string of minor units, as it is on the wire and in contracts. */
export const AmountMinorTextSchema = z
  .string()
  .refine(
    (text) => /^[1-9][0-9]{0,18}$/.test(text) && BigInt(text) <= AMOUNT_MINOR_MAX,
    `expected a decimal string of minor units from 1 to ${AMOUNT_MINOR_MAX}`,
  );

/** The same on the wire, a positive `bigint` inside. */
export const AmountMinorSchema = z.codec(AmountMinorTextSchema, z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (amount) => amount.toString(),
});

export const CurrencySchema = z
  .string()
  .regex(/^[A-Z][A-Z0-9]{2,9}$/, 'expected a currency code such as USD');
