/**
 * Loaded into a command with `node --import`: counts the writes to ledgers in all stores, and kills the process by SIGKILL just before
 * or just after one of them. Writes are files that are replaced or removed, pushes of git, and statements that change tables of
 * PostgreSQL.
 */
import childProcess from 'node:child_process';
import { appendFileSync, promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

const [at, when] = (process.env['KILL_AT_WRITE'] ?? '0:never').split(':');
let count = 0;

const kill = () => process.kill(process.pid, 'SIGKILL');

/** @returns whether the process dies after this write */
function startWrite(what: string): boolean {
  count += 1;
  const log = process.env['LOG_WRITES'];
  if (log !== undefined) appendFileSync(log, `${what}\n`);
  const isChosen = count === Number(at);
  if (isChosen && when === 'before') kill();
  return isChosen && when === 'after';
}

const { rename, rm } = promises;
promises.rename = async (from, to) => {
  // Git objects in a temporary folder are not part of a ledger before they are pushed.
  const diesAfterwards = !String(to).includes('/trueup-git-') && startWrite(`rename ${String(to)}`);
  await rename(from, to);
  if (diesAfterwards) kill();
};
promises.rm = async (path, options) => {
  const diesAfterwards = /\.(lock|json)$/.test(String(path)) && startWrite(`rm ${String(path)}`);
  await rm(path, options);
  if (diesAfterwards) kill();
};

const { spawn } = childProcess;
childProcess.spawn = ((command: string, args: readonly string[], options: object) => {
  const diesAfterwards = args.includes('push') && startWrite('git push');
  const child = spawn(command, args, options);
  if (diesAfterwards) child.once('exit', kill);
  return child;
}) as typeof spawn;

const { write } = Socket.prototype;
Socket.prototype.write = function (this: Socket, ...given: Parameters<typeof write>) {
  const [data] = given as readonly unknown[];
  const text = data instanceof Uint8Array ? Buffer.from(data).toString('latin1') : '';
  const [, statement] =
    /((?:insert into|update|delete from) trueup\.(?:ledgers|locks|history))/.exec(text) ?? [];
  if (statement !== undefined && startWrite(statement)) this.once('data', kill);
  return write.apply(this, given);
} as typeof write;
syncBuiltinESMExports();
