import { toPrintable } from '@kervyxa/core';
import {
  createScanner,
  findNodeAtLocation,
  parseTree,
  printParseErrorCode,
  visit,
  type Node,
  type ParseErrorCode,
} from 'jsonc-parser';

import { pointerKeys } from './pointer.ts';
import {
  DEPTH_MAX,
  depthError,
  duplicateKeyError,
  textError,
  type ContractText,
  type TextPlace,
} from './text-place.ts';

/** Reads JSON; see `readContractText` for the errors. */
export function readJsonText(text: string): ContractText {
  // The scanner keeps no stack, so the readers behind it, which recurse, never see a deep text.
  assertShallow(text);
  assertStrict(text);
  // Made for whoever asks for a place: most callers don't, and it takes longer than all the rest.
  let root: Node | undefined;
  return {
    document: parseStrict(text),
    locate: (pointer) => {
      root ??= parseTree(text);
      const node = root && nodeAt(root, pointer);
      return node === undefined ? null : placeAt(text, node.offset);
    },
  };
}

function assertShallow(text: string): void {
  const scanner = createScanner(text);
  let depth = 0;
  let offset = 0;
  while (offset < text.length) {
    scanner.scan();
    offset = scanner.getTokenOffset();
    // Only a bracket's own token begins with a bracket.
    const first = text[offset];
    if (first === '{' || first === '[') depth += 1;
    if (first === '}' || first === ']') depth -= 1;
    if (depth > DEPTH_MAX) throw depthError(placeAt(text, offset));
  }
}

function assertStrict(text: string): void {
  const keysOfOpenObjects: Set<string>[] = [];
  visit(
    text,
    {
      onObjectBegin: () => void keysOfOpenObjects.push(new Set()),
      onObjectEnd: () => void keysOfOpenObjects.pop(),
      onObjectProperty: (key, _offset, _length, startLine, startCharacter) => {
        const keys = keysOfOpenObjects.at(-1);
        if (keys?.has(key) === true) {
          throw duplicateKeyError(key, { line: startLine + 1, column: startCharacter + 1 });
        }
        keys?.add(key);
      },
      onError: (error, _offset, _length, startLine, startCharacter) => {
        const place = { line: startLine + 1, column: startCharacter + 1 };
        throw syntaxError(place, toWords(error));
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  );
}

/** The parser's name of the error, as words: `ValueExpected` is what it wanted, `InvalidSymbol` what it found. */
function toWords(error: ParseErrorCode): string {
  const words = printParseErrorCode(error)
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  const wanted = /^(.*) expected$/.exec(words)?.[1];
  return wanted === undefined
    ? `got an ${words}`
    : `got something else where the ${wanted} belongs`;
}

/** The engine's own parser has the last word: it is stricter about blanks than the scanner. */
function parseStrict(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw syntaxError({ line: 1, column: 1 }, `got ${toPrintable(cause.message)}`);
  }
}

function nodeAt(root: Node, pointer: string): Node | undefined {
  let node: Node | undefined = root;
  for (const key of pointerKeys(pointer)) {
    if (node === undefined) return undefined;
    if (node.type !== 'object' && node.type !== 'array') return undefined;
    node = findNodeAtLocation(node, [node.type === 'array' ? Number(key) : key]);
  }
  return node;
}

function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}

function syntaxError(place: TextPlace, got: string) {
  return textError('CONTRACT_TEXT_SYNTAX', place, {
    expectation: `expected JSON, ${got}`,
    fix: 'Correct the JSON at this place; comments and trailing commas are not JSON.',
  });
}
