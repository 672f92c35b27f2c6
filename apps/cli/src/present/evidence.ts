import { toPrintable } from '@kervyxa/core';
import type { Expectations, Statement } from '@kervyxa/evidence';
import type { Screen } from '../host.ts';
import type { EvidenceFile } from '../io/evidence-file.ts';
import { count, paragraph } from './text.ts';

const EXTENSION = 'urn:kervyxa:attestation:v1';

/** What was attested, for programs. */
export function toAttestedFacts(evidence: EvidenceFile): object {
  const { subject, predicate } = evidence.statement;
  const { verdict, reason, runRef, audit, view } = predicate[EXTENSION];
  return {
    kind: evidence.kind,
    verdict,
    reason,
    subject,
    repository: predicate.resourceUri,
    contractDigest: `sha256:${predicate.policy.digest.sha256}`,
    verifier: predicate.verifier.id,
    timeVerified: predicate.timeVerified,
    runRef,
    view,
    audit,
    keyid: evidence.key.keyid,
    files: predicate.inputAttestations,
    ...(evidence.kind === 'bundle' && {
      passed: evidence.evaluation.passed,
      absent: evidence.absent,
    }),
  };
}

/** What was attested, and what that proves, for a person. */
export function toAttestationText(
  evidence: EvidenceFile,
  expected: Expectations,
  screen: Screen,
): string {
  const { colors } = screen;
  return (
    [
      `${colors.bold(colors.green('good'))}  ${toVerdictLine(evidence.statement)}`,
      toRows(evidence),
      toParagraphs('proven', toProven(evidence), screen),
      toParagraphs(
        'not proven',
        [...toUnasked(evidence, expected), ...toUnproven(evidence)],
        screen,
      ),
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  );
}

function toVerdictLine({ predicate }: Statement): string {
  const { verdict, reason } = predicate[EXTENSION];
  return reason === null ? verdict : `${verdict} ${reason}`;
}

function toRows({ statement: { subject, predicate }, key }: EvidenceFile): string {
  const { runRef, audit, view } = predicate[EXTENSION];
  const rows = [
    ...subject.map(({ name, digest }) => [name, Object.values(digest).join(' ')]),
    ['repository', predicate.resourceUri],
    ['contract', `sha256:${predicate.policy.digest.sha256}`],
    ['verifier', predicate.verifier.id],
    ['verified', predicate.timeVerified],
    ['run', runRef],
    ['view', view],
    ...(audit === null ? [] : [['audit log', `${audit.seq} ${audit.head}`]]),
    ['key', key.keyid],
  ];
  return rows
    .map(
      ([name = '', value = '']) => `${toPrintable(name).padEnd(10)} ${toPrintable(value, 2_048)}`,
    )
    .join('\n');
}

function toProven(evidence: EvidenceFile): string[] {
  const about = isOfCommit(evidence) ? 'commit' : 'answer';
  const said = `Who holds the key has signed this verdict on this ${about} under this contract.`;
  if (evidence.kind === 'attestation') return [said];
  const files = count(evidence.statement.predicate.inputAttestations.length, 'input');
  const whole = `The bundle is the one that was signed, to the byte: ${files} by digest.`;
  if (evidence.absent.length === 0) return [said, whole];
  return [said, whole, `It says that it lacks ${evidence.absent.join(', ')}.`];
}

function toUnproven(evidence: EvidenceFile): string[] {
  const again = 'That the verdict is right: "kervyxa evidence replay" runs the commit again.';
  return [
    isOfCommit(evidence) ? again : 'That the verdict is right.',
    'Whose key it is, and that it was in nobody else’s hands: that is between you and where you got it.',
    'When it was signed: the time is the signer’s word.',
  ];
}

/** Else it is of an entry to a problem, which is files and text. */
function isOfCommit({ statement }: EvidenceFile): boolean {
  return statement.subject.some(({ digest }) => 'gitCommit' in digest);
}

function toUnasked(
  evidence: EvidenceFile,
  { subject, policyDigest, verifierId, resourceUri }: Expectations,
): string[] {
  const unasked = [
    ...(subject === undefined
      ? [`the ${isOfCommit(evidence) ? 'commit' : 'file'} (--subject)`]
      : []),
    ...(policyDigest === undefined ? ['the contract (--contract)'] : []),
    ...(verifierId === undefined ? ['the verifier (--verifier)'] : []),
    ...(resourceUri === undefined ? ['the repository (--repo)'] : []),
  ];
  return unasked.length === 0
    ? []
    : [`That it is about what you mean: you did not ask for ${unasked.join(', ')}.`];
}

function toParagraphs(heading: string, sentences: readonly string[], { columns, colors }: Screen) {
  const lines = sentences.map((each) => paragraph(each, columns, '  '));
  return [colors.bold(heading), ...lines].join('\n');
}
