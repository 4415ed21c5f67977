/**
 * The checks of a target of a secrets service: token or login, mount, and dialect. The service gives the same answer to an unknown token,
 * to one in the header of another dialect, and to one without rights, so several answers are needed to find the problem.
 */
import {
  askMountType,
  checkConfig,
  isUnsupportedPath,
  mountName,
  mountPath,
  type MountType,
  readConfig,
} from '../../api/cluster-auth-mount.ts';
import { dialects } from '../../api/dialects.ts';
import { openSession } from '../../api/read-live.ts';
import { explainRefusal } from '../../api/transport/service-conventions.ts';
import { type Answer, describeAnswer, isSealed } from '../../model/http.ts';
import { isJsonObject, memberOf } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import { nearestWord } from '../../model/nearest-word.ts';
import { counted, quoted, quoteSome } from '../../model/quoted.ts';
import type { Dialect } from '../../model/stack.ts';
import { type Finding, failed, info, ok, warning } from './finding.ts';

interface MountQuestion {
  readonly session: Session;
  /** the source of the token, as a clause */
  readonly tokenFrom: string;
  /** Looks the token up with the header of another dialect. @returns whether the service accepts it */
  isAcceptedAs(dialect: Dialect): Promise<boolean>;
}

export async function checkMount(question: MountQuestion): Promise<Finding[]> {
  const { session, tokenFrom } = question;
  const lookup = await session.reader.get('/auth/token/lookup-self');
  const refusal = explainRefusal(session.target, lookup);
  if (refusal !== undefined) return [targetProblem(session, lookup, refusal)];
  const tokenResult = lookup.status === 200 ? tokenFindings(session, lookup, tokenFrom) : undefined;
  const accepted = tokenResult ?? [ok('token', `accepted; from ${tokenFrom}`)];
  const place = ok('place', `${quoted(mountName(session.target, session.dialect))} can be read`);
  const type = await askMountType(session);
  if (type.is === 'this') return [...accepted, place, await ownDialect(session)];
  if (type.is === 'unread') return otherType(session, type, tokenResult);
  const config = await readConfig(session);
  const verdict = checkConfig(session, config);
  if (verdict.is === 'proof') return [...accepted, place, await ownDialect(session)];
  if (config.is === 'unread' && config.answer.status === 404 && !isUnsupportedPath(config))
    return [...accepted, await missingMount(session, config.answer)];
  if (verdict.is === 'another')
    return [...accepted, failed('place', { id: 'mount-other', ...split(verdict.why) })];
  const roles = await session.reader.list(mountPath(session, 'role'));
  if (roles.status === 200) return [...accepted, place, await ownDialect(session)];
  return refused(question, { roles, isKnown: tokenResult !== undefined });
}

/** A refusal that is about the target as a whole, not about the token. */
function targetProblem({ target: { namespace = '' } }: Session, answer: Answer, refusal: string): Finding {
  if (isSealed(answer))
    return failed('service', {
      id: 'service-sealed',
      message: 'the service is sealed, and answers nothing until it is unsealed',
      fix: 'unseal it',
    });
  if (answer.status === 404)
    return failed('place', {
      id: 'namespace-missing',
      message: `there is no namespace ${quoted(namespace)}: ${describeAnswer(answer)}`,
      fix: 'correct "namespace" of the target',
    });
  return failed('service', {
    id: 'service-standby',
    message: refusal,
    fix: 'check the nodes of the service',
  });
}

function tokenFindings(session: Session, { body }: Answer, tokenFrom: string): Finding[] {
  const data = memberOf(body, 'data') ?? null;
  const [ttl, uses] = [memberOf(data, 'ttl'), memberOf(data, 'num_uses')];
  const isOfLogin = session.target.token !== undefined && 'login' in session.target.token;
  if (isOfLogin) return [ok('token', `accepted; from ${tokenFrom}`)];
  if (typeof uses === 'number' && uses > 0)
    return [
      warning('token', {
        id: 'token-limited',
        message: `the token from ${tokenFrom} may be used for ${counted(uses, 'more request')}, and each check is one`,
        fix: 'use a token without a limit of uses, or a login',
      }),
    ];
  if (typeof ttl === 'number' && ttl > 0 && ttl < 600)
    return [
      warning('token', {
        id: 'token-ends-soon',
        message: `the token from ${tokenFrom} is valid for ${counted(ttl, 'more second')}`,
        fix: 'renew it, or use a login, which gets a new one in time',
      }),
    ];
  return [ok('token', `accepted; from ${tokenFrom}`)];
}

/** The mount does not have the type of this dialect: it has that of another dialect, or is of another method. */
async function otherType(
  session: Session,
  { why }: Extract<MountType, { is: 'unread' }>,
  tokenResult: readonly Finding[] | undefined,
): Promise<Finding[]> {
  for (const dialect of otherDialects(session.dialect)) {
    const found = await askMountType(openSession({ ...session, dialect }));
    if (found.is !== 'this') continue;
    const place = ok('place', `${quoted(mountName(session.target, session.dialect))} can be read`);
    return [...(tokenResult ?? []), place, differs(session, dialect, 'the mount has its type')];
  }
  return [...(tokenResult ?? []), failed('place', { id: 'mount-other', ...split(why) })];
}

/** Splits a text of the form "PROBLEM: FIX". */
function split(why: string): { readonly message: string; readonly fix: string } {
  const [, message = why, fix = 'correct "mount" of the target'] = /^(.*): (correct .*)$/s.exec(why) ?? [];
  return { message, fix };
}

function otherDialects(dialect: Dialect): Dialect[] {
  return [...dialects.values()].filter(
    ({ service, name }) => service === dialect.service && name !== dialect.name,
  );
}

function differs({ target }: Session, { name }: Dialect, sign: string): Finding {
  return failed('dialect', {
    id: 'dialect-differs',
    message: `the target has the dialect ${quoted(target.dialect)}, and the service speaks ${quoted(name)}: ${sign}`,
    fix: `write ${quoted(`dialect: ${name}`)} into the target`,
  });
}

/** Checks the dialect by a member of the config that only one of the dialects with the same mount type has. */
async function ownDialect(session: Session): Promise<Finding> {
  const { dialect } = session;
  const config = await readConfig(session);
  if (config.is !== 'data') return ok('dialect', dialect.name);
  const has = ({ configMark }: Dialect) => configMark !== undefined && Object.hasOwn(config.data, configMark);
  const marked = otherDialects(dialect).find(has);
  if (marked !== undefined && !has(dialect))
    return differs(session, marked, `the config of the mount has ${quoted(marked.configMark ?? '')}`);
  if (dialect.configMark === undefined || has(dialect)) return ok('dialect', dialect.name);
  const twins = otherDialects(dialect).filter(({ mountType }) => mountType === dialect.mountType);
  return info('dialect', {
    id: 'dialect-unknown',
    message: `${quoted(dialect.name)} is not confirmed: the config of the mount lacks ${quoted(dialect.configMark)}, as one of ${quoteSome(twins.map(({ name }) => name))} or of an old release does`,
  });
}

async function missingMount(session: Session, refusal: Answer): Promise<Finding> {
  const wanted = mountName(session.target, session.dialect);
  const names = await mountsOf(session);
  const near = nearestWord(wanted, names);
  const hint =
    near !== undefined
      ? `: did you mean ${quoted(near)}?`
      : names.length > 0
        ? `: there ${names.length === 1 ? 'is' : 'are'} ${quoteSome(names, 5)}`
        : '';
  return failed('place', {
    id: 'mount-missing',
    message: `there is no mount ${quoted(wanted)}, or it serves no cluster authentication: ${describeAnswer(refusal)}`,
    fix: `correct "mount" or "namespace" of the target, or enable the method there${hint}`,
  });
}

/** The mounts of this method that the token can see. Every token may read the first path, only administrators the second one. */
async function mountsOf(session: Session): Promise<string[]> {
  for (const path of ['/sys/internal/ui/mounts', '/sys/auth']) {
    const { status, body } = await session.reader.get(path);
    const data = status === 200 ? memberOf(body, 'data') : undefined;
    const mounts = isJsonObject(data) ? (data['auth'] ?? data) : undefined;
    if (!isJsonObject(mounts)) continue;
    const wanted = session.dialect.mountType ?? 'cluster';
    const found = Object.entries(mounts).filter(([, mount]) => memberOf(mount, 'type') === wanted);
    if (found.length > 0) return found.map(([name]) => name.replace(/\/$/, ''));
  }
  return [];
}

/** For a mount that cannot be read: the token is unknown, is sent in the wrong header, or lacks every right on the mount. */
async function refused(
  { session, tokenFrom, isAcceptedAs }: MountQuestion,
  { roles, isKnown }: { readonly roles: Answer; readonly isKnown: boolean },
): Promise<Finding[]> {
  const mount = quoted(mountName(session.target, session.dialect));
  const candidates = otherDialects(session.dialect).filter(
    ({ tokenHeader }) => tokenHeader !== session.dialect.tokenHeader,
  );
  if (!isKnown)
    for (const dialect of candidates)
      if (await isAcceptedAs(dialect))
        return [
          differs(session, dialect, `it accepts the token in the header ${quoted(dialect.tokenHeader)}`),
        ];
  const accepted = ok('token', `accepted; from ${tokenFrom}`);
  return isKnown
    ? [
        accepted,
        failed('place', {
          id: 'mount-refused',
          message: `the mount ${mount} cannot be read with this token: ${describeAnswer(roles)}`,
          fix: `give the token a policy with "list" and "read" below ${quoted(`${mountPath(session).slice(1)}/`)}`,
        }),
      ]
    : [
        failed('token', {
          id: 'token-refused',
          message: `the service does not accept the token, or it lacks every right: ${describeAnswer(roles)}`,
          fix: `put a token that is valid into ${tokenFrom}, with "list" and "read" below ${quoted(`${mountPath(session).slice(1)}/`)}`,
        }),
      ];
}
