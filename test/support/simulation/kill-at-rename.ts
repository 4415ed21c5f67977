/**
 * Loaded into an apply with `node --import`: counts the renames of files, and kills the process by SIGKILL just before or just
 * after the one with the given number. Every write of ledger, lock and history is such a rename.
 */
import { appendFileSync, promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [at, when] = (process.env['KILL_AT_RENAME'] ?? '0:never').split(':');
const { rename } = promises;
let count = 0;

promises.rename = async (from, to) => {
  count += 1;
  const isChosen = count === Number(at);
  if (isChosen && when === 'before') process.kill(process.pid, 'SIGKILL');
  await rename(from, to);
  if (isChosen && when === 'after') process.kill(process.pid, 'SIGKILL');
  const log = process.env['LOG_RENAMES'];
  if (log !== undefined) appendFileSync(log, `${String(to)}\n`);
};
syncBuiltinESMExports();
