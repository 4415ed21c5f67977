/**
 * Loaded into a command before anything else (`node --import`): counts what it writes to ledgers in each place, and kills the process
 * by SIGKILL at one of these writes, just before or just after it. Counted are files that are replaced or removed, pushes of git,
 * and statements that change tables of PostgreSQL.
 */
import childProcess from 'node:child_process';
import { appendFileSync, promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

const [at, when] = (process.env['KILL_AT_WRITE'] ?? '0:never').split(':');
let count = 0;

const kill = () => process.kill(process.pid, 'SIGKILL');

/** @returns whether the process dies after this write */
function begin(what: string): boolean {
  count += 1;
  const log = process.env['LOG_WRITES'];
  if (log !== undefined) appendFileSync(log, `${what}\n`);
  const isIt = count === Number(at);
  if (isIt && when === 'before') kill();
  return isIt && when === 'after';
}

const { rename, rm } = promises;
promises.rename = async (from, to) => {
  // The objects of git in a temporary folder are no ledger before they are pushed.
  const isLast = !String(to).includes('/trueup-git-') && begin(`rename ${String(to)}`);
  await rename(from, to);
  if (isLast) kill();
};
promises.rm = async (path, options) => {
  const isLast = /\.(lock|json)$/.test(String(path)) && begin(`rm ${String(path)}`);
  await rm(path, options);
  if (isLast) kill();
};

const { spawn } = childProcess;
childProcess.spawn = ((command: string, args: readonly string[], options: object) => {
  const isLast = args.includes('push') && begin('git push');
  const child = spawn(command, args, options);
  if (isLast) child.once('exit', kill);
  return child;
}) as typeof spawn;

const { write } = Socket.prototype;
Socket.prototype.write = function (this: Socket, ...given: Parameters<typeof write>) {
  const [data] = given as readonly unknown[];
  const text = data instanceof Uint8Array ? Buffer.from(data).toString('latin1') : '';
  const [, statement] =
    /((?:insert into|update|delete from) trueup\.(?:ledgers|locks|history))/.exec(text) ?? [];
  if (statement !== undefined && begin(statement)) this.once('data', kill);
  return write.apply(this, given);
} as typeof write;
syncBuiltinESMExports();
