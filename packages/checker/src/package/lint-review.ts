import { toPrintable } from '@kervyxa/core';
import type { ContractDraft } from '../contract/draft.ts';
import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import { toPointer } from '../contract/pointer.ts';
import { ReviewProtocolTermsSchema, type ReviewProtocolTerms } from '../stages/review-protocol.ts';
import { PROTOCOL_FILE, SKILL_FILE } from './file-names.ts';
import { findFile, type FolderView } from './folder-view.ts';
import { parseJsonFile, type JsonFile } from './lint-problem.ts';

/** What a review stage writes in the place of an id. */
export const OWN_PROTOCOL = `./${PROTOCOL_FILE}`;

/** The review protocol that is beside the contract or shared, where there is one. */
export function readProtocol(
  contract: { readonly file: string; readonly draft: ContractDraft } | null,
  view: FolderView,
): JsonFile<ReviewProtocolTerms> {
  const found = findFile(view, PROTOCOL_FILE);
  if (found === null) return { value: null, findings: missingProtocols(contract) };
  const { value, findings } = parseJsonFile(found.path, found.content, ReviewProtocolTermsSchema);
  return {
    value,
    findings: [...findings, ...(value === null ? [] : missingSkills(found.path, value, view))],
  };
}

function missingProtocols(
  contract: { readonly file: string; readonly draft: ContractDraft } | null,
): LintFinding[] {
  if (contract === null) return [];
  return contract.draft.stages
    .filter(({ kind, protocol }) => kind === 'review' && protocol === OWN_PROTOCOL)
    .map(({ path }) =>
      lintFindingOf(
        'protocol_missing',
        { file: contract.file, pointer: toPointer([...path, 'review_protocol_id']) },
        {
          message: `expected ${PROTOCOL_FILE} beside the contract, got none`,
          fix: 'Write it, or name a published protocol by its id.',
        },
      ),
    );
}

function missingSkills(
  file: string,
  { nodes }: ReviewProtocolTerms,
  view: FolderView,
): LintFinding[] {
  return nodes.flatMap(({ skills }, node) =>
    skills.flatMap(({ skill_version_id: id }, index) => {
      const name = /^\.\/(skills\/.*)$/.exec(id)?.[1];
      if (name === undefined || findFile(view, `${name}/${SKILL_FILE}`) !== null) return [];
      const pointer = toPointer(['nodes', node, 'skills', index, 'skill_version_id']);
      const words = {
        message: `expected ${toPrintable(name, 200)}/${SKILL_FILE} in the folder, got no such file`,
        fix: 'Add the skill, or name one that is there.',
      };
      return [lintFindingOf('skill_missing', { file, pointer }, words)];
    }),
  );
}
