import { readdir, readFile } from 'node:fs/promises';

/** Ids of the processes of this machine that were started on repositories below a folder. */
export async function gitProcessesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.includes(`GIT_DIR=${folder}`)) found.push(pid);
  }
  return found;
}
