import {
  parse,
  type AndOr,
  type Case,
  type Command,
  type CompoundList,
  type For,
  type If,
  type Pipeline,
  type Statement,
  type SyntaxNode,
} from 'unbash';

import type { NpmScripts } from './npm-scripts.ts';
import { constantStatus, isIdleStatusTest, swallowsStatus } from './shell-constants.ts';
import { nestedScriptOf, pipedScriptOf } from './shell-nested.ts';
import {
  BOTH,
  exitOutcomes,
  FAIL,
  isFilter,
  negate,
  OK,
  orElseOk,
  pathsOf,
  showsOnly,
  type Outcome,
  type Paths,
} from './shell-paths.ts';
import { hasWork, walkShell } from './shell-walk.ts';
import {
  evalTextOf,
  literalOf,
  unwrapWords,
  wordsOf,
  type InnerScript,
  type LiteralWord,
} from './shell-words.ts';

/** What the exit status of a command line can depend on. */
export type StatusKind =
  /** It can turn out either way. */
  | 'open'
  /** Always the same, and nothing that could fail is run at all. */
  | 'vacuous'
  /** Always the same, although something that can fail is run. */
  | 'masked';

/**
 * Follows every path through a command as `/bin/sh` would (no pipefail, no errexit unless set) and tells whether its
 * exit status can say anything. What is not known is taken to be able to do both, so a doubt never refuses. `scripts`
 * are those of the base's package.json, null where they are not known: `npm test` may well be `exit 0`. `hasRepository`
 * says that set-up makes a repository of git's, without which `git diff` can but fail.
 */
export function shellStatusKind(
  command: string,
  scripts: NpmScripts | null = null,
  { hasRepository = false }: { readonly hasRepository?: boolean } = {},
): StatusKind {
  const script = parse(command);
  const shell = new ShellPaths({
    scripts,
    hasRepository: hasRepository || makesRepository(command),
    stepsLeft: STEPS_MAX,
    known: new Map(),
  });
  const outcomes = shell.finalOutcomes(script.commands);
  if (outcomes.size > 1) return 'open';
  return hasWork(script, scripts) ? 'masked' : 'vacuous';
}

/** Whether a command makes a repository of git's, of which a workspace has none. */
export function makesRepository(command: string): boolean {
  return /\bgit\b[^;&|\n]*\b(init|clone|worktree)\b|\bGIT_DIR=/.test(command);
}

const RECURSION_MAX = 32;
/** Functions and scripts that call each other twice ask for work without end. */
const STEPS_MAX = 20_000;

/** What all shells of one walk share. */
interface Walk {
  readonly scripts: NpmScripts | null;
  readonly hasRepository: boolean;
  stepsLeft: number;
  /** Outcomes of npm scripts by their text; null while one is walked. */
  readonly known: Map<string, ReadonlySet<Outcome> | null>;
}

/** One walk. It carries what a shell carries: options, functions and the EXIT trap. */
class ShellPaths {
  private readonly walk: Walk;
  private errexit = false;
  private pipefail = false;
  /** Inside a condition a failure never ends the shell. */
  private conditionDepth = 0;
  private recursionDepth = 0;
  private exitTrap: string | null = null;
  private readonly functions = new Map<string, SyntaxNode>();
  /** Files that output went to. */
  private readonly written = new Set<string>();

  constructor(walk: Walk) {
    this.walk = walk;
  }

  finalOutcomes(statements: readonly Statement[]): ReadonlySet<Outcome> {
    const { next, exit } = this.list(statements);
    const outcomes = next.union(exit);
    if (this.exitTrap === null) return outcomes;
    const trap = parse(this.exitTrap);
    this.exitTrap = null;
    const trapped = this.list(trap.commands);
    return trapped.exit.size > 0 && trapped.next.size === 0 ? trapped.exit : outcomes;
  }

  private list(statements: readonly Statement[]): Paths {
    let next: ReadonlySet<Outcome> = OK.next;
    let exit: ReadonlySet<Outcome> = new Set();
    for (const { command, background } of statements) {
      const paths = background === true ? OK : this.node(command, next);
      exit = exit.union(paths.exit);
      next = paths.next;
      if (this.errexit && this.conditionDepth === 0 && next.has('fail')) {
        const effect = errexitEffect(command);
        if (effect !== 'goes on') exit = exit.union(FAIL.next);
        if (effect === 'ends') next = next.difference(FAIL.next);
      }
      if (next.size === 0) break;
    }
    return { next, exit };
  }

  private node(node: SyntaxNode, previous: ReadonlySet<Outcome>): Paths {
    this.recursionDepth += 1;
    this.walk.stepsLeft -= 1;
    const isTooMuch = this.recursionDepth > RECURSION_MAX || this.walk.stepsLeft < 0;
    const paths = isTooMuch ? BOTH : this.nodeOf(node, previous);
    this.recursionDepth -= 1;
    return paths;
  }

  private nodeOf(node: SyntaxNode, previous: ReadonlySet<Outcome>): Paths {
    switch (node.type) {
      case 'Command':
        return this.command(node, previous);
      case 'AndOr':
        return this.andOr(node, previous);
      case 'Pipeline':
        return this.pipeline(node, previous);
      case 'Redirected':
        this.noteWritten(node.redirects);
        return this.node(node.command, previous);
      case 'Script':
        return this.list(node.commands);
      case 'BraceGroup':
        return this.list(node.body.commands);
      case 'CompoundList':
        return this.list(node.commands);
      case 'Subshell':
        return this.subshell(() => this.list(node.body.commands));
      case 'If':
        return this.if(node);
      case 'Case':
        return this.case(node);
      case 'While':
        this.condition(() => this.list(node.clause.commands));
        return this.loop(node.body, true);
      case 'For':
        return this.loop(node.body, mayRunTwice(node));
      case 'Function':
        this.functions.set(literalOf(node.name) ?? '', node.body);
        return OK;
      default:
        return BOTH;
    }
  }

  private command(command: Command, previous: ReadonlySet<Outcome>): Paths {
    this.noteWritten(command.redirects);
    if (command.name === undefined) return this.assignments(command);
    const plain = wordsOf(command);
    const words = unwrapWords(plain);
    const paths = this.call(command, words, previous);
    // The shell becomes the program, so nothing after it is run.
    if (plain[0] !== 'exec' || words === plain) return paths;
    return { next: new Set(), exit: paths.next.union(paths.exit) };
  }

  private call(
    command: Command,
    words: readonly LiteralWord[],
    previous: ReadonlySet<Outcome>,
  ): Paths {
    const [program, first] = words;
    const functionBody = typeof program === 'string' ? this.functions.get(program) : undefined;
    // A `return` ends the function only. An `exit` in it is rarer; taking it for a return refuses nothing.
    if (functionBody !== undefined) return this.subshell(() => this.node(functionBody, previous));
    const inner = nestedScriptOf(command);
    if (inner !== null) return this.nested(inner);
    switch (program) {
      case 'exit':
      case 'return':
        return { next: new Set(), exit: exitOutcomes(first, words.length, previous) };
      case 'eval':
        return this.eval(evalTextOf(words));
      case 'alias':
        this.alias(words);
        return OK;
      case 'tee':
        for (const word of words.slice(1)) if (word !== null) this.written.add(word);
        return BOTH;
      case 'set':
        this.set(words);
        return OK;
      case 'trap':
        if (words.some((word) => word === 'EXIT' || word === '0')) this.exitTrap = first ?? null;
        return OK;
      default:
        return this.program(command, words);
    }
  }

  private program(command: Command, words: readonly LiteralWord[]): Paths {
    const { scripts, hasRepository } = this.walk;
    if (words[0] === 'git' && hasRepository) return BOTH;
    const text = scripts?.textOf(words) ?? null;
    if (text !== null) return this.npmScript(text);
    const isIdle =
      scripts?.isSkipped(words) === true ||
      swallowsStatus(words) ||
      showsOnly(words, this.written) ||
      isIdleStatusTest([words[0] ?? '', ...command.args.map((word) => word.text)]);
    return isIdle ? OK : pathsOf(constantStatus(words));
  }

  private npmScript(text: string): Paths {
    const known = this.walk.known.get(text);
    if (known === null) return BOTH;
    if (known !== undefined) return { next: known, exit: new Set() };
    this.walk.known.set(text, null);
    const paths = this.nested({ text, isBash: false, hasErrexit: false, hasPipefail: false });
    this.walk.known.set(text, paths.next);
    return paths;
  }

  private nested({ text, hasErrexit, hasPipefail }: InnerScript): Paths {
    if (text === null) return BOTH;
    const shell = new ShellPaths(this.walk);
    shell.errexit = hasErrexit;
    shell.pipefail = hasPipefail;
    shell.recursionDepth = this.recursionDepth;
    return { next: shell.finalOutcomes(parse(text).commands), exit: new Set() };
  }

  /** The last round alone gives the status: what failed in an earlier one is forgotten, unless it ends the loop. */
  private loop(body: CompoundList, isRepeated: boolean): Paths {
    const { next, exit } = this.list(body.commands);
    const forgets = isRepeated && next.has('fail') && !hasBreak(body);
    return orElseOk({ next: forgets ? OK.next : next, exit });
  }

  /** An alias is read as a function: dash expands it from the next line on. */
  private alias(words: readonly LiteralWord[]): void {
    for (const word of words.slice(1)) {
      const [, name, text] = /^([^=]+)=(['"]?)([^]*)\2$/.exec(word ?? '')?.toSpliced(2, 1) ?? [];
      if (name !== undefined && text !== undefined) this.functions.set(name, parse(text));
    }
  }

  private noteWritten(redirects: Command['redirects']): void {
    for (const each of redirects) {
      if (each.type !== 'Redirect' || !each.operator.startsWith('>')) continue;
      const target = literalOf(each.target);
      if (target !== null) this.written.add(target);
    }
  }

  /** `x=$(npm test)` has the status of the substitution; `x=1` and a bare redirection succeed. */
  private assignments(command: Command): Paths {
    const substitutions = command.prefix.flatMap((item) =>
      item.type === 'Assignment' && item.value.type === 'Word' ? (item.value.parts ?? []) : [],
    );
    const isSubstituted = substitutions.some(
      (part) => part.type === 'CommandExpansion' || part.type === 'DoubleQuoted',
    );
    return isSubstituted ? BOTH : OK;
  }

  private eval(text: string | null): Paths {
    return text === null ? BOTH : this.list(parse(text).commands);
  }

  private set(words: readonly (string | null)[]): void {
    const text = words.slice(1).join(' ');
    if (/(^| )-[a-z]*e/.test(text) || text.includes('-o errexit')) this.errexit = true;
    if (/(^| )\+[a-z]*e/.test(text) || text.includes('+o errexit')) this.errexit = false;
    if (/(^| )-[a-z]*o pipefail/.test(text)) this.pipefail = true;
  }

  private andOr({ commands, operators }: AndOr, previous: ReadonlySet<Outcome>): Paths {
    let next: ReadonlySet<Outcome> = previous;
    let exit: ReadonlySet<Outcome> = new Set();
    for (const [index, command] of commands.entries()) {
      const isLast = index === commands.length - 1;
      const operator = operators[index - 1];
      const wanted: Outcome = operator === '||' ? 'fail' : 'ok';
      if (operator !== undefined && !next.has(wanted)) continue;
      const run = () => this.node(command, next);
      const paths = isLast ? run() : this.condition(run);
      const skipped =
        operator === undefined ? new Set<Outcome>() : next.difference(new Set([wanted]));
      exit = exit.union(paths.exit);
      next = skipped.union(paths.next);
    }
    return { next, exit };
  }

  private pipeline(pipeline: Pipeline, previous: ReadonlySet<Outcome>): Paths {
    const { commands, prefixes } = pipeline;
    const elements = commands.map((command, index) =>
      this.subshell(() => {
        const script = pipedScriptOf(pipeline, index);
        if (script !== null) return this.nested(script);
        const paths = this.node(command, previous);
        return index > 0 && isFilter(command) ? OK : paths;
      }),
    );
    let next: ReadonlySet<Outcome> = elements.at(-1)?.next ?? OK.next;
    if (this.pipefail && elements.some((element) => element.next.has('fail'))) {
      next = next.union(FAIL.next);
    }
    const isNegated = prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1;
    return { next: isNegated ? negate(next) : next, exit: new Set() };
  }

  private if(node: If): Paths {
    let exit: ReadonlySet<Outcome> = new Set();
    let next: ReadonlySet<Outcome> = new Set();
    let isReachable = true;
    for (const branch of [node, ...node.elif]) {
      if (!isReachable) break;
      const asked = this.condition(() => this.list(branch.clause.commands));
      exit = exit.union(asked.exit);
      if (asked.next.has('ok')) {
        const taken = this.list(branch.then.commands);
        next = next.union(taken.next);
        exit = exit.union(taken.exit);
      }
      isReachable = asked.next.has('fail');
    }
    if (!isReachable) return { next, exit };
    const last = node.else === undefined ? OK : this.list(node.else.commands);
    return { next: next.union(last.next), exit: exit.union(last.exit) };
  }

  private case({ items }: Case): Paths {
    const branches = items.map(({ body }) => this.list(body.commands));
    const hasDefault = items.some(({ pattern }) => pattern.some(({ text }) => text === '*'));
    const all = hasDefault ? branches : [...branches, OK];
    return {
      next: all.reduce<ReadonlySet<Outcome>>((sum, { next }) => sum.union(next), new Set()),
      exit: all.reduce<ReadonlySet<Outcome>>((sum, { exit }) => sum.union(exit), new Set()),
    };
  }

  private condition(run: () => Paths): Paths {
    this.conditionDepth += 1;
    const paths = run();
    this.conditionDepth -= 1;
    return paths;
  }

  /** An `exit` in a subshell ends only that, and what it sets is gone after it. */
  private subshell(run: () => Paths): Paths {
    const { errexit, exitTrap } = this;
    const { next, exit } = run();
    this.errexit = errexit;
    this.exitTrap = exitTrap;
    return { next: next.union(exit), exit: new Set() };
  }
}

/** What errexit makes of a statement that can fail: it ends the shell, it never does, or that depends. */
function errexitEffect(command: Statement['command']): 'ends' | 'goes on' | 'depends' {
  if (command.type === 'Pipeline') {
    return command.prefixes.some(({ type }) => type === 'Negation') ? 'goes on' : 'ends';
  }
  // Of `a && b` only the failure of b ends it.
  return command.type === 'AndOr' && command.operators.at(-1) === '&&' ? 'depends' : 'ends';
}

/** Once where one fixed word is given; of a pattern or a variable nobody knows. */
function mayRunTwice({ wordlist }: For): boolean {
  const [only, ...others] = wordlist ?? [];
  return only !== undefined && (others.length > 0 || literalOf(only) === null);
}

function hasBreak(body: CompoundList): boolean {
  let isFound = false;
  walkShell(body, (node) => {
    if (node.type === 'Command' && wordsOf(node)[0] === 'break') isFound = true;
  });
  return isFound;
}
