/**
 * A real PostgreSQL server for one test file, from the binaries of the system: a cluster in a temporary directory that listens
 * only on a unix socket, and is removed afterwards. PostgreSQL refuses to run as root, so root runs it as the user `postgres`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../rig/temporary-folder.ts';

export interface PostgresServer {
  /** creates a database. @returns its URL */
  newDatabase(): string;
  /** of a new database with the content of the one with this URL, to which nothing is connected */
  copyDatabase(url: string): string;
  /** the URL of the same database for another user */
  urlFor(url: string, user: string): string;
  /** runs SQL in the database of this URL, as its owner */
  run(url: string, sql: string): string;
  restart(): void;
  /** stops the server immediately, until `start` */
  halt(): void;
  start(): void;
  stop(): void;
}

/** The directory of the binaries, such as `initdb`; undefined if PostgreSQL is not installed. */
export function findPostgres(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

/** Whether tests fail if PostgreSQL is missing, instead of being skipped. */
export const postgresIsRequired = process.env['TRUEUP_REQUIRE_POSTGRES'] === '1';

function account(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const ask = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: ask('-u'), gid: ask('-g') };
}

type Run = (program: string, args: readonly string[]) => string;

/** Runs programs as the user of the server. */
function runIn(directory: string, bin: string): Run {
  const user = account();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  return (program, args) => {
    // The server inherits stdout of pg_ctl, and a pipe would stay open.
    const stdout = program === 'pg_ctl' ? 'ignore' : 'pipe';
    const ran = spawnSync(program === 'cp' ? program : join(bin, program), [...args], {
      cwd: directory,
      ...user,
      stdio: ['ignore', stdout, 'pipe'],
      encoding: 'utf8',
    });
    if (ran.status !== 0)
      throw new Error(`${program} ${args.join(' ')}: ${ran.error?.message ?? ran.stderr}`);
    return ran.stdout ?? '';
  };
}

/** A cluster that was never started: to copy it takes a tenth of the time of a new one. */
let template: string | undefined;

function makeTemplate(bin: string): string {
  const folder = mkdtempSync(join(process.env['TRUEUP_TEST_TEMPLATES'] ?? tmpdir(), 'postgres-'));
  const data = join(folder, 'data');
  runIn(folder, bin)('initdb', ['-D', data, '-A', 'trust', '-U', 'test', '--no-sync', '-E', 'UTF8']);
  return data;
}

export function startPostgres(bin: string): PostgresServer {
  const directory = makeFolder();
  const run = runIn(directory, bin);
  const data = join(directory, 'data');
  template ??= makeTemplate(bin);
  run('cp', ['-a', template, data]);
  const options = `-c listen_addresses='' -k ${directory} -c fsync=off`;
  const start = () => run('pg_ctl', ['start', '-D', data, '-w', '-l', join(directory, 'log'), '-o', options]);
  const halt = () => run('pg_ctl', ['stop', '-D', data, '-m', 'immediate']);
  start();
  const psql = (database: string, sql: string) =>
    run('psql', [
      '-h',
      directory,
      '-U',
      'test',
      '-d',
      database,
      '-v',
      'ON_ERROR_STOP=1',
      '-At',
      '-c',
      sql,
    ]).trim();
  const databaseOf = (url: string) => new URL(url).pathname.slice(1);
  let databases = 0;
  const create = (more = '') => {
    databases += 1;
    psql('postgres', `create database d${databases}${more}`);
    return `postgres://test@localhost/d${databases}?host=${encodeURIComponent(directory)}`;
  };
  return {
    newDatabase: () => create(),
    copyDatabase: (url) => create(` template ${databaseOf(url)}`),
    urlFor: (url, name) => url.replace('test@', `${name}@`),
    run: (url, sql) => psql(databaseOf(url), sql),
    restart: () => {
      halt();
      start();
    },
    halt: () => void halt(),
    start: () => void start(),
    stop: () => {
      halt();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
