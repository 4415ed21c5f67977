/**
 * Reads the roles of a mount: one list, by LIST or by its equivalent GET, then one read for each role that is declared,
 * recorded, begun by an unfinished apply, or in the `owns` of the target. Other roles are counted and not read. A role that must not
 * count as gone by mistake is read even if the list lacks it. A mount of another method counts as unread.
 */
import {
  anotherMethod,
  askMountType,
  isUnsupportedPath,
  type MountAnswer,
  mountAnswer,
  mountPath,
  mountText,
  type MountType,
  unreadError,
  whyConfigIsNoProof,
} from '../../api/cluster-auth-mount.ts';
import { type Address, formatAddress, knownAddress, parseAddress } from '../../model/address.ts';
import type { Answer } from '../../model/http.ts';
import { type LiveSet, noResources, type ReadRequest, type Session } from '../../model/kind.ts';
import { ownsName } from '../../model/name-pattern.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { Spec } from '../../model/resource.ts';
import type { Target } from '../../model/stack.ts';
import { fieldNamesOf, names } from './fields.ts';
import { type LiveRole, readRole } from './live-role.ts';

const KIND = 'ClusterAuthRole';

/** @throws WireError when the service cannot be reached; a refusal becomes part of the result */
export async function read(session: Session, request: ReadRequest): Promise<LiveSet<LiveRole>> {
  const known = knownNames(request);
  const others = undeclaredFilter(session.target, request);
  if (known.size === 0 && others === undefined) return noResources;
  const type = await askMountType(session);
  if (type.is === 'unread') return { ...noResources, unread: type.why };
  const list = await listRoles(session);
  if (list.keys === undefined) return { ...noResources, unread: list.unread ?? '' };
  const selected = list.keys.filter((name) => known.has(name) || others?.(name) === true);
  const unlisted = unlistedNames(request, new Set(list.keys));
  const readings = await readRoles(session, [...selected, ...unlisted], type);
  if ('broken' in readings) {
    const count = list.keys.length + unlisted.size;
    const why = `${mountText(session)} could not read any of its ${count} roles: ${readings.broken}`;
    return { ...noResources, unread: why };
  }
  const another = type.is === 'unknown' ? await whyOtherMethod(session, readings, known.size > 0) : undefined;
  if (another !== undefined) return { ...noResources, unread: another };
  const resources = readings.flatMap(({ live }) => live ?? []);
  const answered: readonly Spec[] = resources.map(({ spec }) => spec);
  const isListed = ({ address }: RoleReading) => !unlisted.has(address.name);
  const missing = readings
    .filter((one) => isListed(one) && isMissing(one))
    .map(({ address }) => address.name);
  const doubted = await rolesNotGone(session, missing);
  const unseen = readings.flatMap(({ address, incomplete = doubted.get(address.name) }) =>
    incomplete === undefined ? [] : [[formatAddress(address), incomplete] as const],
  );
  const found = resources.filter(({ address }) => unlisted.has(address.name));
  return {
    resources,
    unseen: new Map(unseen),
    // A list that lacks roles does not count them either; `incomplete` reports it.
    ...(found.length > 0 ? {} : { total: list.keys.length - (missing.length - doubted.size) }),
    incomplete: [...unseen.map(([, why]) => why), ...unlistedProblems(session, found)],
    invisible: fieldNamesOf(session.dialect).filter((field) =>
      answered.some((spec) => spec[field] === undefined),
    ),
    notes: [...list.notes, ...otherDialectNotes(session, answered)],
  };
}

/** A field that the dialect does not have shows that the target has the wrong dialect for its service. */
function otherDialectNotes({ dialect }: Session, answered: readonly Spec[]): string[] {
  const own = fieldNamesOf(dialect);
  const unexpected = new Set(
    answered.flatMap((spec) => Object.keys(spec).filter((name) => !own.includes(name))),
  );
  return [...unexpected].map(
    (name) =>
      `its roles have ${quoted(name)}, which the dialect ${quoted(dialect.name)} does not: check the target's "dialect"`,
  );
}

/** @throws WireError when the service returns neither the role nor "not found": nothing may be written then */
export async function readOne(session: Session, address: Address): Promise<LiveRole | undefined> {
  const answer = await requestRole(session, address.name);
  if (answer.is === 'none') return undefined;
  if (answer.is === 'unread') throw unreadError(answer);
  const role = readRole(session, address, answer.data);
  if (role.is !== 'role') throw unreadError({ why: role.why, answer: answer.answer });
  return role.live;
}

/** @returns why a role whose read returned 404 may still exist: a new list still contains it */
export async function whyNotGone(session: Session, { name }: Address): Promise<string | undefined> {
  return (await rolesNotGone(session, [names.fold(name)])).get(names.fold(name));
}

/** The declared, recorded and begun names in lower case, as the service stores them (wire/cluster-auth 2.5). */
function knownNames({ declared, records, begun = new Set() }: ReadRequest): ReadonlySet<string> {
  const addresses = [
    ...declared.map(({ address }) => address),
    ...[...records.keys(), ...begun].map(parseAddress),
  ];
  return new Set(addresses.map(({ name }) => names.fold(name)));
}

/**
 * The roles whose record is dropped, or whose removal counts as done, if they do not exist: the recorded and begun ones, and those with
 * a removal request. The list alone does not prove that: it may lack a role once. What this run has deleted is known to be gone.
 */
function unlistedNames(
  { declared, records, begun = new Set(), deleted }: ReadRequest,
  listed: ReadonlySet<string>,
): ReadonlySet<string> {
  const requested = declared.filter(({ metadata }) => metadata.remove !== undefined);
  const texts = [...records.keys(), ...begun, ...requested.map(({ address }) => formatAddress(address))];
  const folded = texts
    .filter((text) => deleted?.has(text) !== true)
    .map((text) => names.fold(parseAddress(text).name));
  return new Set(folded.filter((name) => !listed.has(name)));
}

/** A list that lacks roles that exist may lack others, too. */
function unlistedProblems(session: Session, found: readonly LiveRole[]): string[] {
  if (found.length === 0) return [];
  const [verb, pronoun] = found.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const lacking = quoteSome(found.map(({ address }) => address.name).sort());
  return [
    `the list of the roles of ${mountText(session)} lacks ${lacking}, which ${verb} found by reading ${pronoun}, so it may lack others`,
  ];
}

/**
 * Selects the undeclared roles to read: those that the target owns, or those that an export selects. An exclusive target
 * without patterns owns all roles. undefined: no undeclared role is read.
 */
function undeclaredFilter(
  target: Target,
  { undeclared }: ReadRequest,
): ((name: string) => boolean) | undefined {
  if (undeclared !== undefined) return undeclared;
  const { owns, exclusive = false } = target;
  const ownsAny = owns === undefined ? exclusive : owns.length > 0;
  return ownsAny ? (name) => ownsName(target, name, names) : undefined;
}

function addressOf(target: Target, name: string): Address {
  return knownAddress({ kind: KIND, target: target.name, name });
}

interface RoleReading {
  readonly address: Address;
  readonly live?: LiveRole;
  /** why the role could not be read */
  readonly incomplete?: string;
  /** the response shows a role of another method */
  readonly isAnother?: boolean;
  /** the service failed (5xx) */
  readonly isBroken?: boolean;
  /** the token may not read it */
  readonly isRefused?: boolean;
}

/** Why none of the roles could be read. */
type Broken = { readonly broken: string };

/** After this number of failures without a success, no more roles are read. */
const maxFailures = 3;

/** Number of roles that are read at a time; more would only wait in the queue. */
const concurrency = 10;

/** If the type of the mount is unknown, one role is read first. If it belongs to another method, the others are not read. */
async function readRoles(
  session: Session,
  selected: readonly string[],
  type: MountType,
): Promise<readonly RoleReading[] | Broken> {
  if (type.is === 'this') return readConcurrently(session, selected);
  const first = await readConcurrently(session, selected.slice(0, 1));
  if ('broken' in first || first.some(({ isAnother }) => isAnother)) return first;
  const rest = await readConcurrently(session, selected.slice(1));
  return 'broken' in rest ? rest : [...first, ...rest];
}

/** Reads several roles at a time. @returns the readings in the order of the names */
async function readConcurrently(
  session: Session,
  selected: readonly string[],
): Promise<RoleReading[] | Broken> {
  const readings: RoleReading[] = [];
  const isBroken = () =>
    readings.filter(Boolean).length >= maxFailures && readings.every((reading) => reading.isBroken);
  const names = selected.entries();
  const worker = async () => {
    for (const [index, name] of names) {
      if (isBroken()) return;
      readings[index] = await readOneRole(session, addressOf(session.target, name));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const isRefused = readings.length >= maxFailures && readings.every((reading) => reading.isRefused);
  return isBroken() || isRefused ? { broken: readings.find(Boolean)?.incomplete ?? '' } : readings;
}

/**
 * Why the mount seems to belong to another method; undefined if a role proves that it does not, or if it does not matter
 * because no role is declared or recorded.
 */
async function whyOtherMethod(
  session: Session,
  readings: readonly RoleReading[],
  matters: boolean,
): Promise<string | undefined> {
  const another = readings.find(({ isAnother }) => isAnother)?.incomplete;
  if (another !== undefined) return anotherMethod(session, another);
  const isProved = readings.some(({ live }) => live !== undefined);
  return isProved || !matters ? undefined : whyConfigIsNoProof(session);
}

/** The role was listed, but does not exist. */
function isMissing({ live, incomplete }: RoleReading): boolean {
  return live === undefined && incomplete === undefined;
}

async function readOneRole(session: Session, address: Address): Promise<RoleReading> {
  const answer = await requestRole(session, address.name);
  if (answer.is === 'none') return { address };
  if (answer.is === 'unread') {
    const incomplete = `role ${quoted(address.name)} was not read: ${answer.why}`;
    return {
      address,
      incomplete,
      isAnother: isUnsupportedPath(answer),
      isBroken: answer.answer.status >= 500,
      isRefused: answer.answer.status === 403,
    };
  }
  const role = readRole(session, address, answer.data);
  if (role.is === 'role') return { address, live: role.live };
  return { address, incomplete: role.why, isAnother: role.is === 'another' };
}

async function requestRole(session: Session, name: string): Promise<MountAnswer> {
  return mountAnswer(session, await session.reader.get(mountPath(session, 'role', name)));
}

/**
 * Roles that were listed but whose read returned 404: either they were deleted in between, or the service contradicts
 * itself. One more list decides for all of them: a role that it still contains counts as unread, not as absent.
 * @returns the reasons for those that are not certainly gone, by name
 */
async function rolesNotGone(
  session: Session,
  missing: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (missing.length === 0) return new Map();
  const { keys, unread } = await listRoles(session);
  const why = keys === undefined ? `the roles could not be listed again: ${unread}` : contradicted;
  const left = keys === undefined ? missing : missing.filter((name) => keys.includes(name));
  return new Map(left.map((name) => [name, `role ${quoted(name)} was not read: ${why}`]));
}

const contradicted = 'it is listed, also when listed again, but reading it returns "not found"';

interface RoleList {
  /** in lower case, as the service stores them; undefined when they could not be listed */
  readonly keys?: readonly string[];
  /** why they could not be listed */
  readonly unread?: string;
  readonly notes: readonly string[];
}

/** The statuses with which a service or a proxy refuses an unknown verb. */
const verbRefused: ReadonlySet<number> = new Set([400, 405, 501]);

async function listRoles(session: Session): Promise<RoleList> {
  const path = mountPath(session, 'role');
  const listed = await session.reader.list(path);
  if (!verbRefused.has(listed.status)) return rolesOf(session, listed, []);
  const note = `the verb LIST was refused (${listed.status}): roles were listed with GET`;
  return rolesOf(session, await session.reader.get(`${path}?list=true`), [note]);
}

function rolesOf(session: Session, answer: Answer, notes: readonly string[]): RoleList {
  const mounted = mountAnswer(session, answer);
  if (mounted.is === 'none') return { keys: [], notes };
  if (mounted.is === 'unread') return { unread: mounted.why, notes };
  const { keys } = mounted.data;
  return isTexts(keys) ? { keys, notes } : { unread: 'the list of roles contains no names', notes };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
