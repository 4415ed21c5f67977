/**
 * Reads the resources of an export with GET and LIST: first the parents, in bulk, then the children of the selected ones, with
 * progress on stderr. A resource is selected if it matches the filters and has no owner yet.
 */
import { type Address, type AddressText, formatAddress } from '../../model/address.ts';
import type { Reader } from '../../model/http.ts';
import { valueAt } from '../../model/json.ts';
import type { Kind, LiveSet, ReadRequest, Registry, Session } from '../../model/kind.ts';
import type { Ledger } from '../../model/ledger.ts';
import { matchesPattern, ownsName } from '../../model/name-pattern.ts';
import type { NameLists } from '../../model/named-reference.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
import type { Stack, Target } from '../../model/stack.ts';
import { printable } from '../../report/view/printable.ts';
import type { ConnectedTarget } from '../connect.ts';
import { hasTag, type LiveProjects, type LiveSelection } from '../selection/select-live.ts';
import type { Terminal } from '../terminal.ts';

/** The parents of one target, and those of them that will be written. */
interface ParentReading {
  readonly connected: ConnectedTarget;
  /** everything that was read, by kind */
  readonly sets: ReadonlyMap<string, LiveSet>;
  /** the resources without an owner, by address */
  readonly parents: ReadonlyMap<AddressText, LiveResource>;
  /** how many were left out, by the reason */
  readonly leftOut: ReadonlyMap<string, number>;
}

export interface ExportedTarget extends Omit<ParentReading, 'parents'> {
  /** addresses of the resources to write, parents and children */
  readonly chosen: ReadonlySet<AddressText>;
  /** the lists of the objects that these resources refer to */
  readonly names: NameLists;
}

interface ExportRequest {
  readonly kinds: Registry;
  /** names of kinds to write */
  readonly wanted: ReadonlySet<string>;
  readonly filters: Filters;
  /** what `--select` chooses among the resources that the filters match; absent for all of them */
  readonly selection?: LiveSelection | undefined;
  /** the projects of all targets, for the filters and the selection */
  readonly projects: LiveProjects;
  readonly owners: Owners;
  readonly progress: ReadProgress;
}

/** The first step: the parents, in bulk. @throws WireError when the target cannot be reached */
export async function readExport(connected: ConnectedTarget, request: ExportRequest): Promise<ExportReading> {
  const opened = connected.openSession();
  const reading = {
    connected,
    session: { ...opened, reader: request.progress.countingReader(opened.target.name, opened.reader) },
    request,
    sets: new Map<string, LiveSet>(),
    parents: new Map<AddressText, LiveResource>(),
    leftOut: new Map<string, number>(),
  };
  const kinds = kindsOf(reading);
  const { target } = connected;
  for (const kind of kinds)
    if (isNeeded(kind, kinds, request.wanted) && request.selection?.mayHaveKind(kind, target) !== false)
      await readParents(reading, kind);
  return reading;
}

/** The second step: the children of the parents without an owner. @throws WireError when the target cannot be reached */
export async function readRest(reading: ExportReading): Promise<ExportedTarget> {
  const { connected, request, sets, parents, leftOut } = reading;
  const chosen = new Set<AddressText>();
  for (const [text, live] of parents)
    if (request.wanted.has(live.address.kind) && request.selection?.has(live) !== false) chosen.add(text);
  const kinds = kindsOf(reading);
  for (const kind of kinds) {
    if (!isWantedChild(kind, kinds, request.wanted)) continue;
    for (const text of await readChildren(reading, kind)) chosen.add(text);
  }
  return { connected, sets, chosen, leftOut, names: await readNames(reading, chosen) };
}

/** One list for each type of object that a resource to write, or a default of the stack, refers to. */
async function readNames(reading: ExportReading, chosen: ReadonlySet<AddressText>): Promise<NameLists> {
  const { session, sets, request } = reading;
  const wanted = kindsOf(reading).flatMap(({ name, named, toManifest }) => {
    const resources = (sets.get(name)?.resources ?? []).filter(({ address }) =>
      chosen.has(formatAddress(address)),
    );
    const specs =
      named === undefined ? [] : resources.map((live) => toManifest?.(live, {}).spec ?? live.spec);
    const defaults = request.owners.stack.defaults.flatMap(({ kinds }) => kinds[name] ?? []);
    const used = named?.references.filter(
      ({ id, name: at }) =>
        specs.some((spec) => typeof valueAt(spec, id) === 'string') ||
        (resources.length > 0 && defaults.some((one) => typeof valueAt(one, at) === 'string')),
    );
    return named === undefined ? [] : (used ?? []).map(({ objectType }) => ({ objectType, named }));
  });
  if (wanted.length > 0) request.progress.begin(session.target.name, 'reading names');
  const lists = wanted.map(
    async ({ objectType, named }) => [objectType, await named.list(session, objectType)] as const,
  );
  return new Map(await Promise.all(lists));
}

export interface ExportReading extends ParentReading {
  readonly session: Session;
  readonly request: ExportRequest;
  readonly sets: Map<string, LiveSet>;
  readonly parents: Map<AddressText, LiveResource>;
  readonly leftOut: Map<string, number>;
}

function kindsOf({ connected, request }: ExportReading): Kind[] {
  return [...request.kinds.values()].filter(({ service }) => service === connected.target.service);
}

/** Children are chosen by their parents, so parents are read even if only children will be written. */
function isNeeded(kind: Kind, kinds: readonly Kind[], wanted: ReadonlySet<string>): boolean {
  if (kind.ownership.by === 'child') return false;
  return (
    wanted.has(kind.name) || kinds.some((child) => wanted.has(child.name) && parentKind(child) === kind.name)
  );
}

function isWantedChild(kind: Kind, kinds: readonly Kind[], wanted: ReadonlySet<string>): boolean {
  if (kind.ownership.by !== 'child') return false;
  if (wanted.has(kind.name)) return true;
  const parent = kinds.find(({ name }) => name === parentKind(kind));
  const isShort = Object.values(parent?.shortForms ?? {}).some((form) => form.kind === kind.name);
  return isShort && wanted.has(parent?.name ?? '');
}

function parentKind({ name, ownership }: Kind): string | undefined {
  return ownership.by === 'child' ? ownership.of({ kind: name, target: '', name: '' }).kind : undefined;
}

async function readParents(reading: ExportReading, kind: Kind): Promise<void> {
  const { session, request } = reading;
  const { filters, selection, projects, owners, progress } = request;
  const { name: target } = session.target;
  const isInScope = (name: string) =>
    matchesName(filters, name) &&
    whyExcluded(kind, session.target, name) === undefined &&
    selection?.mayHave({ kind: kind.name, target, name }) !== false;
  progress.begin(session.target.name, `reading ${kind.name}`);
  const set = withUnread(await kind.read(session, readRequestFor(isInScope)));
  reading.sets.set(kind.name, set);
  await lookUpProjects(reading, kind);
  for (const live of set.resources) {
    projects.note(live);
    selection?.note(live);
    if (!isInScope(live.address.name) || !matchesContent(filters, live, projects)) continue;
    if (selection !== undefined && !isWithin(selection, live, request.kinds)) continue;
    const why = filters.all ? undefined : whyLeftOut(kind, live, owners);
    if (why === undefined) reading.parents.set(formatAddress(live.address), live);
    else if (request.wanted.has(kind.name)) reading.leftOut.set(why, (reading.leftOut.get(why) ?? 0) + 1);
  }
}

/** Reads the projects if a filter or selector needs them. Called after a kind was read: if it is that of projects, their list is known. */
async function lookUpProjects({ session, request }: ExportReading, kind: Kind): Promise<void> {
  const { filters, selection, projects } = request;
  if (filters.project !== undefined || selection?.asksForProjects) await projects.read(session, kind);
}

/** Whether a parent or a child of it is selected. */
function isWithin(selection: LiveSelection, live: LiveResource, kinds: Registry): boolean {
  if (selection.has(live)) return true;
  return [...kinds.values()].some(({ name, ownership }) => {
    const child = { ...live.address, kind: name };
    if (ownership.by !== 'child' || ownership.of(child).kind !== live.address.kind) return false;
    return selection.hasChild(child, live);
  });
}

/** Reads the children of the chosen parents. Those that are declared already are left out. */
async function readChildren(
  { session, request, sets, parents }: ExportReading,
  kind: Kind,
): Promise<AddressText[]> {
  const { name: target } = session.target;
  const { ownership } = kind;
  const isChosen = (name: string) =>
    ownership.by === 'child' && parents.has(formatAddress(ownership.of({ kind: kind.name, target, name })));
  const { length: count } = [...parents.values()].filter(({ address }) => address.kind === parentKind(kind));
  if (count === 0) return [];
  request.progress.begin(target, `reading ${kind.name} of ${counted(count, 'resource')}`);
  const set = withUnread(await kind.read(session, readRequestFor(isChosen)));
  sets.set(kind.name, set);
  const { declared } = request.owners;
  const { selection } = request;
  const isSelected = (child: Address) => {
    const parent = ownership.by === 'child' ? parents.get(formatAddress(ownership.of(child))) : undefined;
    return selection === undefined || parent === undefined || selection.hasChild(child, parent);
  };
  return set.resources
    .filter(({ address }) => isSelected(address))
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

// Selects the live resources of an export: those that match the filters and have no owner yet. A child is exported together
// with its parent.

interface Filters {
  /** patterns with `*`; an empty list matches every name */
  readonly names: readonly string[];
  /** `key=value`, or a key or flat tag alone; a resource must have all of them */
  readonly tags: readonly string[];
  /** its name or its id */
  readonly project?: string;
  /** includes resources that are declared or owned already */
  readonly all: boolean;
}

interface Owners {
  readonly stack: Stack;
  readonly declared: ReadonlySet<AddressText>;
  readonly ledger: Ledger;
}

function matchesName({ names }: Filters, name: string): boolean {
  return names.length === 0 || names.some((pattern) => matchesPattern(name, pattern));
}

/** Whether a live resource has the tags and the project of the filters. Without tags or project, it does not match a filter for them. */
function matchesContent({ tags, project }: Filters, live: LiveResource, projects: LiveProjects): boolean {
  if (project !== undefined && !projects.has(live, project)) return false;
  return tags.every((tag) => hasTag(live, tag));
}

/** Why a resource that matches the filters is left out: one text for each reason. Undefined when it is not left out. */
function whyLeftOut(kind: Kind, live: LiveResource, owners: Owners): string | undefined {
  const text = formatAddress(live.address);
  const { ownershipTag } = live.evidence;
  if (owners.declared.has(text)) return 'declared in this stack';
  if (ownershipTag !== undefined) {
    const { name, renamedFrom } = owners.stack;
    const isOtherId = ownershipTag.id !== undefined && ownershipTag.id !== owners.ledger.stackId;
    const another = isOtherId ? `another stack ${quoted(ownershipTag.stack)}` : 'this stack';
    const by = [name, renamedFrom].includes(ownershipTag.stack)
      ? another
      : `stack ${quoted(ownershipTag.stack)}`;
    return `claimed by ${by}${ownershipTag.inherited ? ' through a project' : ''}`;
  }
  return kind.ownership.by === 'ledger' && owners.ledger.records.has(text)
    ? 'applied by this stack before'
    : undefined;
}

/** Why a role cannot be exported: its target does not own the name, so it cannot be declared. Undefined if it can. */
function whyExcluded({ ownership, names }: Kind, target: Target, name: string): string | undefined {
  if (ownership.by !== 'ledger' || !ownership.limitedByOwns || ownsName(target, name, names))
    return undefined;
  return `outside the names that target ${quoted(target.name)} owns`;
}

// Shows the progress of reading several targets on stderr: on a terminal, one line is updated; elsewhere, lines are added.

export interface ReadProgress {
  /** Begins a step of one target: `("acme", "reading Workspace")`. */
  begin(target: string, what: string): void;
  /** The same reader, which counts its answers for the current step of the target. */
  countingReader(target: string, reader: Reader): Reader;
  end(): void;
}

/** Without a terminal, a line is printed after this many answers. */
const answersPerLine = 500;
/** Moves the cursor to the start of its line and clears the line. */
const clearLine = '\r\u001b[K';

interface Step {
  readonly what: string;
  answers: number;
}

export function openReadProgress({ host }: Terminal): ReadProgress {
  const { stderr } = host;
  const isLive = stderr.isTTY && host.env['TERM'] !== 'dumb';
  const steps = new Map<string, Step>();
  const lineOf = (target: string) => {
    const { what, answers } = steps.get(target) ?? { what: '', answers: 0 };
    return printable(`${target}: ${what}${answers === 0 ? '' : `, ${counted(answers, 'request')}`}`);
  };
  const print = (target: string) => {
    if (!isLive) return stderr.write(`${lineOf(target)}\n`);
    const all = [...steps.keys()].map(lineOf).join('; ');
    return stderr.write(`${clearLine}${all.slice(0, (stderr.columns ?? 80) - 1)}`);
  };
  const count = <T>(target: string, answer: T): T => {
    const step = steps.get(target);
    if (step === undefined) return answer;
    step.answers += 1;
    if (isLive || step.answers % answersPerLine === 0) print(target);
    return answer;
  };
  return {
    begin: (target, what) => {
      steps.set(target, { what, answers: 0 });
      print(target);
    },
    countingReader: (target, { get, list }) => ({
      get: async (path) => count(target, await get(path)),
      list: async (path) => count(target, await list(path)),
    }),
    end: () => {
      if (isLive) stderr.write(clearLine);
    },
  };
}
