import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftText } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { harnessesOf } from './harness.ts';
import { packageOfNpx } from './judging-tools.ts';
import { isInstall, networkUseOf } from './network-use.ts';
import { localPackages } from './package-json.ts';
import { commandsOf } from './rules-command.ts';
import { firstAffirmed } from './rules-text.ts';
import { shellCalls } from './shell-walk.ts';

/** NETWORK_REQUIRED and, where a package may or may not be there, NPX_NOT_LOCAL. */
export function lintNetwork(draft: Draft, facts: BaseFacts | null): Finding[] {
  return commandsOf(draft).flatMap((place) => [
    ...networkFindings(place, draft),
    ...npxFindings(place, facts),
  ]);
}

function networkFindings({ text, pointer }: DraftText, { hasBundle }: Draft): Finding[] {
  const use = networkUseOf(text, { hasBundle });
  if (use === null) return [];
  const fix = isInstall(use)
    ? 'Containers have none: pack what the lock file names with kervyxa deps pack, name the bundle in environment.dependencies, and install by npm ci --offline or pip install --no-index.'
    : 'Containers have none: commit what is needed, or bring it in the hidden package or a dependency bundle.';
  return [
    findingOf('NETWORK_REQUIRED', pointer, {
      message: `expected a command that needs no network, got ${toPrintable(use, 100)}`,
      fix,
    }),
  ];
}

function npxFindings({ text, pointer }: DraftText, facts: BaseFacts | null): Finding[] {
  const local = localPackages(facts);
  return shellCalls(text).flatMap(({ words }) => {
    const name = packageOfNpx(words);
    const isOffline = words.some(
      (word) => word === '--no-install' || word === '--offline' || word === '--no',
    );
    if (name === null || isOffline || local.has(name)) return [];
    return [
      findingOf('NPX_NOT_LOCAL', pointer, {
        message: `expected ${toPrintable(name, 100)} among the dependencies of package.json; npx would download it otherwise`,
        fix: 'Write npx --no-install, and make it a devDependency of the repository.',
      }),
    ];
  });
}

const API_NAMES = String.raw`openai|anthropic|gpt-?\d\S*|chatgpt|claude|gemini|bedrock|vertex ai|cohere|mistral|hugging ?face|replicate|llm`;
const HOSTED_MODELS = [
  new RegExp(String.raw`\b(hosted|remote|cloud|live)\s+(\w+[\s/-]+){0,2}(models?|llms?)\b`, 'i'),
  new RegExp(String.raw`\b(${API_NAMES})('s)?\s+(\w+\s+){0,2}(api|endpoint|service)s?\b`, 'i'),
  new RegExp(
    String.raw`\b(calls?|calling|query|querying|asks?|asking|sent to|via|through)\s+(the\s+)?(${API_NAMES})\b`,
    'i',
  ),
  /\b(downloads?|fetch(es)?|scrapes?|pulls?)\b[^.;]{0,60}\b(from the (internet|web)(?=$|\s*[.,;:)]|\s(and|when|while|at|before)\b)|from https?:)/i,
];

// Elsewhere an objective may well be about the code that talks to such a service.
const SCORING_KINDS = new Set(['model_evaluation', 'document_extraction', 'benchmark']);

function isScored({ kind, criteria }: Draft): boolean {
  return (
    SCORING_KINDS.has(kind ?? '') ||
    (kind === 'custom' && criteria.some(({ type }) => type === 'benchmark'))
  );
}

/** The objective itself asks for a network: a hosted model, a download. */
export function lintNetworkObjective(draft: Draft): Finding[] {
  if (!isScored(draft)) return [];
  return [draft.title, draft.objective].flatMap((place) => {
    const found = place && firstAffirmed(place.text, HOSTED_MODELS);
    return place && found !== null ? [hostedFinding(place.pointer, `"${found.trim()}"`)] : [];
  });
}

const API_HOST =
  /\b(api\.(openai|anthropic|cohere|mistral|replicate|groq|deepseek)\.(com|ai)|generativelanguage\.googleapis\.com|api-inference\.huggingface\.co)\b/;

/** The script that scores asks a service, as far as the base tree shows it. */
export function lintNetworkHarness(draft: Draft, facts: BaseFacts | null): Finding[] {
  if (!isScored(draft)) return [];
  return harnessesOf(draft, facts).flatMap(({ criterion, harness }) =>
    harness.scripts.flatMap((path) => {
      const found = API_HOST.exec(facts?.files.get(path) ?? '');
      if (found === null || criterion.judging === null) return [];
      return [hostedFinding(criterion.judging.pointer, `${found[0]} in ${path}`)];
    }),
  );
}

function hostedFinding(pointer: string, found: string): Finding {
  return findingOf('NETWORK_REQUIRED', pointer, {
    message: `expected work that is judged without a network, got ${toPrintable(found, 150)}`,
    fix: 'Score what is committed to the repository: vendor the model or the data.',
  });
}
