import { approveContract, type ContractInput, type Finding } from '@kervyxa/contract';
import type { FileRecipe } from '@kervyxa/testing';
import type { AttackBench, AttackEnd } from './attack-bench.ts';

/** A judge and a commit that leaves it alone, but not what the judge's tool reads first. */
export interface ConfigAttack {
  /** The public criterion; what it runs answers 1 unless solution.txt says right, which no commit here makes it say. */
  readonly command: string;
  readonly setup?: readonly string[];
  readonly base: Readonly<Record<string, FileRecipe>>;
  readonly files: Readonly<Record<string, FileRecipe>>;
}

export interface ConfigEnd {
  /** Under a contract that protects the scripts that judge, and nothing else. */
  readonly open: AttackEnd;
  /** What approval has against that contract, as codes. */
  readonly asked: ReadonlySet<string>;
  /** Under the contract with what approval asks for. */
  readonly closed: AttackEnd;
  /** What approval has against protection in the contract with what it asked for. */
  readonly left: ReadonlySet<string>;
}

const PROTECTION = new Set(['CONFIG_NOT_PROTECTED', 'HARNESS_NOT_PROTECTED']);
const HIDDEN = { 'verify.sh': 'grep -qx right solution.txt\n' };
let attackCount = 0;

/** Submits one commit twice: as a careless requester meets it, and as approval would have it. */
export async function submitConfig(
  bench: AttackBench,
  { command, setup = [], base: baseFiles, files }: ConfigAttack,
): Promise<ConfigEnd> {
  attackCount += 1;
  const name = `config-${attackCount}`;
  const inBase = { 'solution.txt': 'wrong\n', ...baseFiles };
  const { base, cheat } = await bench.build(name, [
    { name: 'base', files: inBase },
    { name: 'cheat', parents: ['base'], files },
  ]);
  const facts = {
    commit: base,
    paths: Object.keys(inBase),
    files: new Map(
      Object.entries(inBase).flatMap(([path, file]) =>
        typeof file === 'string' ? [[path, file] as const] : [],
      ),
    ),
    lfsPointers: [],
  };
  const change = (protectedPaths: string[]) => (contract: ContractInput) => {
    contract.environment.memoryMB = 512;
    contract.environment.workspaceMB = 128;
    contract.environment.setup = setup.map((each) => ({ command: each, timeoutSeconds: 60 }));
    contract.constraints = { protectedPaths, maxChangedFiles: 4, allowedLanguages: [] };
    contract.criteria = [criterion('judged', command), criterion('hidden', VERIFY)];
  };
  const lint = (protectedPaths: string[]): Finding[] => {
    const document = bench.plainContract(base);
    change(protectedPaths)(document);
    const { findings } = approveContract(document, facts);
    return findings.filter(({ code }) => PROTECTION.has(code));
  };
  const scripts = Object.keys(baseFiles).filter((path) => /judge|\.tgz$/.test(path));
  const asked = lint(scripts);
  const names = asked.flatMap(({ fix }) =>
    [...fix.matchAll(/"([^"]+)"/g)].map(([, path]) => path ?? ''),
  );
  const protectedPaths = [...new Set([...scripts, ...names])];
  const submit = (paths: string[]): Promise<AttackEnd> =>
    bench.attack(name, base, { commit: cheat, hidden: HIDDEN, contract: change(paths) });
  return {
    open: await submit(scripts),
    asked: new Set(asked.map(({ code }) => code)),
    closed: await submit(protectedPaths),
    left: new Set(lint(protectedPaths).map(({ code }) => code)),
  };
}

const VERIFY = 'sh "$KERVYXA_VERIFIER_PACKAGE/verify.sh"';

function criterion(id: string, command: string): ContractInput['criteria'][number] {
  return {
    id,
    title: id,
    type: 'exit_code',
    visibility: id === 'hidden' ? 'hidden' : 'public',
    command,
    timeoutSeconds: 60,
  };
}
