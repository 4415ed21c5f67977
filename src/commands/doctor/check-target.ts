/** All checks of one target, in order. After the first failed check, the rest is reported as not checked. */
import type { ReaderConnection } from '../../api/open-target.ts';
import type { ProbeConnection } from '../../api/probe-target.ts';
import { otherDialect, unconfirmedDialect } from '../../api/spoken-dialect.ts';
import { ProxyError } from '../../api/transport/proxy.ts';
import { workspacesPath } from '../../api/workspaces/list-workspaces.ts';
import { organizationPath } from '../../api/workspaces/organization.ts';
import { readTrailPage } from '../../audit-trail/read-trail.ts';
import { TrailError } from '../../model/audit-trail.ts';
import { type Answer, describeAnswer, WireError } from '../../model/http.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import type { Ledger } from '../../model/ledger.ts';
import { nearestWord } from '../../model/nearest-word.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
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
import {
  checkLabel,
  failed,
  type Finding,
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
  /** the path of the stack as the user typed it, for commands in messages */
  readonly path: string | undefined;
  readonly host: CliHost;
  readonly time: RunTime;
}

export async function checkTarget(target: Target, question: TargetQuestion): Promise<Finding[]> {
  if (target.url === 'embedded') return [{ ...embedded, target: target.name }];
  const all = await checkRemote(target, { ...question, host: withFewRetries(question.host) });
  const failures = new Set(all.flatMap(({ check, level }) => (level === 'error' ? check : [])));
  // A later answer may contradict an earlier one: then only the failure is kept.
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

/** Removes the query parameters of URLs from a message, because they do not help here. */
function withoutQueries(message: string): string {
  return message.replace(/(https?:\/\/[^\s?"]+)\?[^\s"]*/g, '$1');
}

const embedded = info('address', {
  id: 'unchecked',
  message: 'the embedded service, which each command starts by itself',
});

/** Limits retries, so that a check reports a service that does not answer instead of waiting for it. */
function withFewRetries(host: CliHost): CliHost {
  const limits = { attempts: 2, attemptsUnanswered: 1, throttled: 3, total: 10_000 };
  return { ...host, retryPolicy: { ...host.retryPolicy, ...limits } };
}

async function checkRemote(target: Target, question: TargetQuestion): Promise<Finding[]> {
  const reached = await checkConnection(target, question);
  if (hasFailed(reached)) return reached;
  try {
    const answered =
      target.service === 'workspaces'
        ? await checkWorkspaces(target, question)
        : await checkClusterAuth(target, question);
    return [...reached, ...answered, ...(await checkAuditToken(target, question))];
  } catch (error) {
    return [...reached, failureOf(error, target)];
  }
}

/** Sends the same read as "drift". Only "drift" and "audit" use this token, so a problem is a warning: it does not stop an apply. */
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
    const isExpected =
      error instanceof TrailError || error instanceof WireError || error instanceof CommandStop;
    if (!isExpected) throw error;
    const fix = 'correct "auditToken" of the target; without it, "drift" cannot show who changed a resource';
    return [warning('token', { id: 'audit-token-unusable', message: error.message, fix })];
  }
}

async function checkConnection(target: Target, { stack, host, time }: TargetQuestion): Promise<Finding[]> {
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

/** Opens only this target, so that a problem with the token of another one does not matter, and closes it again. */
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

async function checkWorkspaces(target: Target, question: TargetQuestion): Promise<Finding[]> {
  return withTarget(target, question, async ({ dialect, connection, openSession }) => {
    const organizationFindings = await checkOrganization({
      target,
      dialect,
      connection,
      tokenFrom: tokenSource(target),
    });
    if (hasFailed(organizationFindings)) return organizationFindings;
    return [
      ...organizationFindings,
      ...(await checkLive({ ...liveOf(question), session: openSession(), connection })),
    ];
  });
}

async function checkClusterAuth(target: Target, question: TargetQuestion): Promise<Finding[]> {
  const isAcceptedAs = ({ name }: Dialect) =>
    withTarget({ ...target, dialect: name }, question, async ({ connection: { reader } }) => {
      const { status } = await reader.get('/auth/token/lookup-self');
      return status === 200;
    });
  return withTarget(target, question, async ({ connection, openSession }) => {
    const session = openSession();
    const mountFindings = await checkMount({ session, tokenFrom: tokenSource(target), isAcceptedAs });
    if (hasFailed(mountFindings)) return mountFindings;
    return [...mountFindings, ...(await checkLive({ ...liveOf(question), session, connection }))];
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

/** The finding for a token that cannot be read, a login that is refused, or a request without an answer. */
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

// The checks of a target of workspaces: token, organization and dialect, all from the first page of its list of workspaces.

interface OrganizationQuestion {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly connection: Pick<ReaderConnection, 'reader' | 'spokenDialect'>;
  /** the source of the token, as a clause */
  readonly tokenFrom: string;
}

async function checkOrganization(question: OrganizationQuestion): Promise<Finding[]> {
  const { target, connection, tokenFrom } = question;
  const { reader } = connection;
  const name = quoted(target.organization ?? '');
  const list = await reader.get(`${workspacesPath({ target })}?page%5Bsize%5D=1`);
  if (list.status === 401) return [refusedToken(list, tokenFrom)];
  if (list.status === 404) return missingOrganization(question, list);
  const accepted = ok('token', `accepted; from ${tokenFrom}`);
  if (list.status !== 200)
    return [
      ...(list.status === 403 ? [accepted] : []),
      failed('place', {
        id: 'organization-refused',
        message: `the workspaces of organization ${name} cannot be listed: ${describeAnswer(list)}`,
        fix: 'give the token the right to read all workspaces of the organization',
      }),
    ];
  const documents = documentsIn(list);
  // Some services answer with an empty list for an organization that does not exist.
  const organization = documents.length > 0 ? undefined : await reader.get(organizationPath({ target }));
  if (organization?.status === 404) return missingOrganization(question, organization);
  return [accepted, ok('place', `${name} can be read`), await dialectFinding(question)];
}

function refusedToken(answer: Answer, tokenFrom: string): Finding {
  return failed('token', {
    id: 'token-refused',
    message: `the service does not accept the token: ${describeAnswer(answer).replace(/; the token comes from .*$/, '')}`,
    fix: `put a token that is valid into ${tokenFrom}`,
  });
}

async function missingOrganization(
  { target, connection: { reader }, tokenFrom }: OrganizationQuestion,
  refusal: Answer,
): Promise<Finding[]> {
  const all = await reader.get('/organizations?page%5Bsize%5D=100');
  if (all.status === 401) return [refusedToken(all, tokenFrom)];
  const names = documentsIn(all).flatMap(({ id }) => (typeof id === 'string' ? id : []));
  const wanted = target.organization ?? '';
  const near = nearestWord(wanted, names);
  const hint =
    near !== undefined
      ? `did you mean ${quoted(near)}?`
      : names.length > 0
        ? `this token sees ${quoteSome(names, 5)}`
        : 'this token sees no organization';
  const why = describeAnswer(refusal);
  return [
    ...(all.status === 200 ? [ok('token', `accepted; from ${tokenFrom}`)] : []),
    failed('place', {
      id: 'organization-missing',
      message: `there is no organization ${quoted(wanted)}, or this token cannot see it: ${why}`,
      fix: `correct "organization" of the target, or use a token of its members: ${hint}`,
    }),
  ];
}

function documentsIn({ body }: Answer): Readonly<Record<string, Json>>[] {
  const data = memberOf(body, 'data');
  return Array.isArray(data) ? data.filter(isJsonObject) : [];
}

// The dialect, from the first workspace, a header, or the host.

async function dialectFinding({ target, dialect, connection }: OrganizationQuestion): Promise<Finding> {
  const { spokenDialect, reader } = connection;
  // If there is no workspace, the answer to this request may show the dialect.
  if (spokenDialect() === undefined) await reader.get('/ping');
  const spoken = spokenDialect();
  const problem = otherDialect(target, spoken);
  if (problem !== undefined)
    return spoken?.isCertain === false
      ? warning('dialect', { id: 'dialect-unknown', ...problem })
      : failed('dialect', { id: 'dialect-differs', ...problem });
  if (spoken !== undefined) return ok('dialect', target.dialect);
  const doubt = unconfirmedDialect(dialect);
  if (doubt !== undefined) return warning('dialect', { id: 'dialect-unknown', ...doubt });
  return info('dialect', {
    id: 'dialect-unknown',
    message: `${quoted(target.dialect)} is not confirmed: only a workspace shows it, and there is none`,
  });
}
