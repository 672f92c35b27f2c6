import { expect, it } from 'vitest';

import * as surface from './index.ts';

it('exports these values and no others', () => {
  expect(Object.keys(surface).toSorted()).toEqual([
    'ARTIFACT_SOURCES',
    'CONTRACT_BYTES_MAX',
    'CONTRACT_ERRORS',
    'CONTRACT_KINDS',
    'COUNTED_SOURCES',
    'ContractKindSchema',
    'ContractSchema',
    'CriterionSchema',
    'FINDING_CODES',
    'FINDING_TABLE',
    'LIMIT_RANGES',
    'METRIC_OPS',
    'METRIC_SIGNS',
    'METRIC_SOURCES',
    'MetricSourceSchema',
    'PROVING_RULES',
    'TREE_RULES',
    'WINDOW_SECONDS_MIN',
    'approveContract',
    'compileLinearRegex',
    'contractDigest',
    'findingOf',
    'interestingBaseFiles',
    'isCountedSource',
    'isLanguageAllowed',
    'isOpen',
    'isStyleCheck',
    'languageNamed',
    'languagesOf',
    'lintContract',
    'parseContract',
    'readContractText',
    'repositoryUrlProblem',
    'sortFindings',
    'withDependenciesDigest',
    'withPackageDigest',
  ]);
});
