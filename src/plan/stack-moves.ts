/**
 * Resources that move from one stack to another. The receiving stack takes over their records once the ledger of the former owner
 * shows that it gave them away; until then the former owner has them. Pure.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Registry } from '../model/kind.ts';
import type {
  IncomingRecord,
  IncomingRecords,
  Ledger,
  LedgerRecord,
  MovedAway,
  StackIdentity,
} from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { type DesiredResource, isDeclaration, type MoveOrigin } from '../model/resource.ts';
import { formatIdentity, type IdentityText, identityOf, type Stack } from '../model/stack.ts';
import { findById } from './match-live.ts';

/** What a plan knows about resources that this stack takes over. */
export interface StackMoves {
  /** by address in this stack: the stack that owns the resource, or owned it when an interrupted apply began */
  readonly from: ReadonlyMap<AddressText, string>;
  /** by the same address: the ledger that gives the record away, by its folder as written and its stack id */
  readonly ledgers: ReadonlyMap<AddressText, string>;
  /** resources that the former owner gave to this stack, but that no ledger has a record of: another stack may own them by now */
  readonly withoutRecord: ReadonlySet<AddressText>;
  /** why resources cannot be taken over */
  readonly problems: readonly Diagnostic[];
}

export interface ResolvedMoves extends StackMoves {
  /** of this stack, with the records that it takes over */
  readonly ledger: Ledger;
  /** the ledger of this stack with only those records that the former owners have given away already */
  readonly received: Ledger;
  /** what the ledgers of the former owners must still give away */
  readonly pending: readonly IncomingRecords[];
}

interface MovesInput {
  /** the ledger of this stack as it is stored */
  readonly own: Ledger;
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  /** the id of this stack, if it has one */
  readonly stackId: string | undefined;
  /** The ledger of a former owner; undefined when there is none. */
  ledgerOf(origin: MoveOrigin): Ledger | undefined;
}

/** The stacks whose ledgers decide what this stack takes over, each once; none if there is nothing to take over. */
export function moveOrigins(own: Ledger, resources: readonly DesiredResource[]): MoveOrigin[] {
  const wanted = resources.flatMap(({ address, metadata: { movedFrom } }) =>
    movedFrom === undefined || own.records.has(formatAddress(address)) ? [] : [movedFrom],
  );
  const begun = (own.incoming ?? []).map(originOf);
  return [...new Map([...begun, ...wanted].map((origin) => [originKey(origin), origin])).values()];
}

export function originKey({ stack, folder = '' }: MoveOrigin): string {
  return `${stack}\0${folder}`;
}

export function originOf({ from: { stack }, folder }: IncomingRecords): MoveOrigin {
  return { stack, ...(folder === undefined ? {} : { folder }) };
}

export function resolveMoves(input: MovesInput): ResolvedMoves {
  const { own, stack, resources } = input;
  const given = (own.incoming ?? []).map((incoming) => givenAway(incoming, input));
  const known = new Set([...own.records.keys(), ...given.flatMap(({ records }) => Object.keys(records))]);
  const wanted = resources.filter(
    (resource) => isDeclaration(resource) && !known.has(formatAddress(resource.address)),
  );
  const search = { ...input, givenWithId: findById(own.movedAway ?? [], ([, { id }]) => id) };
  const found = wanted.flatMap((resource) => {
    const { movedFrom } = resource.metadata;
    return movedFrom === undefined ? [] : [{ origin: movedFrom, ...takeOne(resource, movedFrom, search) }];
  });
  const withoutRecord = new Map(
    found.flatMap(({ text, givenAt }) => (givenAt === undefined ? [] : [[text, givenAt] as const])),
  );
  const pending = [...Map.groupBy(found, ({ origin }) => originKey(origin)).values()].flatMap((group) => {
    const records = Object.fromEntries(group.flatMap(({ taken = [] }) => taken));
    const [first] = group;
    return first === undefined || Object.keys(records).length === 0
      ? []
      : [{ from: stackIn(first.origin, input), ...folderOf(first.origin), records }];
  });
  const returned = new Set(found.flatMap(({ isReturned, text }) => (isReturned ? [text] : [])));
  const received = withRecords(own, stack, { taken: given.flatMap(recordsOf), returned });
  const all = [...given, ...pending].flatMap(recordsOf);
  return {
    received,
    ledger: withRecords(received, stack, { taken: all, returned }),
    from: new Map(all.map(([text, , from]) => [text, from])),
    ledgers: new Map(
      [...given, ...pending].flatMap((incoming) =>
        recordsOf(incoming).map(([text]) => [text, sourceText(incoming, withoutRecord.get(text))] as const),
      ),
    ),
    withoutRecord: new Set(withoutRecord.keys()),
    problems: [
      ...(own.incoming ?? []).flatMap((incoming) => missingLedger(incoming, input)),
      ...found.flatMap(({ problem }) => problem ?? []),
    ],
    pending,
  };
}

type Taken = readonly [AddressText, LedgerRecord, string];

function recordsOf({ from, records }: IncomingRecords): Taken[] {
  return (Object.entries(records) as [AddressText, IncomingRecord][]).map(
    ([text, { record }]) => [text, withFormerOwner(record, from), from.stack] as const,
  );
}

/**
 * Names the other ledger. The text is part of the plan, so it leaves out that ledger's serial, which each apply of that stack changes.
 * @param givenAt when the other stack gave the resource away; present if no ledger has its record
 */
function sourceText({ from: { stack, id }, folder }: IncomingRecords, givenAt: string | undefined): string {
  const place = folder === undefined ? '' : ` in ${quoted(folder)}`;
  const warning =
    givenAt === undefined
      ? ''
      : `, which gave it to this stack at ${givenAt}: no ledger has its record now, so check that no other stack owns it`;
  return `ledger of stack ${quoted(stack)}${place}${id === undefined ? '' : `, id ${id}`}${warning}`;
}

/** The records that an interrupted apply was taking over and that their former owner has given to this stack. */
function givenAway(
  incoming: IncomingRecords,
  { own, stack, stackId, ledgerOf }: MovesInput,
): IncomingRecords {
  const source = ledgerOf(originOf(incoming));
  const isGiven = ([text, { at: addressThere }]: [string, IncomingRecord]) => {
    const away = source?.movedAway?.get(addressThere);
    if (source === undefined || away === undefined || source.records.has(addressThere)) return false;
    return isTo(away, stack, stackId) && !own.records.has(text as AddressText);
  };
  return { ...incoming, records: Object.fromEntries(Object.entries(incoming.records).filter(isGiven)) };
}

/** Without the ledger of the former owner it is unknown whether it gave the records away, so nothing is applied. */
function missingLedger(incoming: IncomingRecords, { stack, ledgerOf }: MovesInput): Diagnostic[] {
  const origin = originOf(incoming);
  if (ledgerOf(origin)?.known === true) return [];
  return [
    {
      code: 'move-impossible',
      severity: 'error',
      class: 'conflict',
      message: `an interrupted apply of stack ${quoted(stack.name)} was taking resources over from stack ${quoted(origin.stack)}, whose ledger is not found now`,
      fix: 'restore that ledger, then apply this one again',
    },
  ];
}

function isTo({ to }: MovedAway, { name }: Stack, stackId: string | undefined): boolean {
  return to.stack === name && (to.id === undefined || stackId === undefined || to.id === stackId);
}

interface Found {
  readonly text: AddressText;
  /** the record of the resource and those of its children */
  readonly taken?: readonly (readonly [AddressText, IncomingRecord])[];
  /** when the other stack gave it to this one, whose ledger has no record of it; RFC 3339 */
  readonly givenAt?: string;
  /** this stack gave it to the other stack, which has released it since: it belongs to this stack again */
  readonly isReturned?: true;
  readonly problem?: Diagnostic;
}

interface Search extends MovesInput {
  /** A resource that this stack gave away, by its kind, target and id. */
  givenWithId(address: Address, id: string): MovedAway | undefined;
}

function takeOne(resource: DesiredResource, origin: MoveOrigin, input: Search): Found {
  const { own, stack, stackId } = input;
  const { address } = resource;
  const text = formatAddress(address);
  const refused = (message: string, fix: string): Found => ({
    text,
    problem: {
      code: 'move-impossible',
      severity: 'error',
      class: 'conflict',
      message: `${quoted(text)} cannot be taken over from stack ${quoted(origin.stack)}: ${message}`,
      place: resource.place,
      fix,
    },
  });
  const source = input.ledgerOf(origin);
  if (source === undefined || !source.known)
    return refused(
      'that stack has no ledger where this stack keeps its own',
      'correct the name. Both stacks need the same place of the ledger in "spec.ledger": move one of the two with "trueup ledger move"; for a local ledger in another folder, add "folder" to "movedFrom"',
    );
  if (source.closedFor !== undefined)
    return refused(
      `that stack was renamed to ${quoted(source.closedFor)}`,
      `write ${quoted(`movedFrom: { stack: ${source.closedFor} }`)}`,
    );
  const places = placesIn(source, address, stack);
  const addressThere = places.find((place) => source.records.has(place));
  if (addressThere !== undefined)
    return { text, taken: recordsAt(source, addressThere, { ...input, address }) };
  const gone = places.find((place) => source.movedAway?.has(place)) ?? text;
  const away = source.movedAway?.get(gone);
  if (away !== undefined && !isTo(away, stack, stackId))
    return refused(
      `that stack gave it to stack ${quoted(away.to.stack)} at ${away.at}`,
      `write ${quoted(`movedFrom: { stack: ${away.to.stack} }`)}`,
    );
  const given = away && givenOnward(input, address, away);
  if (given !== undefined && given.to.stack !== origin.stack)
    return refused(
      `this stack gave it to stack ${quoted(given.to.stack)} at ${given.at}`,
      `remove "movedFrom"; to take it back, write ${quoted(`movedFrom: { stack: ${given.to.stack} }`)}`,
    );
  // The other stack gave it to this one before, but this ledger has no record: it was lost, or this stack released or deleted the resource.
  if (away !== undefined)
    return { text, taken: [[text, { at: gone, record: lostRecord(away) }]], givenAt: away.at };
  // This stack gave it to the other stack, which has released it.
  if (own.movedAway?.get(text)?.to.stack === origin.stack) return { text, isReturned: true };
  return refused(
    'its ledger has no record of the resource in this target',
    'correct the stack or the name, or apply that stack first; if this stack owns the resource already, remove "movedFrom"',
  );
}

/** The entry of this stack's ledger about giving the resource away, found by its address or by its id. */
function givenOnward(
  { own: { movedAway }, givenWithId }: Search,
  address: Address,
  { id }: MovedAway,
): MovedAway | undefined {
  return movedAway?.get(formatAddress(address)) ?? (id === undefined ? undefined : givenWithId(address, id));
}

/** A record in place of the lost one, of which only the id is known. It says `adopted`, so that the resource is never deleted for it. */
function lostRecord({ id }: MovedAway): LedgerRecord {
  return { ...(id === undefined ? {} : { id }), origin: 'adopted', fields: {} };
}

/** The possible addresses of the resource in the other ledger, where targets with the same identity may have other names. */
function placesIn({ targets }: Ledger, address: Address, stack: Stack): AddressText[] {
  const identity = targetIdentity(address, stack);
  return [...(targets ?? [])].flatMap(([target, is]) =>
    is === identity ? [formatAddress({ ...address, target })] : [],
  );
}

function targetIdentity({ target: name }: Address, { targets }: Stack): IdentityText | undefined {
  const target = targets.find((one) => one.name === name);
  return target && formatIdentity(identityOf(target));
}

function recordsAt(
  { records }: Ledger,
  addressThere: AddressText,
  { kinds, address }: Pick<MovesInput, 'kinds'> & { readonly address: Address },
): [AddressText, IncomingRecord][] {
  const there = parseAddress(addressThere);
  const children = [...kinds.values()].flatMap(({ name, ownership }) => {
    const child = { ...there, kind: name };
    return ownership.by === 'child' && formatAddress(ownership.of(child)) === addressThere ? [child] : [];
  });
  return [there, ...children].flatMap((one) => {
    const record = records.get(formatAddress(one));
    const text = formatAddress({ ...address, kind: one.kind });
    return record === undefined ? [] : [[text, { at: formatAddress(one), record }] as const];
  }) as [AddressText, IncomingRecord][];
}

function stackIn(origin: MoveOrigin, { ledgerOf }: MovesInput): StackIdentity {
  const id = ledgerOf(origin)?.stackId;
  return { stack: origin.stack, ...(id === undefined ? {} : { id }) };
}

function folderOf({ folder }: MoveOrigin): Pick<IncomingRecords, 'folder'> {
  return folder === undefined ? {} : { folder };
}

function withFormerOwner(record: LedgerRecord, from: StackIdentity): LedgerRecord {
  const before = (record.formerOwners ?? []).filter(({ stack }) => stack !== from.stack);
  return { ...record, formerOwners: [...before, from] };
}

interface Changes {
  readonly taken: readonly Taken[];
  /** resources that this stack gave away and gets back: their entries in `movedAway` are dropped */
  readonly returned: ReadonlySet<AddressText>;
}

function withRecords({ incoming: _, ...own }: Ledger, stack: Stack, { taken, returned }: Changes): Ledger {
  const records = new Map([...own.records, ...taken.map(([text, record]) => [text, record] as const)]);
  const identities = taken.flatMap(([text]) => {
    const { target } = parseAddress(text);
    const identity = targetIdentity(parseAddress(text), stack);
    return identity === undefined ? [] : [[target, identity] as const];
  });
  // A target without an identity in this ledger gets the identity of the records that are taken over. `targets` stays undefined in a
  // ledger of an older version: its records count for the current targets.
  const known = own.targets ?? (own.known ? undefined : new Map<string, IdentityText>());
  const targets = known && new Map([...identities, ...known]);
  const movedAway = new Map([...(own.movedAway ?? [])].filter(([text]) => !returned.has(text)));
  return {
    ...own,
    known: own.known || taken.length > 0,
    records,
    ...(targets === undefined ? {} : { targets }),
    ...(own.movedAway === undefined ? {} : { movedAway }),
  };
}

/**
 * The ledger of the former owner without what it gives away. Writing this ledger ends its ownership.
 * @param at RFC 3339
 */
export function withoutMoved(
  source: Ledger,
  { records }: IncomingRecords,
  { to, at }: Pick<MovedAway, 'to' | 'at'>,
): Ledger {
  const given = Object.values(records).flatMap(({ at: addressThere, record: { id } }) =>
    sameResource(source, addressThere).map(
      (each) => [each, { to, ...(id === undefined ? {} : { id }), at }] as const,
    ),
  );
  const left = new Map(source.records);
  for (const [text] of given) left.delete(text);
  return { ...source, records: left, movedAway: new Map([...(source.movedAway ?? []), ...given]) };
}

/** The address, and other addresses under which the ledger has the same resource, because its target was renamed. */
function sameResource({ targets, records }: Ledger, text: AddressText): AddressText[] {
  const address = parseAddress(text);
  const identity = targets?.get(address.target);
  const others = [...(targets ?? [])].flatMap(([target, is]) =>
    is === identity ? [formatAddress({ ...address, target })] : [],
  );
  return [text, ...others.filter((other) => other !== text && records.has(other))];
}
