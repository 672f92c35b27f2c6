import { toPrintable } from '@kervyxa/core';
import {
  Composer,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
  visit,
  type CST,
  type Document,
} from 'yaml';

import { pointerKeys } from './pointer.ts';
import {
  DEPTH_MAX,
  depthError,
  duplicateKeyError,
  textError,
  type ContractText,
  type TextPlace,
} from './text-place.ts';

/** Reads the JSON-like part of YAML; see `readContractText` for the errors. */
export function readYamlText(text: string): ContractText {
  const lines = new LineCounter();
  const placeAt = (offset: number): TextPlace => {
    const { line, col } = lines.linePos(offset);
    // The counter answers line 0 for an empty text.
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = composeOne(parseShallow(text, lines, placeAt), text.length, placeAt);
  assertSyntax(document, placeAt);
  assertJsonValues(document, placeAt);
  return {
    document: document.toJS(),
    locate: (pointer) => {
      const node = document.getIn(pointerKeys(pointer), true);
      return isNode(node) && node.range ? placeAt(node.range[0]) : null;
    },
  };
}

/** The parser keeps its own stack, one entry a level and a little more; the composer behind it recurses. */
function parseShallow(
  text: string,
  lines: LineCounter,
  placeAt: (offset: number) => TextPlace,
): CST.Token[] {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > DEPTH_MAX + 2) throw depthError(placeAt(parser.offset));
  }
  tokens.push(...parser.end());
  return tokens;
}

function composeOne(
  tokens: CST.Token[],
  length: number,
  placeAt: (offset: number) => TextPlace,
): Document.Parsed {
  // The core schema has no dates, and without merge keys `<<` is an unknown key like any other.
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
  });
  const [first, second] = [...composer.compose(tokens, true, length)];
  if (second !== undefined) {
    throw notJson(placeAt(second.range[0]), 'expected one document, got a second');
  }
  if (first === undefined) throw syntaxError(placeAt(0), 'nothing');
  return first;
}

function assertSyntax(document: Document.Parsed, placeAt: (offset: number) => TextPlace): void {
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw syntaxError(placeAt(problem.pos[0]), problem.message);
}

function assertJsonValues(document: Document.Parsed, placeAt: (offset: number) => TextPlace): void {
  visit(document, {
    Alias: (_key, node) => {
      throw notJson(placeAt(node.range?.[0] ?? 0), 'expected a value, got an alias');
    },
    Node: (_key, node) => {
      const place = placeAt(node.range?.[0] ?? 0);
      if ('anchor' in node && node.anchor !== undefined) {
        throw notJson(place, 'expected a value, got an anchor');
      }
      if (node.tag !== undefined) throw notJson(place, 'expected a value, got a tag');
      if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value)) {
        throw notJson(place, 'expected a finite number');
      }
      if (isMap(node)) assertKeys(node.items, placeAt);
    },
  });
}

function assertKeys(
  pairs: readonly { key: unknown }[],
  placeAt: (offset: number) => TextPlace,
): void {
  const seen = new Set<string>();
  for (const { key } of pairs) {
    const place = placeAt(isNode(key) && key.range ? key.range[0] : 0);
    if (!isScalar(key) || typeof key.value !== 'string') {
      throw notJson(place, 'expected a text as key');
    }
    if (seen.has(key.value)) throw duplicateKeyError(key.value, place);
    seen.add(key.value);
  }
}

function notJson(place: TextPlace, expectation: string) {
  return textError('CONTRACT_VALUE_NOT_JSON', place, {
    expectation,
    fix: 'Write it as JSON could: one document, quoted keys where in doubt, no &, *, !, .inf or .nan.',
  });
}

function syntaxError(place: TextPlace, got: string) {
  // The library's message goes on with a drawing of the place.
  const [firstLine = ''] = got.split('\n');
  return textError('CONTRACT_TEXT_SYNTAX', place, {
    expectation: `expected YAML, got ${toPrintable(firstLine)}`,
    fix: 'Correct the YAML at this place; tabs do not indent.',
  });
}
