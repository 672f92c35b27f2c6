import { AmountMinorTextSchema, CurrencySchema } from '@kervyxa/core';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import {
  AmountField,
  CountField,
  NoBody,
  PayoutIdField,
  PrincipalIdField,
} from '../views/fields.ts';
import {
  PayoutStateField,
  PayoutView,
  toPayoutView,
  toTransferView,
  TransferView,
} from '../views/ledger-view.ts';

const TAGS = ['ledger'];
const BalanceView = z.strictObject({ currency: z.string(), balanceMinor: AmountField });
const LedgerCheckView = z.strictObject({
  transferCount: CountField,
  problem: z.string().nullable().describe('Where the chain of hashes breaks; null where it holds.'),
  sums: z.array(BalanceView).describe('By currency; all zero.'),
  accounts: z.array(BalanceView.extend({ account: z.string() })),
});
const DepositInput = z.strictObject({
  principalId: PrincipalIdField,
  amountMinor: AmountMinorTextSchema,
  currency: CurrencySchema,
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'expected 1 to 128 visible ASCII characters')
    .describe('Of the payment outside; the same reference is the same deposit.'),
});

export function registerLedger(app: Api, { database }: ApiContext): void {
  const { commands, reads } = database;

  app.get(
    '/v1/accounts/me',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The caller’s balances',
        response: {
          200: z.strictObject({ principalId: PrincipalIdField, balances: z.array(BalanceView) }),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { id } = principalOf(request);
      const balances = [...(await reads.balances(id))];
      return reply.send({
        principalId: id,
        balances: balances.map(([currency, balance]) => ({
          currency,
          balanceMinor: balance.toString(),
        })),
      });
    },
  );

  app.get(
    '/v1/ledger/transfers',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Transfers of the caller’s account, or all to the operator, oldest first',
        querystring: PageQuery,
        response: { 200: pageViewOf(TransferView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id, roles } = principalOf(request);
      const owner = roles.includes('operator') ? null : id;
      const page = await reads.listTransfers(owner, pageOf(request.query));
      return reply.send({ items: page.items.map(toTransferView), next: page.next });
    },
  );

  app.get(
    '/v1/ledger/check',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Adds up every account and walks the chain of transfers from its first link',
        response: { 200: LedgerCheckView, default: PROBLEM_ANSWER },
      },
    },
    async (_request, reply) => {
      const [accounts, check] = await Promise.all([reads.trialBalance(), reads.checkLedger()]);
      const sums = new Map<string, bigint>();
      for (const { currency, balanceMinor } of accounts) {
        sums.set(currency, (sums.get(currency) ?? 0n) + balanceMinor);
      }
      return reply.send({
        transferCount: check.transferCount.toString(),
        problem: check.problem,
        sums: [...sums].map(([currency, sum]) => ({ currency, balanceMinor: sum.toString() })),
        accounts: accounts.map(({ account, currency, balanceMinor }) => ({
          account,
          currency,
          balanceMinor: balanceMinor.toString(),
        })),
      });
    },
  );

  app.post(
    '/v1/deposits',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Books money that came in from outside',
        body: DepositInput,
        response: { 201: TransferView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { principalId, amountMinor, currency, reference } = request.body;
      if ((await reads.principal(principalId)) === null) throw notFound('principal');
      const input = { principalId, amountMinor: BigInt(amountMinor), currency, reference };
      return answerWith(reply, (keep) =>
        commands.deposit(callOf(request, request.body), input, (row) =>
          keep(201, toTransferView(row)),
        ),
      );
    },
  );

  app.get(
    '/v1/payouts',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Payouts by the webhook, newest first',
        querystring: PageQuery.extend({ state: PayoutStateField.optional() }),
        response: { 200: pageViewOf(PayoutView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { state, ...paging } = request.query;
      const page = await reads.listPayouts(state ?? null, pageOf(paging));
      return reply.send({ items: page.items.map(toPayoutView), next: page.next });
    },
  );

  app.post(
    '/v1/payouts/:id/retry',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Has a held payout tried again, under the key it always had',
        params: z.strictObject({ id: PayoutIdField }),
        body: NoBody,
        response: {
          202: z.strictObject({ id: PayoutIdField, state: z.literal('DUE') }),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      return answerWith(reply, (keep) =>
        commands.retryPayout(callOf(request, null), id, () => keep(202, { id, state: 'DUE' })),
      );
    },
  );
}
