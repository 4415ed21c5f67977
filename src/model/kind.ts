/**
 * The contract that each kind implements. Differ, planner, applier and reports know a kind only through it, so that
 * a new kind changes none of them. Only the functions that read do I/O, and they get no means to write.
 */
import type { Access } from './access.ts';
import type { Address, AddressText } from './address.ts';
import type { Call } from './call.ts';
import type { Action, Change } from './change.ts';
import type { Diagnostic, Severity } from './diagnostic.ts';
import type { CallContext, CallOwner, MarkContext, PlannedCalls, ReturnedFields } from './kind-calls.ts';
import type { CompareContext, Inheritable, Named, PreparedSpecs } from './kind-specs.ts';
import type { DiagnosticCode } from './diagnostic-codes.ts';
import type { FieldChange, FieldTable } from './field.ts';
import type { Json, JsonObject, Path } from './json.ts';
import type { Ledger, LedgerRecord } from './ledger.ts';
import type { NameList, NamedReference } from './named-reference.ts';
import type { DesiredResource, LiveResource, ReturnedResource, Spec } from './resource.ts';
import type { Risk } from './guard.ts';
import type { Dialect, Service, Target } from './stack.ts';
import type { Answer, Reader } from './http.ts';

/**
 * `D`: the spec that a manifest may declare. `L`: a live resource as the kind's own `read` returns it. `P`: the spec that its
 * `prepare` makes from a declared one. Each kind sets its own types (`defineKind`); code for all kinds uses the defaults.
 */
export interface Kind<D extends Spec = Spec, L extends LiveResource = LiveResource, P extends Spec = D> {
  readonly name: string;
  readonly service: Service;
  /** one line for `--help` and the schema's description */
  readonly summary: string;
  readonly names: NameRule;

  // Schema: what a manifest may declare.
  /** JSON Schema (draft 2020-12) of `spec` */
  readonly specSchema: JsonObject;
  /** every field of `specSchema`, except short forms and fields that give an object of the service by its name */
  readonly fields: FieldTable;
  /** how an absent field is treated: not managed, or set to its default (if every write replaces the whole resource) */
  readonly absent: 'unmanaged' | 'default';
  /** fields of `spec` that replace a document of another kind with the same name and target */
  readonly shortForms?: Readonly<Record<string, ShortForm>>;
  /** Converts deprecated fields to their successors. Runs once, when manifests are resolved. */
  readonly upgrade?: (spec: Named<D>) => Named<D>;
  /** The rules about one resource that a schema cannot express. Offline. */
  readonly check?: (resource: DesiredResource<D>, others: CheckContext) => readonly ResourceProblem[];
  /** the objects of the service that a manifest can give by name instead of by id, and how they are listed */
  readonly named?: NamedObjects;
  /** The other resources that this one names. */
  readonly references?: (resource: DesiredResource<D>) => readonly Reference[];
  /**
   * The spec that an export writes, if that is not simply the live one: without values that depend on another field, are temporary, or
   * belong to others. A field that the stack's `defaults` set is always written: otherwise the default would override the live value.
   */
  readonly toManifest?: (live: L, defaults: Named<D>) => Description;

  // Read: live resources.
  /** Reads in bulk what the plan needs of one target. */
  readonly read: (session: Session, wanted: ReadRequest<D>) => Promise<LiveSet<L>>;
  /** Reads one resource again, before a write or after a create whose response was lost. `action` is that of the change. */
  readonly readOne: (
    session: Session,
    address: Address,
    id?: string,
    action?: Action,
  ) => Promise<L | undefined>;
  /** For a kind whose list can show all that `readOne` reads: reads its pages again, for many updates at once. */
  readonly pages?: {
    /** how many resources a page has */
    readonly size: number;
    /**
     * The resource as a page shows it, with `listIndex`; undefined if it is not on the page, or must be read alone.
     * @throws WireError when the page cannot be read
     */
    read(session: Session, about: OnPage): Promise<L | undefined>;
  };
  /**
   * Reads again the values that a parent gives, just before a write that relies on them. A session sends one request for each parent,
   * and one for their common parent if that gives a value.
   */
  readonly readInheritable?: (session: Session, planned: Inheritable) => Promise<Inheritable>;
  /**
   * For a resource that the plan saw and `readOne` no longer finds: looks for it at a second place of the service, such as a list.
   * Returns why the resource may still exist; undefined when it is gone there, too.
   */
  readonly whyNotGone?: (session: Session, address: Address, id?: string) => Promise<string | undefined>;

  // Compare: desired with live.
  /** The two specs to compare, if these are not simply the declared and the live one. */
  readonly prepare?: (sides: CompareContext<D, L>) => PreparedSpecs<P>;
  /**
   * Texts by which a renamed resource is recognized. Two resources are similar when their first texts are equal, and more similar
   * with each other text that is equal. Undefined when nothing identifies the resource. `spec` is canonical.
   */
  readonly similarity?: (spec: Named<D>) => readonly string[] | undefined;

  // Write: calls and their responses.
  /** The requests that carry out a change. Pure. Bodies use `neutral` names. */
  readonly calls: (change: Change, context: CallContext<D, L, P>) => PlannedCalls;
  /** The fields that the response to a write contains; undefined when it contains none. */
  readonly fieldsFromResponse?: (call: Call, answer: Answer) => ReturnedFields | undefined;
  /** Name and organization of the resource in the response to a create; undefined when it does not show them. */
  readonly returnedResource?: (answer: Answer) => ReturnedResource | undefined;
  /** For a repeated call with `already` that finds its work done: the lost response, if it is proved that an earlier attempt did it. */
  readonly recoverAnswer?: (session: Session, call: Call, about: CallOwner) => Promise<Answer | undefined>;
  /** What the ledger records of an applied resource besides its fields; called after each call that was carried out. */
  readonly ledgerMarks?: (context: MarkContext<D, L>) => Readonly<Record<string, Json>>;

  // Ownership: which stack owns a resource, and what removals change.
  readonly ownership: Ownership;
  /**
   * Values other than fields, by name, that also show whether others changed this resource since this stack last wrote it. Only for
   * kinds with an ownership tag, in a target that keeps no such tags.
   */
  readonly contentBesides?: (live: L) => Readonly<Record<string, Json>>;
  /** Children only: the spec that remains of a live child whose document is gone, given what was last applied. */
  readonly withdrawAccess?: (record: LedgerRecord<Named<D>>, live: L) => P;
  /** The fields of a released parent that change besides its ownership tag, with new values; the plan shows them. */
  readonly released?: (live: L, record?: LedgerRecord<Named<D>>) => P;

  // Risk: what a change opens, closes or destroys.
  /**
   * Who gains or loses which access by a change. Gets two complete canonical specs: `before` is undefined for a create,
   * `after` for a delete. The value of a field that `before` lacks is unknown.
   */
  readonly risk?: (
    before: Named<D> | undefined,
    after: Named<D> | undefined,
    dialect: Dialect,
  ) => readonly Risk[];
  /** What access the live resource gives; undefined when it gives none. */
  readonly access?: (live: L) => Access | undefined;
  /**
   * Children only: sentences about who loses what when the parent of this live child is deleted. The plan shows them with that
   * deletion. `outlives` says whether another resource, known by its id, still exists after the plan: a resource that the
   * same plan deletes loses nothing.
   */
  readonly losses?: (live: L, outlives: (address: Address, id: string) => boolean) => readonly string[];
  /**
   * Children only: clauses about the access that this stack had granted and that stays when the parent is released.
   * `live` is the current child, if it was read.
   */
  readonly remainingAccess?: (record: LedgerRecord<Named<D>>, live?: L) => readonly string[];
  /** Why this resource must never be deleted, even on request, as a clause; undefined if it may be deleted. */
  readonly permanent?: (live: L) => string | undefined;
  /**
   * The resources that are in this one, as far as they were read. This one is deleted only if the same plan deletes them, or moves
   * them to another one. A forced deletion overrides neither this nor other blockers.
   */
  readonly contents?: (live: L) => readonly Content[];
  /**
   * Why the service will refuse this action on this resource in its current state; empty when it will not. `record` is its
   * ledger record, which shows whether a lock is ours: our own lock does not block.
   */
  readonly blockers?: (live: L, action: Action, record?: LedgerRecord<Named<D>>) => readonly string[];
  /** Whether the service deletes this resource without checking that nothing is lost: then an approval covers that as well. */
  readonly deletesUnguarded?: (live: L) => boolean;
  /**
   * The facts that a forced deletion of this resource overrides, and that a safe one would be refused for. They are part of
   * the meaning of the deletion: approved with it, and checked again before it is sent.
   */
  readonly overridden?: (live: L, record?: LedgerRecord<Named<D>>) => readonly Overridden[];
}

export interface Overridden {
  /** the fact as a field change: its path begins with `overrides`; it has a value before and none after */
  readonly field: FieldChange;
  /** the same, as a clause about the resource: "it manages 3 resources, and loses their state" */
  readonly message: string;
}

/** A resource in another one, such as a workspace in its project. */
export interface Content {
  readonly address: Address;
  readonly id: string;
}

export interface Description {
  readonly spec: Spec;
  /** sentences for readers of the manifest, about what a manifest cannot or should not hold; no secrets */
  readonly remarks?: readonly string[];
}

export interface NameRule {
  readonly pattern: RegExp;
  /** the pattern in words: "letters, digits, - and _" */
  readonly description: string;
  /** the name as the service stores it, where that differs */
  fold?(name: string): string;
}

/** What proves that a resource is ours. */
type Ownership =
  /**
   * an ownership tag in the target, with a creator mark. `foundByLedgerOnly`: undeclared resources of ours are found only by the ledger, so
   * that a stack sends no request if it has neither declared nor recorded any
   */
  | { readonly by: 'claim'; readonly foundByLedgerOnly?: true }
  /** the ledger; `limitedByOwns`: only names that the target's `owns` allows */
  | { readonly by: 'ledger'; readonly limitedByOwns: boolean; readonly undeclared: 'delete' | 'release' }
  /** the owner of its parent */
  | { readonly by: 'child'; readonly of: (address: Address) => Address };

export interface ShortForm {
  readonly kind: string;
  /** the spec of the document that the short form replaces */
  spec(value: Json): Spec;
}

export interface NamedObjects {
  readonly references: readonly NamedReference[];
  /**
   * Reads one list in bulk. @param objectType that of one of the references
   * @throws WireError when the service cannot be reached; a refusal is returned as the `problem` of the list
   */
  list(session: Session, objectType: string): Promise<NameList>;
}

/** A problem that a kind finds in one resource. `src/manifest` adds the place in the file. */
export interface ResourceProblem {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** below `spec`; `[]` is the document itself */
  readonly path: Path;
  /** whether to point at the key or the value; the value when absent */
  readonly side?: 'key' | 'value';
  readonly message: string;
  readonly found?: string;
  readonly allowed?: string;
  readonly fix?: string;
  /** a second place in the same resource */
  readonly related?: { readonly message: string; readonly path: Path };
}

export interface CheckContext {
  /** another declared resource */
  declared(address: Address): DesiredResource | undefined;
  readonly target: Target;
  /** the dialect of the target, which defines what the service accepts */
  readonly dialect: Dialect;
  /** milliseconds since 1970; absent where nothing may depend on the time */
  readonly now?: number;
}

/** A resource, and the page that should have it. */
export interface OnPage {
  /** the index of the page, from 0 */
  readonly page: number;
  /** the session in which each page is read once */
  readonly recent: Session;
  readonly address: Address;
  readonly id: string;
}

interface Reference {
  readonly to: Address;
  readonly path: Path;
}

/** One target during one run. */
export interface Session {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly stack: string;
  readonly reader: Reader;
  /** What the plan declares and records of a kind; only in reads for a plan. */
  known?(kind: string): KnownResources;
  /** what the service was found to lack; all sessions of the target in this run share it, so that it is asked only once */
  readonly lacks: Set<ServiceLack>;
  /** Runs `read` once per session and key: for reads that several kinds need. */
  once<T>(key: string, read: () => Promise<T>): Promise<T>;
}

/**
 * The service refuses to include tag bindings in lists, or in the document of one workspace; or some of its workspaces do not name
 * their project.
 */
export type ServiceLack = 'tags-in-lists' | 'tags-in-documents' | 'projects-of-workspaces';

/** What a plan needs to know about one kind in one target. */
export interface ReadRequest<D extends Spec = Spec> {
  readonly declared: readonly DesiredResource<D>[];
  /** the records of this kind and target */
  readonly records: ReadonlyMap<AddressText, LedgerRecord<Named<D>>>;
  /** creations of this kind and target that an apply had begun and not recorded: the resource may exist */
  readonly begun?: ReadonlySet<AddressText>;
  /** the resources that this run has deleted: their absence from a list is enough to know that they are gone */
  readonly deleted?: ReadonlySet<AddressText> | undefined;
  /** the record of a resource of any kind: a child finds its renamed parent by it */
  record(address: Address): LedgerRecord | undefined;
  /** for an export: selects the undeclared names to read; when given, no other undeclared resources are read */
  readonly undeclared?: (name: string) => boolean;
  /** for kinds with `losses`: whether the plan will delete this parent, so that its child must be read */
  readonly isPlannedDeletion?: (parent: Address) => boolean;
}

/** What is declared and recorded of one kind in one target. */
export interface KnownResources extends Pick<ReadRequest, 'declared' | 'records' | 'deleted'> {
  /** the resources of all kinds and targets that moved away */
  readonly movedAway?: Ledger['movedAway'];
}

export interface LiveSet<L extends LiveResource = LiveResource> {
  /** why the target was not read: its list was refused, or its mount is of another method. The plan leaves out the whole target */
  readonly unread?: string;
  /** single resources that could not be read, each with the reason: they are neither created nor changed */
  readonly unseen?: ReadonlyMap<AddressText, string>;
  /** records whose ids lead to another target, each with that target's identity: the ledger was made for that target */
  readonly elsewhere?: ReadonlyMap<AddressText, string>;
  readonly resources: readonly L[];
  /** for declared resources that do not exist: sentences about settings that they will not have after their creation */
  readonly predictedNotes?: ReadonlyMap<AddressText, readonly string[]>;
  /** for declared resources: what they inherit from a parent after the plan, where the plan may change that */
  readonly inheritable?: ReadonlyMap<AddressText, Inheritable>;
  /** for declared resources: values that the service will refuse, if the plan sends them */
  readonly refusedValues?: ReadonlyMap<AddressText, readonly RefusedValue[]>;
  /** the service's own count of the resources; absent if it gives none */
  readonly total?: number;
  /** why this list is not complete; when not empty, nothing is pruned and no plan reports "no changes" */
  readonly incomplete: readonly string[];
  /** the token may not list the resources at all, as `incomplete` says */
  readonly forbidden?: true;
  /** fields that the service did not return, whose drift cannot be seen */
  readonly invisible: readonly string[];
  /** top-level fields that the service returns for no resource at all: it does not have them, or does not show them */
  readonly lacking?: readonly string[];
  /** remarks for readers of the plan about how this was read */
  readonly notes: readonly string[];
  /** what the service lacks of its API, one sentence each, for the beginning of the report */
  readonly limits?: readonly string[];
  /** nothing that was read shows whether the service keeps the ownership tag (of a parent) or what is written at all (of a child) */
  readonly unverified?: true;
  /** why declared resources of this kind cannot exist, if the service does not have the kind */
  readonly unsupported?: Pick<Diagnostic, 'code' | 'class' | 'message' | 'fix'>;
  /** why nothing in the target can be planned, and the fix; then the other members mean nothing */
  readonly unplannable?: Pick<Diagnostic, 'code' | 'class' | 'message' | 'fix'>;
}

/** A declared value that the service will certainly refuse. */
export interface RefusedValue extends Pick<Diagnostic, 'code' | 'message' | 'fix'> {
  /** the top-level fields, most important first: it is refused if the plan changes one of them */
  readonly fields: readonly string[];
}

/** Nothing exists, or nothing was read. */
export const noResources: LiveSet<never> = { resources: [], incomplete: [], invisible: [], notes: [] };

/** All kinds by name. It is passed to the modules that need kinds; they never import kinds. */
export type Registry = ReadonlyMap<string, Kind>;
