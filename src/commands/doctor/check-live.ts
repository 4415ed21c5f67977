/**
 * The checks that read a target as a plan does: which features the service lacks, and what the token may do with each declared resource.
 */
import { CONFIG_PATH, mountSegments } from '../../api/cluster-auth-mount.ts';
import { organizationAnswer } from '../../api/workspaces/organization.ts';
import { type LiveReading, readFirst, readRest } from '../../api/read-live.ts';
import type { ReaderConnection } from '../../api/open-target.ts';
import { formatAddress } from '../../model/address.ts';
import type { TokenRights } from '../../model/http.ts';
import { memberOf } from '../../model/json.ts';
import type { Registry, Session } from '../../model/kind.ts';
import type { Ledger } from '../../model/ledger.ts';
import { counted, quoted, quoteSome } from '../../model/quoted.ts';
import type { DesiredResource, LiveResource } from '../../model/resource.ts';
import type { Stack } from '../../model/stack.ts';
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import { lostLedgerFindings } from './check-ledger.ts';
import { type Finding, failed, info, ok, warning } from './finding.ts';

interface LiveQuestion {
  readonly stack: Stack;
  readonly session: Session;
  readonly connection: ReaderConnection;
  readonly kinds: Registry;
  /** the declared resources of all targets */
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
  /** the path of the stack as the user typed it, for commands in messages */
  readonly path: string | undefined;
}

export async function checkLive(question: LiveQuestion): Promise<Finding[]> {
  const { session, kinds, resources: desired, ledger } = question;
  const input = { sessions: [session], kinds, desired, ledger };
  const readings = await readRest(input, await readFirst(input), new Map());
  const reading = readings.get(session.target.name);
  if (reading === undefined) return [];
  const features = [...lostLedgerFindingsHere(reading, question), ...featureFindings(reading, question)];
  return reading.unread === undefined ? [...features, ...(await checkRights(reading, question))] : features;
}

/** The most reasons for an incomplete read that are shown. */
const mostShown = 3;

function featureFindings({ unread, sets, names }: LiveReading, question: LiveQuestion): Finding[] {
  if (unread !== undefined) {
    const id = unread.code === 'target-unread' ? 'read-failed' : 'feature-needed';
    return [failed('features', { id, message: unread.message, fix: unread.fix ?? 'see the message' })];
  }
  const declared = declaredHere(question);
  const unsupported = [...sets].flatMap(([kind, { unsupported: problem }]) =>
    problem !== undefined && declared.some(({ address }) => address.kind === kind)
      ? [
          failed('features', {
            id: 'feature-needed',
            message: problem.message,
            fix: problem.fix ?? 'see the message',
          }),
        ]
      : [],
  );
  const limits = new Set([...sets.values()].flatMap((set) => set.limits ?? []));
  const incomplete = new Set([...sets.values()].flatMap((set) => set.incomplete));
  const found = [
    ...unsupported,
    ...[...(names ?? [])].flatMap(([type, { problem }]) =>
      problem === undefined ? [] : [namesUnread(type, problem)],
    ),
    ...[...incomplete].slice(0, mostShown).map((why) =>
      warning('features', {
        id: 'read-incomplete',
        message: `${why}, so a plan deletes nothing`,
        fix: 'correct what the message names, or plan again later',
      }),
    ),
    ...[...limits].map((message) => info('features', { id: 'feature-missing', message })),
  ];
  return found.length > 0 ? found : [ok('features', 'the service lacks nothing that this stack uses')];
}

function namesUnread(type: string, problem: string): Finding {
  return failed('features', {
    id: 'read-failed',
    message: `manifests give ${type}s by name, and their list could not be read: ${problem}`,
    fix: `let the token read the ${type}s, if the service has them, or give their ids`,
  });
}

/** Checks only declared resources, because other resources do not stop an apply. */
function lostLedgerFindingsHere({ sets }: LiveReading, question: LiveQuestion): Finding[] {
  const declared = new Set(declaredHere(question).map(({ address }) => formatAddress(address)));
  const live = [...sets.values()].flatMap(({ resources }) => resources);
  return lostLedgerFindings(
    live.filter(({ address }) => declared.has(formatAddress(address))),
    question,
  );
}

function declaredHere({ session, resources }: LiveQuestion): DesiredResource[] {
  return resources.filter(({ address }) => address.target === session.target.name);
}

// The rights of the token on each declared resource. Only a right that the service certainly denies counts as missing.

/** `has` is undefined when the service does not say. */
interface NeededRight {
  readonly kind: string;
  readonly name: string;
  readonly right: string;
  readonly has: boolean | undefined;
}

async function checkRights({ sets }: LiveReading, question: LiveQuestion): Promise<Finding[]> {
  const declared = declaredHere(question);
  const live = new Map(
    [...sets.values()].flatMap((set) =>
      set.resources.map((one) => [formatAddress(one.address), one] as const),
    ),
  );
  const { session, connection } = question;
  if (declared.length === 0) return [await undeclaredRights(session)];
  if (session.target.service === 'workspaces')
    return rightFindings(await workspaceRights(session, declared, live));
  const wanted = declared.map((resource) => pathOf(session, resource));
  const rights = await connection.askRights?.([...new Set(wanted)]);
  if (rights?.is === 'unknown')
    return [info('rights', { id: 'rights-unknown', message: `unknown: ${rights.why}` })];
  return rightFindings(declared.map((resource) => mountRight(session, resource, { live, rights })));
}

/** For a target without declared resources: an organization still shows whether the token may create workspaces. */
async function undeclaredRights(session: Session): Promise<Finding> {
  const mayCreate = session.target.service === 'workspaces' ? await mayCreateIn(session) : undefined;
  if (mayCreate === true) return ok('rights', 'may create workspaces');
  const message =
    mayCreate === false
      ? 'this token may not create workspaces; what it may do with others is checked when a manifest declares them'
      : 'not checked: no manifest declares a resource of this target';
  return info('rights', { id: 'rights-unknown', message });
}

async function mayCreateIn(session: Session): Promise<boolean | undefined> {
  const answer = await organizationAnswer(session);
  const permissions = memberOf(memberOf(memberOf(answer?.body, 'data'), 'attributes'), 'permissions');
  const may = memberOf(permissions, 'can-create-workspace');
  return typeof may === 'boolean' ? may : undefined;
}

type LiveByAddress = ReadonlyMap<string, LiveResource>;

/** The right on the workspace that the calls of each kind need. */
const workspaceRight: Readonly<Record<string, string>> = {
  Workspace: 'can-update',
  TagBindings: 'can-manage-tags',
  RemoteStateConsumers: 'can-update',
};

async function workspaceRights(
  session: Session,
  declared: readonly DesiredResource[],
  live: LiveByAddress,
): Promise<NeededRight[]> {
  const creating = { right: 'can-create-workspace', has: await mayCreateIn(session) };
  return declared.map(({ address }): NeededRight => {
    const { kind, name } = address;
    const workspace = live.get(formatAddress(workspaceOf(address)));
    if (workspace === undefined) return { ...creating, kind, name };
    const right = workspaceRight[kind] ?? 'can-update';
    return { kind, name, right, has: workspace.rights?.[right] };
  });
}

function pathOf({ target, dialect }: Session, { address: { kind, name } }: DesiredResource): string {
  const below = kind === 'ClusterAuthConfig' ? [CONFIG_PATH] : ['role', name];
  return mountSegments(target, dialect, ...below).join('/');
}

function mountRight(
  session: Session,
  resource: DesiredResource,
  { live, rights }: { readonly live: LiveByAddress; readonly rights: TokenRights | undefined },
): NeededRight {
  const { kind, name } = resource.address;
  // A config is always updated (wire/cluster-auth 2.9).
  const isNew = kind !== 'ClusterAuthConfig' && !live.has(formatAddress(resource.address));
  const right = isNew ? 'create' : 'update';
  const held = rights?.is === 'known' ? rights.on.get(pathOf(session, resource)) : undefined;
  return { kind, name, right, has: held && (held.has(right) || held.has('root')) };
}

function rightFindings(needed: readonly NeededRight[]): Finding[] {
  const missing = Map.groupBy(
    needed.filter(({ has }) => has === false),
    ({ kind, right }) => `${kind} ${right}`,
  );
  const unknown = needed.filter(({ has }) => has === undefined);
  const problems = [...missing.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const names = [first, ...more].map(({ name }) => name);
    return failed('rights', {
      id: 'right-missing',
      message: `this token lacks ${quoted(first.right)}, which an apply needs for ${first.kind} ${quoteSome(names, 3)}`,
      fix: 'give the token that right, or apply with a token that has it',
    });
  });
  if (unknown.length > 0)
    problems.push(
      info('rights', {
        id: 'rights-unknown',
        message: `the service does not say what this token may do with ${counted(unknown.length, 'resource')}`,
      }),
    );
  if (problems.length > 0) return problems;
  const byKind = Map.groupBy(needed, ({ kind }) => kind);
  return [
    ok(
      'rights',
      `may write all that is declared: ${[...byKind].map(([kind, some]) => `${some.length} ${kind}`).join(', ')}`,
    ),
  ];
}
