'use strict';

// Makes a program count its own work: `$kervyxa[0]++` at the start of every function body, loop iteration and branch.
// Between two of those the work is bounded by the length of the text, built-in functions left aside, so no program can
// do more of it without counting more. Runs in a realm of its own: what the program patches does not reach it.

/** Names that only the harness may use: the counter, and the door for generated modules. Both are globals. */
const COUNTER = '$kervyxa';
const TICK = `${COUNTER}[0]++`;

const PARSER = {
  ecmaVersion: 'latest',
  allowHashBang: true,
  // A CommonJS module is the body of a function.
  allowReturnOutsideFunction: true,
};

const LOOPS = new Set([
  'DoWhileStatement',
  'ForInStatement',
  'ForOfStatement',
  'ForStatement',
  'WhileStatement',
]);
const FUNCTIONS = new Set(['ArrowFunctionExpression', 'FunctionDeclaration', 'FunctionExpression']);

/** @param acorn the parser */
function createInstrumenter(acorn) {
  /**
   * @param {string} source
   * @param {'commonjs' | 'module'} kind
   * @returns {string} the same program with the same lines, counting
   * @throws SyntaxError on what acorn can't parse, and on what would hide the counter
   */
  return function instrument(source, kind) {
    const program = parse(acorn, source, kind);
    /** Insertions: `from` is where the thing began that is closed here, so that the inner one closes first. */
    const edits = [];
    const open = (at, text) => edits.push({ at, text, from: Infinity });
    const close = (at, text, from) => edits.push({ at, text, from });
    const edit = {
      /** Counts before a value is computed. */
      value(node) {
        open(node.start, `(${TICK},`);
        close(node.end, ')', node.start);
      },
      /** As `value`, for places that name a function or class that has no name: `f = () => {}`. */
      namingValue(node) {
        if (isNameless(node)) return;
        edit.value(node);
      },
      statement(node) {
        if (node.type === 'BlockStatement') {
          open(node.start + 1, `${TICK};`);
          return;
        }
        open(node.start, `{${TICK};`);
        close(node.end, '}', node.start);
      },
      /** Directives must stay in front. */
      body(statements, start) {
        const directive = statements.findLast((statement) => statement.directive !== undefined);
        if (directive === undefined) open(start, `${TICK};`);
        else open(directive.end, `;${TICK};`);
      },
    };
    edit.body(program.body, program.body[0]?.start ?? source.length);
    walk(program, (node) => visit(node, edit, source));
    return insert(source, edits);
  };
}

function parse(acorn, source, kind) {
  const sourceType = kind === 'module' ? 'module' : 'script';
  return acorn.parse(source, { ...PARSER, sourceType });
}

function visit(node, edit, source) {
  if (FUNCTIONS.has(node.type)) {
    if (node.body.type === 'BlockStatement') edit.body(node.body.body, node.body.start + 1);
    else edit.value(node.body);
    return;
  }
  if (LOOPS.has(node.type)) {
    edit.statement(node.body);
    return;
  }
  switch (node.type) {
    case 'IfStatement':
      edit.statement(node.consequent);
      if (node.alternate !== null) edit.statement(node.alternate);
      return;
    case 'ConditionalExpression':
      edit.value(node.consequent);
      edit.value(node.alternate);
      return;
    case 'LogicalExpression':
      edit.value(node.right);
      return;
    case 'AssignmentExpression':
      if (['&&=', '||=', '??='].includes(node.operator)) edit.namingValue(node.right);
      return;
    case 'AssignmentPattern':
      edit.namingValue(node.right);
      return;
    case 'ObjectPattern':
      // In parameters they run before the body does, or without it: a generator's, a call that throws.
      for (const { computed, key } of node.properties) if (computed) edit.value(key);
      return;
    case 'SwitchCase':
    case 'StaticBlock': {
      const [first] = node.consequent ?? node.body;
      if (first !== undefined) edit.body([], first.start);
      return;
    }
    case 'CatchClause':
      edit.statement(node.body);
      return;
    case 'ClassDeclaration':
    case 'ClassExpression':
      if (node.superClass !== null) edit.value(node.superClass);
      return;
    case 'PropertyDefinition':
      if (node.value !== null) edit.namingValue(node.value);
      if (node.computed) edit.value(node.key);
      return;
    case 'MethodDefinition':
      if (node.computed) edit.value(node.key);
      return;
    case 'WithStatement':
      throw refusal(source, node, 'a with statement');
    case 'Identifier':
      if (node.name.startsWith(COUNTER)) throw refusal(source, node, `the name ${node.name}`);
      return;
  }
}

function isNameless(node) {
  return (FUNCTIONS.has(node.type) || node.type === 'ClassExpression') && !node.id;
}

function refusal(source, node, what) {
  const line = source.slice(0, node.start).split('\n').length;
  return new SyntaxError(`expected a program without ${what}, got one in line ${line}`);
}

/** Every node below, without recursion: programs nest deeper than the stack is high. */
function walk(root, onNode) {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    onNode(node);
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type === 'string') waiting.push(child);
      }
    }
  }
}

function insert(source, edits) {
  edits.sort((a, b) => a.at - b.at || order(b.from) - order(a.from));
  let at = 0;
  const pieces = [];
  for (const edit of edits) {
    pieces.push(source.slice(at, edit.at), edit.text);
    at = edit.at;
  }
  return pieces.join('') + source.slice(at);
}

/** What closes comes before what opens in the same place, the inner one first. */
function order(from) {
  return from === Infinity ? -1 : from;
}

module.exports = { COUNTER, createInstrumenter };
