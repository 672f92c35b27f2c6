import type { AuthoredContract } from '../contract/authored.ts';
import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import { toPointer } from '../contract/pointer.ts';
import { unmetRequirement } from '../run/requirements.ts';
import { findFixtureFile, type FolderView } from './folder-view.ts';

/** Fixtures that no program is ever asked about, as a submission like them is not verifiable. */
export function lintUnmet(
  file: string,
  contract: AuthoredContract,
  view: FolderView,
): LintFinding[] {
  return contract.conformance_fixtures.flatMap(({ inputs, expected_result: result }, index) => {
    if (result === 'inconclusive') return [];
    const artifacts = inputs.artifacts.flatMap(({ role, filename }) => {
      const content = findFixtureFile(view, filename)?.content;
      return content === undefined ? [] : [{ role, filename, mediaType: null, content }];
    });
    // What is not there has a finding of its own.
    if (artifacts.length < inputs.artifacts.length) return [];
    const submission = { artifacts, summaryText: inputs.summary_text };
    const problem = unmetRequirement(contract.submission_requirements, submission);
    if (problem === null) return [];
    return [
      lintFindingOf(
        'fixture_unmet',
        { file, pointer: toPointer(['conformance_fixtures', index, 'inputs']) },
        {
          message: problem,
          fix: `Give what submission_requirements ask for: without it nothing is run, and nothing is ${result}.`,
        },
      ),
    ];
  });
}
