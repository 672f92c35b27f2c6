import { describe, expect, it } from 'vitest';

import { setJsonMembers } from './edit-json.ts';

describe('setJsonMembers', () => {
  it('changes values and nothing around them', () => {
    const text = '{ "b" :1,\r\n\t"a": [ {"x": "old" , "y":2} ]}\n';
    const changed = setJsonMembers(text, [{ path: ['a', 0], key: 'x', value: 'new' }]);
    expect(changed).toBe('{ "b" :1,\r\n\t"a": [ {"x": "new" , "y":2} ]}\n');
  });

  it('adds members at the end of their object, with the indent that the others have', () => {
    const text = '{\n  "files": [\n    {\n      "name": "a"\n    },\n    { "name": "b" }\n  ]\n}\n';
    const changed = setJsonMembers(text, [
      { path: ['files', 0], key: 'hash', value: 'h' },
      { path: ['files', 0], key: 'size', value: 1 },
      { path: ['files', 1], key: 'size', value: 2 },
    ]);
    expect(changed).toBe(
      '{\n  "files": [\n    {\n      "name": "a",\n      "hash": "h",\n      "size": 1\n    },\n    { "name": "b", "size": 2 }\n  ]\n}\n',
    );
  });

  it('keeps JSON that is on one line on it', () => {
    expect(setJsonMembers('{"a":1}', [{ path: [], key: 'b', value: null }])).toBe(
      '{"a":1, "b": null}',
    );
  });

  it('writes text as JSON has it', () => {
    expect(setJsonMembers('{"a":1}', [{ path: [], key: 'a', value: 'q"\n' }])).toBe(
      '{"a":"q\\"\\n"}',
    );
  });

  it('throws where the object is not there', () => {
    expect(() => setJsonMembers('{"a":1}', [{ path: ['a'], key: 'b', value: 1 }])).toThrow(
      TypeError,
    );
  });
});
