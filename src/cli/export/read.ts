/**
 * Reads the resources of an export: first the wholes, in bulk, then the parts of the chosen ones. Sends only GET and LIST.
 */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { counted } from '../../model/counted.ts';
import type { Kind, LiveSet, Registry, Session, ReadRequest } from '../../model/kind/kind.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { ConnectedTarget } from '../run/connect.ts';
import type { ReadProgress } from './progress.ts';
import { type Filters, isExcluded, matchesContent, matchesName, type Owners, ownerOf } from './select.ts';

export interface ExportedTarget {
  readonly connected: ConnectedTarget;
  /** everything that was read, by kind */
  readonly sets: ReadonlyMap<string, LiveSet>;
  /** addresses of the resources to write, wholes and parts */
  readonly chosen: ReadonlySet<AddressText>;
  /** how many were left out, by the reason */
  readonly leftOut: ReadonlyMap<string, number>;
}

interface ExportRequest {
  readonly kinds: Registry;
  /** names of kinds to write */
  readonly wanted: ReadonlySet<string>;
  readonly filters: Filters;
  readonly owners: Owners;
  readonly progress: ReadProgress;
}

/** @throws WireError when the target cannot be reached */
export async function readExport(
  connected: ConnectedTarget,
  request: ExportRequest,
): Promise<ExportedTarget> {
  const opened = connected.openSession();
  const reading: ExportReading = {
    session: { ...opened, reader: request.progress.counted(opened.target.name, opened.reader) },
    request,
    sets: new Map(),
    wholes: new Map(),
    leftOut: new Map(),
  };
  const kinds = [...request.kinds.values()].filter(({ service }) => service === connected.target.service);
  for (const kind of kinds) if (isNeeded(kind, kinds, request.wanted)) await readParents(reading, kind);
  const chosen = new Set<AddressText>();
  for (const [text, { address }] of reading.wholes) if (request.wanted.has(address.kind)) chosen.add(text);
  for (const kind of kinds) {
    if (!isWantedPart(kind, kinds, request.wanted)) continue;
    for (const text of await readParts(reading, kind)) chosen.add(text);
  }
  return { connected, sets: reading.sets, chosen, leftOut: reading.leftOut };
}

interface ExportReading {
  readonly session: Session;
  readonly request: ExportRequest;
  readonly sets: Map<string, LiveSet>;
  readonly wholes: Map<AddressText, LiveResource>;
  readonly leftOut: Map<string, number>;
}

/** Parts are chosen by their wholes, so wholes are read even when only parts are to be written. */
function isNeeded(kind: Kind, kinds: readonly Kind[], wanted: ReadonlySet<string>): boolean {
  if (kind.ownership.by === 'part') return false;
  return (
    wanted.has(kind.name) || kinds.some((part) => wanted.has(part.name) && parentKind(part) === kind.name)
  );
}

function isWantedPart(kind: Kind, kinds: readonly Kind[], wanted: ReadonlySet<string>): boolean {
  if (kind.ownership.by !== 'part') return false;
  if (wanted.has(kind.name)) return true;
  const whole = kinds.find(({ name }) => name === parentKind(kind));
  const isShort = Object.values(whole?.shortForms ?? {}).some((form) => form.kind === kind.name);
  return isShort && wanted.has(whole?.name ?? '');
}

function parentKind({ name, ownership }: Kind): string | undefined {
  return ownership.by === 'part' ? ownership.of({ kind: name, target: '', name: '' }).kind : undefined;
}

async function readParents(reading: ExportReading, kind: Kind): Promise<void> {
  const { session, request } = reading;
  const { filters, owners, progress } = request;
  const isInScope = (name: string) =>
    matchesName(filters, name) && isExcluded(kind, session.target, name) === undefined;
  progress.begin(session.target.name, `reading ${kind.name}`);
  const set = withUnread(await kind.read(session, readRequestFor(isInScope)));
  reading.sets.set(kind.name, set);
  for (const live of set.resources) {
    if (!isInScope(live.address.name) || !matchesContent(filters, live)) continue;
    const owner = filters.all ? undefined : ownerOf(kind, live, owners);
    if (owner === undefined) reading.wholes.set(formatAddress(live.address), live);
    else if (request.wanted.has(kind.name)) reading.leftOut.set(owner, (reading.leftOut.get(owner) ?? 0) + 1);
  }
}

/** Reads the parts of the chosen wholes. Parts that are declared already are left out. */
async function readParts(
  { session, request, sets, wholes }: ExportReading,
  kind: Kind,
): Promise<AddressText[]> {
  const { name: target } = session.target;
  const { ownership } = kind;
  const isChosen = (name: string) =>
    ownership.by === 'part' && wholes.has(formatAddress(ownership.of({ kind: kind.name, target, name })));
  if (wholes.size === 0) return [];
  request.progress.begin(target, `reading ${kind.name} of ${counted(wholes.size, 'resource')}`);
  const set = withUnread(await kind.read(session, readRequestFor(isChosen)));
  sets.set(kind.name, set);
  const { declared } = request.owners;
  return set.resources
    .map(({ address }) => formatAddress(address))
    .filter((text) => request.filters.all || !declared.has(text));
}

/** A set that could not be read at all is incomplete, too. */
function withUnread(set: LiveSet): LiveSet {
  return set.unread === undefined ? set : { ...set, incomplete: [set.unread] };
}

function readRequestFor(undeclared: (name: string) => boolean): ReadRequest {
  return { declared: [], records: new Map(), record: () => undefined, undeclared };
}
