/**
 * Reads the roles of a mount: one list, then one read for each role that is declared, recorded or inside what the
 * target owns (RULES 11). Roles of nobody's concern are counted and not read.
 */
import { type Address, formatAddress, parseAddress } from '../../model/address.ts';
import { type LiveSet, noResources, type Session, type Wanted } from '../../model/kind.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import type { LiveResource } from '../../model/resource.ts';
import type { Target } from '../../model/target.ts';
import { mountPath } from '../../targets/cluster-auth/mount.ts';
import { type MountAnswer, mountAnswer, unreadError } from '../../targets/cluster-auth/mount-answer.ts';
import { listRoles } from './list-roles.ts';
import { liveFieldNames, liveRole } from './live-role.ts';

const KIND = 'ClusterAuthRole';

/** A service that cannot be reached throws; whatever it answers is told in the set. */
export async function read(session: Session, wanted: Wanted): Promise<LiveSet> {
  const known = knownNames(wanted);
  const others = undeclaredOnes(session.target, wanted);
  if (known.size === 0 && others === undefined) return noResources;
  const list = await listRoles(session);
  if (list.keys === undefined) return { ...noResources, unread: list.unread ?? '' };
  const looks = await Promise.all(
    list.keys
      .filter((name) => known.has(name) || others?.(name) === true)
      .map(async (name) => lookAt(session, addressOf(session.target, name))),
  );
  const resources = looks.flatMap(({ live }) => live ?? []);
  const unseen = looks.flatMap(({ address, incomplete }) =>
    incomplete === undefined ? [] : [[formatAddress(address), incomplete] as const],
  );
  return {
    resources,
    unseen: new Map(unseen),
    total: list.keys.length,
    incomplete: unseen.map(([, why]) => why),
    invisible: liveFieldNames.filter((field) => resources.some(({ spec }) => spec[field] === undefined)),
    notes: list.notes,
  };
}

/** @throws WireError when the service answers neither the role nor that there is none: writing blindly is no option then */
export async function readOne(session: Session, address: Address): Promise<LiveResource | undefined> {
  const answer = await askFor(session, address.name);
  if (answer.is === 'unread') throw unreadError(answer);
  return answer.is === 'none' ? undefined : liveRole(address, answer.data);
}

/** Declared and recorded, as the service spells names (facts 2.5). */
function knownNames({ declared, records }: Wanted): ReadonlySet<string> {
  const addresses = [...declared.map(({ address }) => address), ...[...records.keys()].map(parseAddress)];
  return new Set(addresses.map(({ name }) => name.toLowerCase()));
}

/**
 * The roles that matter although nobody declares them: those that the target owns, or those that an export asks for.
 * An exclusive target without patterns is the stack's as a whole. undefined: there are none.
 */
function undeclaredOnes(
  { owns, exclusive }: Target,
  { undeclared }: Wanted,
): ((name: string) => boolean) | undefined {
  if (undeclared !== undefined) return undeclared;
  const patterns = owns ?? (exclusive ? ['*'] : []);
  if (patterns.length === 0) return undefined;
  return (name) => patterns.some((pattern) => matchesPattern(name, pattern));
}

function addressOf(target: Target, name: string): Address {
  return { kind: KIND, target: target.name, name };
}

interface Look {
  readonly address: Address;
  readonly live?: LiveResource;
  readonly incomplete?: string;
}

/** A role that is gone since the list was made is simply not there. */
async function lookAt(session: Session, address: Address): Promise<Look> {
  const answer = await askFor(session, address.name);
  if (answer.is === 'data') return { address, live: liveRole(address, answer.data) };
  if (answer.is === 'none') return { address };
  return { address, incomplete: `role "${address.name}" was not read: ${answer.why}` };
}

async function askFor(session: Session, name: string): Promise<MountAnswer> {
  return mountAnswer(session, await session.reader.get(mountPath(session, 'role', name)));
}
