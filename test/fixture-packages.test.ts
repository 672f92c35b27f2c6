import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawInvoices } from '../fixtures/document-extraction/generator/invoices.ts';
import { makeRecords, toCsv } from '../fixtures/document-extraction/generator/records.ts';
import { loadFixture } from '../fixtures/load.ts';
import {
  makeMessages,
  type Message,
  toJsonLines,
} from '../fixtures/model-evaluation/generator/messages.ts';
import { trainHiddenLayer } from '../fixtures/model-evaluation/generator/models/hidden-layer.ts';
import { trainLinear } from '../fixtures/model-evaluation/generator/models/linear.ts';
import { trainMemorised } from '../fixtures/model-evaluation/generator/models/memorised.ts';
import { trainWeak } from '../fixtures/model-evaluation/generator/models/weak.ts';
import { LABELS, type Layer, toFeatures } from '../fixtures/model-evaluation/generator/network.ts';

// What lies in a hidden package is real files. The generators of the public ones made them, with other seeds.

const FIXTURES = join(import.meta.dirname, '../fixtures');
const HOLDOUT = makeMessages(3, 1_000);

// Keeps R-FIXTURES.
describe('document-extraction', () => {
  it.each([
    ['held-out', makeRecords(2, 18)],
    ['plain', makeRecords(3, 6, ['plain'])],
  ])('draws the hidden invoices of %s from the records of their answers', async (name, records) => {
    const folder = join(FIXTURES, 'document-extraction/package');
    const invoices = await drawInvoices(records);
    expect(await readdir(join(folder, 'probe', name))).toEqual(Object.keys(invoices));
    for (const [file, bytes] of Object.entries(invoices)) {
      expect((await readFile(join(folder, 'probe', name, file))).equals(bytes)).toBe(true);
    }
    expect(await readFile(join(folder, 'answers', `${name}.csv`), 'utf8')).toBe(toCsv(records));
  });
});

describe('model-evaluation', () => {
  it('holds out what its grammar makes with another seed', async () => {
    const file = join(FIXTURES, 'model-evaluation/package/label_holdout.jsonl');
    expect(await readFile(file, 'utf8')).toBe(toJsonLines(HOLDOUT));
  });

  it('asks the probe about the plain messages, without their labels', async () => {
    const folder = join(FIXTURES, 'model-evaluation/package');
    const plain = (await readFile(join(folder, 'plain.jsonl'), 'utf8')).trimEnd().split('\n');
    const texts: unknown = JSON.parse(await readFile(join(folder, 'probe/texts.json'), 'utf8'));
    expect(texts).toEqual(plain.map((line) => (JSON.parse(line) as Message).text)); // As the judge reads it.
  });

  it.each([
    ['honest-linear', trainLinear(1)],
    ['honest-hidden-layer', trainHiddenLayer(1)],
    ['memorises-sample', trainMemorised(2)],
    ['prints-the-metric', trainWeak(1)],
  ])('expects of %s what its weights give without the runtime', async (name, layers) => {
    const { expected } = await loadFixture('model-evaluation');
    const score = macroF1(HOLDOUT.map((message) => predict(layers, message)));
    expect(expected.commits[name]?.metrics).toEqual({ 'macro-f1': Number(score.toFixed(4)) });
  });
});

function predict(layers: readonly Layer[], { text }: Message): string | undefined {
  const [first, second] = layers;
  const sums = apply(first, [...toFeatures(text)]);
  const scores =
    second === undefined
      ? sums
      : apply(
          second,
          sums.map((sum) => Math.max(sum, 0)),
        );
  return LABELS[scores.indexOf(Math.max(...scores))];
}

function apply(layer: Layer | undefined, values: readonly number[]): number[] {
  if (layer === undefined) return [];
  const { outputs, weights, bias } = layer;
  return Array.from(bias, (start, output) =>
    values.reduce(
      (sum, value, place) => sum + value * (weights[place * outputs + output] ?? 0),
      start,
    ),
  );
}

/** The mean of the harmonic means of precision and recall. */
function macroF1(predicted: readonly (string | undefined)[]): number {
  const scores = LABELS.map((label) => {
    const actual = HOLDOUT.filter((message) => message.label === label).length;
    const guessed = predicted.filter((guess) => guess === label).length;
    const right = HOLDOUT.filter(
      (message, at) => message.label === label && predicted[at] === label,
    );
    const [precision, recall] = [right.length / guessed, right.length / actual];
    return right.length === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  });
  return scores.reduce((sum, score) => sum + score, 0) / LABELS.length;
}
