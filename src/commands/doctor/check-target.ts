/** All checks of one target, in order. A check that fails ends them, and the rest is reported as not checked. */
import type { ProbeConnection } from '../../api/probe-target.ts';
import { ProxyError } from '../../api/transport/proxy.ts';
import { readTrailPage } from '../../audit-trail/read-trail.ts';
import { TrailError } from '../../model/audit-trail.ts';
import { WireError } from '../../model/http.ts';
import type { Ledger } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { DesiredResource } from '../../model/resource.ts';
import type { Dialect, Stack, Target } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import {
  asReader,
  type Connected,
  connectToAudit,
  connectToProbe,
  connectToRead,
} from '../../run/connect.ts';
import type { CliHost } from '../../run/host.ts';
import { sourceToShow } from '../../run/read-secret.ts';
import type { RunTime } from '../../run/stop-signals.ts';
import { checkLive } from './check-live.ts';
import { checkMount } from './check-mount.ts';
import { checkNetwork, invalidProxy } from './check-network.ts';
import { checkOrganization } from './check-organization.ts';
import {
  checkLabel,
  type Finding,
  failed,
  hasFailed,
  info,
  ok,
  targetChecks,
  warning,
  withUnchecked,
} from './finding.ts';

interface TargetQuestion {
  readonly stack: Stack;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
  /** of the stack as typed, for commands to run */
  readonly path: string | undefined;
  readonly host: CliHost;
  readonly time: RunTime;
}

export async function checkTarget(target: Target, question: TargetQuestion): Promise<Finding[]> {
  if (target.url === 'embedded') return [{ ...embedded, target: target.name }];
  const all = await checkRemote(target, { ...question, host: impatient(question.host) });
  const failures = new Set(all.flatMap(({ check, level }) => (level === 'error' ? check : [])));
  // A later answer may refute an earlier one.
  const found = all.filter(({ check, level }) => level !== 'ok' || !failures.has(check));
  const failure = found.find(({ level }) => level === 'error');
  const why =
    failure === undefined
      ? 'it does not apply here'
      : `first correct ${quoted(checkLabel(failure.check, target.service))}`;
  return withUnchecked(found, targetChecks, why).map((finding) => ({
    ...finding,
    target: target.name,
    message: withoutQueries(finding.message),
  }));
}

/** The parameters of requests say nothing here. */
function withoutQueries(message: string): string {
  return message.replace(/(https?:\/\/[^\s?"]+)\?[^\s"]*/g, '$1');
}

const embedded = info('address', {
  id: 'unchecked',
  message: 'the embedded service, which each command starts by itself',
});

/** What fails twice is reported, and not waited for. */
function impatient(host: CliHost): CliHost {
  const once = { attempts: 2, attemptsUnanswered: 1, throttled: 3, total: 10_000 };
  return { ...host, retryPolicy: { ...host.retryPolicy, ...once } };
}

async function checkRemote(target: Target, question: TargetQuestion): Promise<Finding[]> {
  const reached = await checkWay(target, question);
  if (hasFailed(reached)) return reached;
  try {
    const place =
      target.service === 'workspaces'
        ? await askOrganization(target, question)
        : await askMount(target, question);
    return [...reached, ...place, ...(await checkAuditToken(target, question))];
  } catch (error) {
    return [...reached, failureOf(error, target)];
  }
}

/** Sends the read that "drift" sends. Only "drift" and "audit" use this token, so that no apply is stopped. */
async function checkAuditToken(
  target: Target,
  { stack, host, time: { deadline, runEnded, abandonWaits } }: TargetQuestion,
): Promise<Finding[]> {
  if (target.auditToken === undefined) return [];
  try {
    const limits = { deadline, runEnded, abandonWaits };
    const { trails, close } = await connectToAudit(stack, [target], host, limits);
    try {
      for (const { channel } of trails) await readTrailPage(channel, { page: 1, pageSize: 1 });
    } finally {
      await close();
    }
    return [ok('token', '"auditToken" reads the audit trail')];
  } catch (error) {
    const isForeseen =
      error instanceof TrailError || error instanceof WireError || error instanceof CommandStop;
    if (!isForeseen) throw error;
    const fix = 'correct "auditToken" of the target; without it, "drift" cannot show who changed a resource';
    return [warning('token', { id: 'audit-token-unusable', message: error.message, fix })];
  }
}

async function checkWay(target: Target, { stack, host, time }: TargetQuestion): Promise<Finding[]> {
  let probe: ProbeConnection | undefined;
  try {
    probe = await connectToProbe(stack, target, host, time);
    return await checkNetwork({ target, probe, now: host.now() });
  } catch (error) {
    if (error instanceof ProxyError) return [invalidProxy(error)];
    if (!(error instanceof CommandStop)) throw error;
    const fix = 'correct "caCert" of the target';
    return [failed('tls', { id: 'tls-ca-unusable', message: error.message, fix })];
  } finally {
    await probe?.close();
  }
}

/** Opens the target alone, so that the token of another one cannot be in the way, and closes it again. */
async function withTarget<T>(
  target: Target,
  { stack, host, time }: TargetQuestion,
  work: (connected: Connected['targets'][number]) => Promise<T>,
): Promise<T> {
  const connected = await connectToRead({ ...stack, targets: [target] }, host, time);
  try {
    const [only] = connected.targets;
    if (only === undefined) throw new Error('the target was not opened');
    return await work(only);
  } finally {
    await connected.close();
  }
}

async function askOrganization(target: Target, question: TargetQuestion): Promise<Finding[]> {
  return withTarget(target, question, async ({ dialect, connection, openSession }) => {
    const place = await checkOrganization({ target, dialect, connection, tokenFrom: tokenSource(target) });
    if (hasFailed(place)) return place;
    return [...place, ...(await checkLive({ ...liveOf(question), session: openSession(), connection }))];
  });
}

async function askMount(target: Target, question: TargetQuestion): Promise<Finding[]> {
  const isAcceptedAs = ({ name }: Dialect) =>
    withTarget({ ...target, dialect: name }, question, async ({ connection: { reader } }) => {
      const { status } = await reader.get('/auth/token/lookup-self');
      return status === 200;
    });
  return withTarget(target, question, async ({ connection, openSession }) => {
    const session = openSession();
    const place = await checkMount({ session, tokenFrom: tokenSource(target), isAcceptedAs });
    if (hasFailed(place)) return place;
    return [...place, ...(await checkLive({ ...liveOf(question), session, connection }))];
  });
}

function liveOf({ host, stack, resources, ledger, path }: TargetQuestion) {
  return { stack, kinds: host.kinds, resources, ledger, path };
}

function tokenSource(target: Target): string {
  const { token } = asReader(target);
  if (token === undefined) return 'no source';
  return 'login' in token
    ? `a login as the role ${quoted(token.login.role)} at the mount ${quoted(token.login.mount)}`
    : sourceToShow(token);
}

/** A token that cannot be read, a login that is refused, or a request without an answer. */
function failureOf(error: unknown, { token }: Target): Finding {
  if (error instanceof CommandStop) {
    const isFile = token !== undefined && 'file' in token;
    const fix = isFile
      ? 'write the file where trueup runs'
      : 'set the variable where trueup runs, or name another source as "token" of the target';
    return failed('token', { id: 'token-missing', message: error.message, fix });
  }
  if (!(error instanceof WireError)) throw error;
  const isLogin = error.method === 'POST';
  return isLogin
    ? failed('token', {
        id: 'login-refused',
        message: error.message.replace(/; check role, mount and JWT of the target's "token"$/, ''),
        fix: 'check role, mount and JWT of the target\'s "token"; "trueup role check" says which condition of the role is not met',
      })
    : failed('service', {
        id: 'service-failing',
        message: error.message,
        fix: 'check that the service is up, and try again',
      });
}
