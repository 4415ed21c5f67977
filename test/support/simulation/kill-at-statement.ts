/**
 * Loaded into a server with `node --import`: kills the process by SIGKILL at one statement of the transaction that writes the
 * given description. Statements are counted from that write on, and the end of the transaction counts as one. With 0 the process
 * dies just before the description is written.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';

const at = Number(process.env['KILL_AT_STATEMENT'] ?? Number.NaN);
const marked = process.env['KILL_AT_DESCRIPTION'] ?? '';

let since: number | undefined;

function step(): void {
  if (since === undefined) return;
  if (since === at) process.kill(process.pid, 'SIGKILL');
  since += 1;
}

const { run } = StatementSync.prototype;
StatementSync.prototype.run = function (this: StatementSync, ...given: Parameters<typeof run>) {
  const [parameters] = given as unknown as [{ readonly description?: unknown } | undefined];
  if (since === undefined && parameters?.description === marked) since = 0;
  step();
  return run.apply(this, given);
} as typeof run;

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
  const isEnd = sql === 'COMMIT' || sql === 'ROLLBACK';
  if (isEnd) step();
  exec.call(this, sql);
  // And just after the end, before the response is sent.
  if (isEnd) step();
};
