import { toPrintable } from '@kervyxa/core';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to put into a page; only `html` and `raw` make it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | readonly Html[];

/** A template whose values are made printable and escaped, unless they are markup themselves. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const text = parts.reduce((made, part, index) => made + toMarkup(values[index - 1] ?? '') + part);
  return new Html(text);
}

/** Text of many lines, for a `pre`. */
export function lines(text: string): Html {
  return new Html(text.split('\n').map(toMarkup).join('\n'));
}

function toMarkup(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return toPrintable(String(value), Infinity).replace(/[&<>"']/g, (one) => ENTITIES[one] ?? '');
}
