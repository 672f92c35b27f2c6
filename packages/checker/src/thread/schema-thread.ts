import { parentPort, workerData } from 'node:worker_threads';
import { validate } from './validate.ts';

// The clock of the check starts when all this is loaded, however busy the machine is.
parentPort?.postMessage('ready', []);
parentPort?.postMessage(validate(workerData.schemaText, workerData.valueText), []);
