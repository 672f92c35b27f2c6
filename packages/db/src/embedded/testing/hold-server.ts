import { startEmbedded } from '../start-embedded.ts';

// A program of its own that uses the server of a folder until its input ends: node hold-server.ts FOLDER

const [folder = ''] = process.argv.slice(2);
const embedded = await startEmbedded({ folder, log: () => undefined });
process.stdout.write('ready\n');
process.stdin.resume();
process.stdin.once('end', () => void embedded.stop());
