/**
 * Opens connections to the targets of a stack and to their audit trails, with URL, dialect, token and certificate. A plan gets
 * connections that cannot write, and a trail has a token that is used for nothing else.
 */
import { resolve } from 'node:path';
import { mountName } from '../api/cluster-auth-mount.ts';
import { findDialect } from '../api/dialects.ts';
import {
  type AuditConnection,
  openAuditTrail,
  openReader,
  openTarget,
  type ReaderConnection,
  type TargetConnection,
  type TargetOptions,
} from '../api/open-target.ts';
import { openProbe, type ProbeConnection } from '../api/probe-target.ts';
import { openSession } from '../api/read-live.ts';
import type { ConnectionOptions } from '../api/transport/connection.ts';
import type { RetryPolicy } from '../api/transport/retry.ts';
import { openTrial, type TrialConnection } from '../api/try-login.ts';
import { megabyte, readRegularText } from '../files/read-file.ts';
import type { ServiceLack, Session } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import type { Dialect, Stack, Target } from '../model/stack.ts';
import type { Deadline } from './stop-signals.ts';
import { type Embedded, openEmbedded } from './embedded-service.ts';
import { refuseForFleet, reportingUser, reportUser, sharedRateOf } from './fleet-process.ts';
import type { CliHost } from './host.ts';
import { requestJobJwt } from './code-host.ts';
import { readSecret, secretStop, sourceToShow } from './read-secret.ts';

export interface Connected<C extends ReaderConnection = ReaderConnection> {
  readonly targets: readonly ConnectedTarget<C>[];
  /** the embedded service, if it serves a target */
  readonly embedded?: Embedded;
  close(): Promise<void>;
}

export interface ConnectedTarget<C extends ReaderConnection = ReaderConnection> {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly connection: C;
  /** Opens a session with empty caches, so that everything is read again. */
  openSession(): Session;
}

/** What limits the connections of a run. */
export interface ConnectionLimits {
  /** no wait lasts longer */
  readonly deadline: Pick<Deadline, 'until'>;
  /** aborts all waits and all requests in flight */
  readonly runEnded: AbortSignal;
  /** also aborts what may continue after that end, such as a login in flight */
  readonly abandonWaits: AbortSignal;
}

/** Connects for a plan. @throws CommandStop when a token cannot be read */
export function connectToRead(stack: Stack, host: CliHost, limits: ConnectionLimits): Promise<Connected> {
  return connect(stack, host, { ...limits, open: openReader, onlyReads: true });
}

/**
 * Connects for an apply.
 * @param limits.onlyReads whether this run writes nothing: then it logs in as `readRole`
 * @throws CommandStop when a token cannot be read
 */
export function connectToWrite(
  stack: Stack,
  host: CliHost,
  limits: ConnectionLimits & { readonly onlyReads?: boolean },
): Promise<Connected<TargetConnection>> {
  return connect(stack, host, { ...limits, open: openTarget });
}

/** The target with the login of a run that only reads. */
export function asReader(target: Target): Target {
  const { token } = target;
  if (token === undefined || !('login' in token) || token.login.readRole === undefined) return target;
  return { ...target, token: { login: { ...token.login, role: token.login.readRole } } };
}

/** Connects to try a login at the mount of a target. The target's own token is neither read nor sent. */
export async function connectToTry(
  stack: Stack,
  target: Target,
  host: CliHost,
  { deadline, runEnded: signal, abandonWaits }: ConnectionLimits,
): Promise<TrialConnection> {
  const embedded =
    target.url === 'embedded' ? await openEmbedded({ ...stack, targets: [target] }, host) : undefined;
  const { dialect, options } = await placeOf(target, { stack, host, embedded });
  const trial = openTrial(
    { ...options, until: deadline.until, signal, abandonWaits },
    mountName(target, dialect),
  );
  const close = async () => {
    await trial.close();
    await embedded?.close();
  };
  return { ...trial, close };
}

/**
 * Connects to check a target that has an address, before a token is sent to it.
 * @throws CommandStop when the certificate cannot be read, ProxyError
 */
export async function connectToProbe(
  stack: Stack,
  target: Target,
  host: CliHost,
  { deadline, runEnded: signal, abandonWaits }: ConnectionLimits,
): Promise<ProbeConnection> {
  const { options } = await placeOf(target, { stack, host, embedded: undefined });
  return openProbe({ ...options, until: deadline.until, signal, abandonWaits });
}

async function connect<C extends ReaderConnection>(
  stack: Stack,
  host: CliHost,
  {
    deadline,
    runEnded: signal,
    abandonWaits,
    open,
    onlyReads = false,
  }: ConnectionLimits & { readonly open: (options: TargetOptions) => C; readonly onlyReads?: boolean },
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
      const context = { stack, host, embedded, signal, until: deadline.until };
      const { dialect, options } = await placeOf(target, context);
      const loginTarget = onlyReads ? asReader(target) : target;
      const token = reportingUser(loginTarget, await tokenOf(loginTarget, context), host);
      const tokenFrom = sourceOf(loginTarget);
      const from = tokenFrom === undefined ? {} : { tokenFrom };
      const sharedRate = await sharedRateOf(loginTarget, token, host);
      const ends = { until: deadline.until, signal, abandonWaits };
      const connection = open({ ...options, ...from, token, sharedRate, ...ends });
      const session = {
        ...{ target, dialect, stack: stack.name, reader: connection.reader },
        lacks: new Set<ServiceLack>(),
      };
      targets.push({ target, dialect, connection, openSession: () => openSession(session) });
      await reportUser(loginTarget, token, { reader: connection.reader, fleet: host.fleet });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { targets, ...(embedded && { embedded }), close };
}

/** Where the token of a target comes from; undefined for the embedded service, which creates it. */
function sourceOf({ token }: Target): string | undefined {
  if (token === undefined) return undefined;
  return 'login' in token
    ? `a login as the role ${quoted(token.login.role)} at the mount ${quoted(token.login.mount)}`
    : sourceToShow(token);
}

interface ConnectContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly embedded: Embedded | undefined;
}

interface TokenContext extends ConnectContext {
  readonly signal: AbortSignal;
  readonly until: number;
}

/** The address of a target, and how to connect to it. */
async function placeOf(
  target: Target,
  { stack, host, embedded }: ConnectContext,
): Promise<{ dialect: Dialect; options: ConnectionOptions }> {
  const dialect = findDialect(target.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect} for ${target.service}`);
  refuseForFleet(target, host);
  host.pages.learn(target, dialect);
  const options: ConnectionOptions = {
    target,
    url: target.url === 'embedded' ? (embedded?.url ?? '') : target.url,
    dialect,
    ...(target.caCert === undefined ? {} : { caCert: await readCertificate(stack, target.caCert.file) }),
    env: host.env,
    secrets: host.secrets,
    ...(host.retryPolicy === undefined ? {} : { retryPolicy: host.retryPolicy }),
    onWait: (message) => host.stderr.write(`${message}\n`),
    observer: host.observer,
    onWarning: (message) => host.stderr.write(`warning: ${message}\n`),
    userAgent: `trueup/${host.version}`,
  };
  return { dialect, options };
}

async function tokenOf(
  target: Target,
  { stack, host, embedded, signal, until }: TokenContext,
): Promise<TargetOptions['token']> {
  const { token } = target;
  if (token === undefined) {
    if (embedded === undefined || target.url !== 'embedded') {
      throw secretStop(
        `target ${quoted(target.name)} has no token: add "token: { env: NAME }" to it in ${stack.file}`,
      );
    }
    const own = target.service === 'workspaces' ? embedded.ownerToken : embedded.serviceToken;
    return async () => own;
  }
  const context = { env: host.env, directory: stack.directory };
  if ('login' in token) {
    const { mount, role, jwt } = token.login;
    const what = `the JWT that target ${quoted(target.name)} logs in with`;
    const read = () =>
      'oidc' in jwt
        ? requestJobJwt({ ...jwt.oidc, what, host, signal, until })
        : readSecret(jwt, context, what);
    return { login: { mount, role, jwt: async () => jwtOnly(await read(), what) } };
  }
  const value = host.secrets.keep(
    await readSecret(token, context, `the token of target ${quoted(target.name)}`),
    sourceToShow(token),
  );
  return async () => value;
}

/** A text that is not a JWT is not sent: it would be refused, and it may be a secret that is not meant for this service. */
function jwtOnly(text: string, what: string): string {
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return text;
  throw secretStop(`${what} is not a JWT, which has three parts with dots between them; it was not sent`);
}

function readCertificate(stack: Stack, file: string): Promise<string> {
  return readRegularText(resolve(stack.directory, file), 4 * megabyte).catch((error: Error) => {
    throw secretStop(`the certificate ${quoted(file)} cannot be read: ${error.message}`, error);
  });
}

// Connects to the audit trails of a stack's organizations, each with its own token.

/** The trail of one target's organization. */
interface ConnectedTrail {
  readonly target: Target;
  readonly channel: AuditConnection;
}

interface ConnectedTrails {
  readonly trails: readonly ConnectedTrail[];
  close(): Promise<void>;
}

/** The targets whose organization's trail can be read: those with an `auditToken`, and the embedded ones. */
export function auditedTargets({ targets }: Pick<Stack, 'targets'>): readonly Target[] {
  return targets.filter(
    ({ service, url, auditToken }) =>
      service === 'workspaces' && (auditToken !== undefined || url === 'embedded'),
  );
}

/** How long reading the trails may take, and what is used for it. */
interface AuditLimits extends ConnectionLimits {
  /** the embedded service, if this run has opened it already; `close` of the trails does not close it */
  readonly embedded?: Embedded | undefined;
  /** how requests are repeated; absent: as on all connections */
  readonly retryPolicy?: Partial<RetryPolicy>;
}

/** @param targets of `auditedTargets`. @throws CommandStop when a token cannot be read */
export async function connectToAudit(
  stack: Stack,
  targets: readonly Target[],
  host: CliHost,
  { deadline, runEnded: signal, abandonWaits, embedded: opened, retryPolicy }: AuditLimits,
): Promise<ConnectedTrails> {
  const isNeeded = opened === undefined && targets.some(({ url }) => url === 'embedded');
  const own = isNeeded ? await openEmbedded(stack, host) : undefined;
  const embedded = opened ?? own;
  const trails: ConnectedTrail[] = [];
  const close = async () => {
    await Promise.all(trails.map(({ channel }) => channel.close()));
    await own?.close();
  };
  try {
    for (const target of targets) {
      const token = await auditTokenOf(target, { stack, host, embedded });
      const { options } = await placeOf(target, { stack, host, embedded });
      const policy = retryPolicy && { retryPolicy: { ...options.retryPolicy, ...retryPolicy } };
      const limits = { until: deadline.until, signal, abandonWaits, ...policy };
      trails.push({ target, channel: openAuditTrail({ ...options, ...limits, token: async () => token }) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { trails, close };
}

interface AuditContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly embedded: Embedded | undefined;
}

async function auditTokenOf(
  { name, organization = '', auditToken }: Target,
  { stack, host, embedded }: AuditContext,
): Promise<string> {
  if (auditToken === undefined) return embedded?.organizationTokens[organization] ?? '';
  const context = { env: host.env, directory: stack.directory };
  return host.secrets.keep(
    await readSecret(auditToken, context, `the audit token of target ${quoted(name)}`),
    sourceToShow(auditToken),
  );
}
