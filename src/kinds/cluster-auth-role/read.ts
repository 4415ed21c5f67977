/**
 * Reads the roles of a mount: one list, then one read for each role that is declared, recorded or inside what the
 * target owns (rule 11). Roles of nobody's concern are counted and not read. A mount of another method is not looked at
 * as if it were ours (rule 38).
 */
import { type Address, formatAddress, parseAddress } from '../../model/resource/address.ts';
import { type LiveSet, noResources, type Session, type ReadRequest } from '../../model/kind/kind.ts';
import { ownsName } from '../../model/resource/owned-names.ts';
import type { Spec } from '../../model/resource/resource.ts';
import type { Target } from '../../model/stack/target.ts';
import { mountPath, mountWords } from '../../services/cluster-auth/mount.ts';
import {
  isUnsupportedPath,
  type MountAnswer,
  mountAnswer,
  unreadError,
} from '../../services/cluster-auth/mount-answer.ts';
import {
  anotherMethod,
  askMountType,
  type MountType,
  whyConfigProvesNothing,
} from '../../services/cluster-auth/prove-mount.ts';
import { notGone } from './confirm-gone.ts';
import { listRoles } from './list-roles.ts';
import { liveFieldNames, type LiveRole, readRole } from './live-role.ts';
import { names } from './names.ts';

const KIND = 'ClusterAuthRole';

/** A service that cannot be reached throws; whatever it answers is told in the set. */
export async function read(session: Session, wanted: ReadRequest): Promise<LiveSet<LiveRole>> {
  const known = knownNames(wanted);
  const others = undeclaredOnes(session.target, wanted);
  if (known.size === 0 && others === undefined) return noResources;
  const type = await askMountType(session);
  if (type.is === 'unread') return { ...noResources, unread: type.why };
  const list = await listRoles(session);
  if (list.keys === undefined) return { ...noResources, unread: list.unread ?? '' };
  const asked = list.keys.filter((name) => known.has(name) || others?.(name) === true);
  const looks = await lookAtAll(session, asked, type);
  if ('broken' in looks) {
    const why = `${mountWords(session)} fails to give any of its ${list.keys.length} roles: ${looks.broken}`;
    return { ...noResources, unread: why };
  }
  const another = type.is === 'untold' ? await whyAnother(session, looks, known.size > 0) : undefined;
  if (another !== undefined) return { ...noResources, unread: another };
  const resources = looks.flatMap(({ live }) => live ?? []);
  const answered: readonly Spec[] = resources.map(({ spec }) => spec);
  const missing = looks.filter(isMissing).map(({ address }) => address.name);
  const doubted = await notGone(session, missing);
  const unseen = looks.flatMap(({ address, incomplete = doubted.get(address.name) }) =>
    incomplete === undefined ? [] : [[formatAddress(address), incomplete] as const],
  );
  return {
    resources,
    unseen: new Map(unseen),
    total: list.keys.length - (missing.length - doubted.size),
    incomplete: unseen.map(([, why]) => why),
    invisible: liveFieldNames.filter((field) => answered.some((spec) => spec[field] === undefined)),
    notes: list.notes,
  };
}

/** @throws WireError when the service answers neither the role nor that there is none: writing blindly is no option then */
export async function readOne(session: Session, address: Address): Promise<LiveRole | undefined> {
  const answer = await askFor(session, address.name);
  if (answer.is === 'none') return undefined;
  if (answer.is === 'unread') throw unreadError(answer);
  const role = readRole(session, address, answer.data);
  if (role.is !== 'role') throw unreadError({ why: role.why, answer: answer.answer });
  return role.live;
}

/** @returns why the role, which answers that there is none, is not certainly gone: a list made now still names it */
export async function doubtGone(session: Session, { name }: Address): Promise<string | undefined> {
  return (await notGone(session, [names.fold(name)])).get(names.fold(name));
}

/** Declared and recorded, as the service spells names (wire/cluster-auth 2.5). */
function knownNames({ declared, records }: ReadRequest): ReadonlySet<string> {
  const addresses = [...declared.map(({ address }) => address), ...[...records.keys()].map(parseAddress)];
  return new Set(addresses.map(({ name }) => names.fold(name)));
}

/**
 * The roles that matter although nobody declares them: those that the target owns, or those that an export asks for.
 * An exclusive target without patterns is the stack's as a whole. undefined: there are none.
 */
function undeclaredOnes(
  target: Target,
  { undeclared }: ReadRequest,
): ((name: string) => boolean) | undefined {
  if (undeclared !== undefined) return undeclared;
  const { owns, exclusive = false } = target;
  const ownsAny = owns === undefined ? exclusive : owns.length > 0;
  return ownsAny ? (name) => ownsName(target, name, names) : undefined;
}

function addressOf(target: Target, name: string): Address {
  return { kind: KIND, target: target.name, name };
}

interface RoleReading {
  readonly address: Address;
  readonly live?: LiveRole;
  readonly incomplete?: string;
  /** what was answered is no role of this method */
  readonly isAnother?: boolean;
  /** the service did not manage to answer */
  readonly isBroken?: boolean;
}

/** Why none of the roles could be read. */
type Broken = { readonly broken: string };

/** So many roles that the service fails to give, and none that it gives: asking for the rest would only take time. */
const signsOfBreakage = 3;

/** How many are asked for at a time; more would only queue up. */
const lanes = 10;

/** Where nobody tells the type of the mount, the first role does: of another method no second one is asked for. */
async function lookAtAll(
  session: Session,
  asked: readonly string[],
  type: MountType,
): Promise<readonly RoleReading[] | Broken> {
  if (type.is === 'this') return lookSideBySide(session, asked);
  const first = await lookSideBySide(session, asked.slice(0, 1));
  if ('broken' in first || first.some(({ isAnother }) => isAnother)) return first;
  const rest = await lookSideBySide(session, asked.slice(1));
  return 'broken' in rest ? rest : [...first, ...rest];
}

/** In the order of the names. */
async function lookSideBySide(session: Session, asked: readonly string[]): Promise<RoleReading[] | Broken> {
  const looks: RoleReading[] = [];
  const isBroken = () =>
    looks.filter(Boolean).length >= signsOfBreakage && looks.every((look) => look.isBroken);
  const names = asked.entries();
  const lane = async () => {
    for (const [at, name] of names) {
      if (isBroken()) return;
      looks[at] = await lookAt(session, addressOf(session.target, name));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return isBroken() ? { broken: looks.find(Boolean)?.incomplete ?? '' } : looks;
}

/**
 * Why the mount is not of this method, as far as what it answers tells; undefined where one role proves it, or where it
 * does not matter, for nothing was ever to be there.
 */
async function whyAnother(
  session: Session,
  looks: readonly RoleReading[],
  matters: boolean,
): Promise<string | undefined> {
  const another = looks.find(({ isAnother }) => isAnother)?.incomplete;
  if (another !== undefined) return anotherMethod(session, another);
  const isProved = looks.some(({ live }) => live !== undefined);
  return isProved || !matters ? undefined : whyConfigProvesNothing(session);
}

/** It was listed, and is not there. */
function isMissing({ live, incomplete }: RoleReading): boolean {
  return live === undefined && incomplete === undefined;
}

async function lookAt(session: Session, address: Address): Promise<RoleReading> {
  const answer = await askFor(session, address.name);
  if (answer.is === 'none') return { address };
  if (answer.is === 'unread') {
    const incomplete = `role "${address.name}" was not read: ${answer.why}`;
    return {
      address,
      incomplete,
      isAnother: isUnsupportedPath(answer),
      isBroken: answer.answer.status >= 500,
    };
  }
  const role = readRole(session, address, answer.data);
  if (role.is === 'role') return { address, live: role.live };
  return { address, incomplete: role.why, isAnother: role.is === 'another' };
}

async function askFor(session: Session, name: string): Promise<MountAnswer> {
  return mountAnswer(session, await session.reader.get(mountPath(session, 'role', name)));
}
