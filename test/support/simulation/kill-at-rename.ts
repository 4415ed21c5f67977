/**
 * Loaded into an apply before anything else (`node --import`): counts the files that it replaces, and kills the process
 * by SIGKILL at the one that it was told, just before the new file takes its place or just after. Every write of ledger,
 * lock and history is such a replacement.
 */
import { appendFileSync, promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [at, when] = (process.env['KILL_AT_RENAME'] ?? '0:never').split(':');
const { rename } = promises;
let count = 0;

promises.rename = async (from, to) => {
  count += 1;
  const isIt = count === Number(at);
  if (isIt && when === 'before') process.kill(process.pid, 'SIGKILL');
  await rename(from, to);
  if (isIt && when === 'after') process.kill(process.pid, 'SIGKILL');
  const log = process.env['LOG_RENAMES'];
  if (log !== undefined) appendFileSync(log, `${String(to)}\n`);
};
syncBuiltinESMExports();
