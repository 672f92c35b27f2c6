import {
  parse,
  type AndOr,
  type Case,
  type Command,
  type If,
  type Pipeline,
  type Statement,
  type SyntaxNode,
} from 'unbash';

import { constantStatus } from './shell-constants.ts';
import {
  BOTH,
  exitOutcomes,
  FAIL,
  isFilter,
  negate,
  OK,
  orElseOk,
  pathsOf,
  type Outcome,
  type Paths,
} from './shell-paths.ts';
import { hasWork } from './shell-walk.ts';
import { evalTextOf, innerScriptOf, literalOf, unwrapWords, wordsOf } from './shell-words.ts';

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
 * exit status can say anything. What is not known is taken to be able to do both, so a doubt never refuses.
 */
export function shellStatusKind(command: string): StatusKind {
  const script = parse(command);
  const shell = new ShellPaths();
  const outcomes = shell.finalOutcomes(script.commands);
  if (outcomes.size > 1) return 'open';
  return hasWork(script) ? 'masked' : 'vacuous';
}

const RECURSION_MAX = 32;

/** One walk. It carries what a shell carries: options, functions and the EXIT trap. */
class ShellPaths {
  private errexit = false;
  private pipefail = false;
  /** Inside a condition a failure never ends the shell. */
  private conditionDepth = 0;
  private recursionDepth = 0;
  private exitTrap: string | null = null;
  private readonly functions = new Map<string, SyntaxNode>();

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
    const paths = this.recursionDepth > RECURSION_MAX ? BOTH : this.nodeOf(node, previous);
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
        return this.node(node.command, previous);
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
        return orElseOk(this.list(node.body.commands));
      case 'For':
        return orElseOk(this.list(node.body.commands));
      case 'Function':
        this.functions.set(literalOf(node.name) ?? '', node.body);
        return OK;
      default:
        return BOTH;
    }
  }

  private command(command: Command, previous: ReadonlySet<Outcome>): Paths {
    if (command.name === undefined) return this.assignments(command);
    const words = unwrapWords(wordsOf(command));
    const [program, first] = words;
    const functionBody = typeof program === 'string' ? this.functions.get(program) : undefined;
    // A `return` ends the function only. An `exit` in it is rarer; taking it for a return refuses nothing.
    if (functionBody !== undefined) return this.subshell(() => this.node(functionBody, previous));
    const inner = innerScriptOf(words);
    if (inner !== null) {
      if (inner.text === null) return BOTH;
      const shell = new ShellPaths();
      shell.errexit = inner.hasErrexit;
      shell.pipefail = inner.hasPipefail;
      shell.recursionDepth = this.recursionDepth;
      return { next: shell.finalOutcomes(parse(inner.text).commands), exit: new Set() };
    }
    switch (program) {
      case 'exit':
      case 'return':
        return { next: new Set(), exit: exitOutcomes(first, words.length, previous) };
      case 'eval':
        return this.eval(evalTextOf(words));
      case 'set':
        this.set(words);
        return OK;
      case 'trap':
        if (words.some((word) => word === 'EXIT' || word === '0')) this.exitTrap = first ?? null;
        return OK;
      default:
        return pathsOf(constantStatus(words));
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

  private pipeline({ commands, prefixes }: Pipeline, previous: ReadonlySet<Outcome>): Paths {
    const elements = commands.map((command, index) =>
      this.subshell(() => (index > 0 && isFilter(command) ? OK : this.node(command, previous))),
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
