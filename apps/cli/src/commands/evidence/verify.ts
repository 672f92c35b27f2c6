import { Command } from 'commander';
import { toPrintable } from '@kervyxa/core';
import type { Expectations } from '@kervyxa/evidence';
import type { CommandContext } from '../../context.ts';
import { cliError } from '../../errors.ts';
import { loadEvidence, loadKeys } from '../../io/evidence-file.ts';
import { toAttestationText, toAttestedFacts } from '../../present/evidence.ts';
import { toJsonText } from '../../present/json.ts';

export interface EvidenceVerifyOptions {
  readonly key: string;
  readonly subject?: string;
  readonly contract?: string;
  readonly verifier?: string;
  readonly repo?: string;
  readonly json?: boolean;
}

export function evidenceVerifyCommand(context: CommandContext): Command {
  return new Command('verify')
    .summary('check a bundle or an attestation against a key')
    .description('Check every byte of a bundle, or an attestation alone, against a public key.')
    .argument('<file>', 'evidence.tar or attestation.json')
    .requiredOption('--key <file>', 'public key in PEM, or a list of public keys')
    .option('--subject <sha>', 'the commit, tree or file that it must be about')
    .option('--contract <digest>', 'the contract that it must be under: sha256:…')
    .option('--verifier <id>', 'the verifier that it must be by')
    .option('--repo <url>', 'the repository that it must be about')
    .option('--json', 'print what was attested as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: EvidenceVerifyOptions) => {
      await runEvidenceVerify(file, options, context);
    });
}

const HELP = `
A good signature over another commit, contract, verifier or repository than you
ask for is refused; what you do not ask for may be anything, and is printed. The
key must come from the verifier itself, not from whoever gave you the file.

Examples:
  $ curl -s https://k.example.org/.well-known/kervyxa-keys.json > keys.json
  $ kervyxa evidence verify evidence.tar --key keys.json \\
      --subject 1f0c3d5e7a9b2c4d6e8f0a1b3c5d7e9f1a2b3c4d
  $ kervyxa evidence verify attestation.json --key keys.json --json

Exit codes:
  0 good   1 refused   2 usage, or a file that can not be read`;

/** Throws what is wrong with the evidence; a good one is told on standard output. */
export async function runEvidenceVerify(
  file: string,
  options: EvidenceVerifyOptions,
  { host: { stdout }, interrupts: { signal } }: Pick<CommandContext, 'host' | 'interrupts'>,
): Promise<void> {
  const expected = toExpectations(options);
  const keys = await loadKeys(options.key);
  const evidence = await loadEvidence(file, { keys, expected }, signal);
  stdout.write(
    options.json === true
      ? toJsonText(toAttestedFacts(evidence))
      : toAttestationText(evidence, expected, stdout),
  );
}

function toExpectations({
  subject,
  contract,
  verifier,
  repo,
}: EvidenceVerifyOptions): Expectations {
  assertForm(
    '--subject',
    subject,
    /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/,
    'the whole id in lower-case hex',
  );
  assertForm(
    '--contract',
    contract,
    /^sha256:[0-9a-f]{64}$/,
    'sha256: and 64 lower-case hex digits',
  );
  return {
    ...(subject !== undefined && { subject }),
    ...(contract !== undefined && { policyDigest: contract }),
    ...(verifier !== undefined && { verifierId: verifier }),
    ...(repo !== undefined && { resourceUri: repo }),
  };
}

function assertForm(option: string, text: string | undefined, form: RegExp, wanted: string): void {
  if (text === undefined || form.test(text)) return;
  throw cliError('CLI_USAGE_INVALID', {
    message: `expected ${wanted} with ${option}, got "${toPrintable(text, 100)}"`,
    fix: 'Give the whole of it; a part of a name names nothing.',
  });
}
