// Writes docs/schemas/verifier-contract.schema.json anew, for prettier to put in form; a test holds it against the code.
import { writeFileSync } from 'node:fs';
import { VERIFIER_CONTRACT_JSON_SCHEMA } from '../src/contract/json-schema.ts';

const FILE = new URL('../../../docs/schemas/verifier-contract.schema.json', import.meta.url);

writeFileSync(FILE, `${JSON.stringify(VERIFIER_CONTRACT_JSON_SCHEMA, null, 2)}\n`);
