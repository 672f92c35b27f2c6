/** Whether a text is JSON by RFC 8259, with no key twice in one object and no more levels than given. */
export function isStrictJson(text: string, depthMax: number): boolean {
  let at = 0;
  const next = (pattern: RegExp): string | null => {
    const [found] = text.slice(at).match(pattern) ?? [];
    if (found === undefined) return null;
    at += found.length;
    return found;
  };
  const blanks = (): string | null => next(/^[ \t\n\r]*/);
  const string = (): string | null =>
    // eslint-disable-next-line no-control-regex
    next(/^"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/);
  const value = (depth: number): boolean => {
    blanks();
    const isRead =
      next(/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/) !== null ||
      string() !== null ||
      container(depth + 1);
    blanks();
    return isRead;
  };
  const container = (depth: number): boolean => {
    const open = next(/^[[{]/);
    if (open === null || depth > depthMax) return false;
    const close = open === '{' ? /^\}/ : /^\]/;
    blanks();
    if (next(close) !== null) return true;
    const keys = new Set<string>();
    do {
      if (open === '{' && !member(keys)) return false;
      if (!value(depth)) return false;
    } while (next(/^,/) !== null);
    return next(close) !== null;
  };
  const member = (keys: Set<string>): boolean => {
    blanks();
    const key = string();
    blanks();
    if (key === null || next(/^:/) === null) return false;
    const name: string = JSON.parse(key);
    if (keys.has(name)) return false;
    keys.add(name);
    return true;
  };
  return value(0) && at === text.length;
}

/** A JSON value with its keys in order of their UTF-16 units and without a blank, as RFC 8785 has it. */
export function writeCanonically(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeCanonically).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((key) => `${JSON.stringify(key)}:${writeCanonically(Reflect.get(value, key))}`);
  return `{${members.join(',')}}`;
}
