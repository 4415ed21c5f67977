/**
 * Opens the targets of a stack: URL, dialect, token and certificate put together into connections. A plan's connections
 * are of a type that cannot write; only apply asks for the other one.
 */
import { resolve } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-regular.ts';
import { findDialect } from '../../http/dialects.ts';
import {
  openReader,
  openTarget,
  type ReaderConnection,
  type TargetConnection,
  type TargetOptions,
} from '../../http/open-target.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { Dialect, Stack, Target } from '../../model/stack/target.ts';
import { openSession } from '../../services/open-session.ts';
import type { Deadline } from '../stop/deadline.ts';
import { type Embedded, openEmbedded } from './embedded-service.ts';
import { readSecret, SecretError } from './read-secret.ts';
import type { CliHost } from '../cli-host.ts';

export interface Connected<C extends ReaderConnection = ReaderConnection> {
  readonly targets: readonly ConnectedTarget<C>[];
  close(): Promise<void>;
}

export interface ConnectedTarget<C extends ReaderConnection = ReaderConnection> {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly connection: C;
  /** with an empty memory: what is read through it is read afresh */
  openSession(): Session;
}

/** What ends the connections of a run. */
export interface ConnectionEnds {
  /** nothing is waited for beyond it */
  readonly deadline: Pick<Deadline, 'until'>;
  /** once aborted, what waits is given up and what is in flight is broken off */
  readonly signal: AbortSignal;
}

/** For plans. @throws SecretError when a token cannot be read */
export function connectToRead(stack: Stack, host: CliHost, ends: ConnectionEnds): Promise<Connected> {
  return connect(stack, host, { ...ends, open: openReader });
}

/** For apply. @throws SecretError when a token cannot be read */
export function connectToWrite(
  stack: Stack,
  host: CliHost,
  ends: ConnectionEnds,
): Promise<Connected<TargetConnection>> {
  return connect(stack, host, { ...ends, open: openTarget });
}

async function connect<C extends ReaderConnection>(
  stack: Stack,
  host: CliHost,
  { deadline, signal, open }: ConnectionEnds & { readonly open: (options: TargetOptions) => C },
): Promise<Connected<C>> {
  const embedded = stack.targets.some(({ url }) => url === 'embedded')
    ? await openEmbedded(stack, host)
    : undefined;
  const targets: ConnectedTarget<C>[] = [];
  const close = async () => {
    await Promise.all(targets.map(({ connection }) => connection.close()));
    await embedded?.close();
  };
  try {
    for (const target of stack.targets) {
      const { dialect, options } = await optionsOf(target, { stack, host, embedded });
      const connection = open({ ...options, until: deadline.until, signal });
      const session = { target, dialect, stack: stack.name, reader: connection.reader };
      targets.push({ target, dialect, connection, openSession: () => openSession(session) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { targets, close };
}

interface ConnectContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly embedded: Embedded | undefined;
}

async function optionsOf(
  target: Target,
  around: ConnectContext,
): Promise<{ dialect: Dialect; options: TargetOptions }> {
  const { stack, host, embedded } = around;
  const dialect = findDialect(target.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect} for ${target.service}`);
  const options: TargetOptions = {
    target,
    url: target.url === 'embedded' ? (embedded?.url ?? '') : target.url,
    dialect,
    token: await tokenOf(target, around),
    ...(target.caCert === undefined ? {} : { caCert: await readCertificate(stack, target.caCert.file) }),
    env: host.env,
    secrets: host.secrets,
    ...(host.retryPolicy === undefined ? {} : { retryPolicy: host.retryPolicy }),
    onWait: (says) => host.stderr.write(`${says}\n`),
    userAgent: `trueup/${host.version}`,
  };
  return { dialect, options };
}

async function tokenOf(
  target: Target,
  { stack, host, embedded }: ConnectContext,
): Promise<TargetOptions['token']> {
  const { token } = target;
  if (token === undefined) {
    if (embedded === undefined || target.url !== 'embedded') {
      throw new SecretError(
        `target "${target.name}" has no token: add "token: { env: NAME }" to it in ${stack.file}`,
      );
    }
    const own = target.service === 'workspaces' ? embedded.ownerToken : embedded.serviceToken;
    return async () => own;
  }
  const place = { env: host.env, directory: stack.directory };
  if ('login' in token) {
    const { mount, role, jwt } = token.login;
    const what = `the JWT that target "${target.name}" logs in with`;
    return { login: { mount, role, jwt: () => readSecret(jwt, place, what) } };
  }
  const value = host.secrets.keep(await readSecret(token, place, `the token of target "${target.name}"`));
  return async () => value;
}

function readCertificate(stack: Stack, file: string): Promise<string> {
  return readRegularText(resolve(stack.directory, file), 4 * megabyte).catch((error: Error) => {
    throw new SecretError(`the certificate "${file}" cannot be read: ${error.message}`, { cause: error });
  });
}
