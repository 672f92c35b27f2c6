import { Sha256HexSchema } from '@kervyxa/core';
import { z } from 'zod';
import { ViewSchema } from '../attestation/statement.ts';

export const MANIFEST = 'bundle.json';
export const ATTESTATION = 'attestation.json';
export const KEY = 'key.pem';
/** Texts that every bundle has, after the three above, which nothing but the signature can bind. */
export const TEXTS = ['contract.json', 'result.json', 'evaluation.json', 'run.json'] as const;
export type TextName = (typeof TEXTS)[number];

/** Archives, in the order in which they follow; then `checkers/<sha256>.tar`, sorted. */
export const BASE_CAPTURE = 'base.bundle';
export const SOURCE_CAPTURE = 'source.bundle';
export const DEPENDENCIES = 'dependencies.tar';
export const PACKAGE = 'package.tar';
export function checkerPath(sha256: string): string {
  return `checkers/${sha256}.tar`;
}

const PathSchema = z.union([
  z.enum([...TEXTS, BASE_CAPTURE, SOURCE_CAPTURE, PACKAGE, DEPENDENCIES]),
  z.string().regex(/^checkers\/[0-9a-f]{64}\.tar$/),
]);

/** `bundle.json`: what else is in the bundle, in order, and what the contract calls for besides. */
export const ManifestSchema = z.strictObject({
  schema: z.literal('kervyxa.evidence.v1'),
  view: ViewSchema,
  files: z
    .array(z.strictObject({ path: PathSchema, sha256: Sha256HexSchema, size: z.int().min(0) }))
    .max(128),
  /**
   * Archives that the contract calls for and that were not at hand when the evidence was made: never fetched, not given,
   * or too large to capture.
   */
  absent: z.array(PathSchema).max(128),
});
export type Manifest = z.infer<typeof ManifestSchema>;
export type FileRef = Manifest['files'][number];

/** The archives that a `bundle.json` lists, in their order. Throws a ZodError for any other text. */
export function listedBlobs(manifest: string): readonly FileRef[] {
  return ManifestSchema.parse(JSON.parse(manifest)).files.slice(TEXTS.length);
}
