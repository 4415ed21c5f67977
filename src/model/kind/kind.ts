/**
 * The form that a kind fills in. Differ, planner, applier and reports know a kind only through this contract, so that
 * a new kind touches none of them. Reading is the only thing here that does I/O, and it holds nothing that can write.
 */
import type { Address, AddressText } from '../resource/address.ts';
import type { Call, CallId, IdReference } from '../plan/call.ts';
import type { Action, Change } from '../plan/change.ts';
import type { Diagnostic, Severity } from '../diagnostic.ts';
import type { DiagnosticCode } from '../diagnostic-codes.ts';
import type { FieldChange, FieldTable } from './field.ts';
import type { Json, JsonObject, Path } from '../json/json.ts';
import type { LedgerRecord } from '../stack/ledger.ts';
import type { Claim, DesiredResource, LiveResource, Spec } from '../resource/resource.ts';
import type { Risk } from '../plan/risk.ts';
import type { Named } from './spec-types.ts';
import type { Dialect, Service, Target } from '../stack/target.ts';
import type { Answer, Reader } from '../wire.ts';

/**
 * `D`: what a manifest may declare. `L`: a live resource as the kind's own `read` makes it. `P`: what its `prepare` makes of
 * what is declared. A kind fills them in with its own types (`defineKind`); whoever knows no kind has them open.
 */
export interface Kind<D extends Spec = Spec, L extends LiveResource = LiveResource, P extends Spec = D> {
  readonly name: string;
  readonly service: Service;
  /** one line for `--help` and the schema's description */
  readonly summary: string;
  readonly names: NameRule;
  /** JSON Schema (draft 2020-12) of `spec` */
  readonly specSchema: JsonObject;
  /** every field of `specSchema` that is not a short form */
  readonly fields: FieldTable;
  readonly ownership: Ownership;
  /** what a field means that the manifest leaves out: not managed, or the default (kinds that every write replaces whole) */
  readonly absent: 'unmanaged' | 'default';
  /** fields of `spec` that are short for a document of another kind with the same name and target */
  readonly shortForms?: Readonly<Record<string, ShortForm>>;
  /** Folds deprecated spellings into today's. Runs once, when manifests are resolved. */
  readonly upgrade?: (spec: Named<D>) => Named<D>;
  /** The rules about one resource that no schema can say. Offline. */
  readonly check?: (resource: DesiredResource<D>, others: CheckContext) => readonly ResourceProblem[];
  /** The other resources that this one names. */
  readonly references?: (resource: DesiredResource<D>) => readonly Reference[];
  /** Reads in bulk what the plan needs of one target. */
  readonly read: (session: Session, wanted: ReadRequest<D>) => Promise<LiveSet<L>>;
  /** Reads one resource again, just before it is written, or to learn what became of a lost create. */
  readonly readOne: (session: Session, address: Address, id?: string) => Promise<L | undefined>;
  /**
   * Of what a plan has seen, and `readOne` does not find: why it is not certainly gone, as the service contradicts itself
   * (rules 39). undefined: by this second witness, too, it is gone.
   */
  readonly doubtGone?: (session: Session, address: Address, id?: string) => Promise<string | undefined>;
  /** What the answer to a write tells of the resource; undefined when it tells nothing of it (rules 40). */
  readonly answered?: (call: Call, answer: Answer) => Answered | undefined;
  /**
   * For a repeated call that found its work done, its first answer being lost or no yes: what a yes would have told, if it
   * can be proved that the work was its own (rules 18). Only for calls with statuses that mean `already`.
   */
  readonly lostAnswer?: (session: Session, call: Call, about: CallOwner) => Promise<Answer | undefined>;
  /** Says what is to be compared where that is not simply what was declared and what was answered. */
  readonly prepare?: (meeting: CompareContext<D, L>) => PreparedSpecs<P>;
  /** Parts only: what shall be left of a live part whose document is gone, given what we last applied (rule 15). */
  readonly revoke?: (record: LedgerRecord<Named<D>>, live: L) => P;
  /**
   * Of a whole that is released: the fields that the release changes besides the claim, as they shall be then. The plan
   * shows them, so that they are approved with it (rules 18, 27).
   */
  readonly released?: (live: L, record?: LedgerRecord<Named<D>>) => P;
  /**
   * Parts only: sentences about who loses what when the whole of this live part is deleted, for the plan to show there.
   * `outlives` tells whether another resource, known by its id, is still there afterwards: what goes in the same plan
   * loses nothing.
   */
  readonly losses?: (live: L, outlives: (address: Address, id: string) => boolean) => readonly string[];
  /**
   * Parts only: clauses about what stays of what this stack had given, when the whole is let go: nobody takes it back.
   * `live` is the part as it is now, where it was read.
   */
  readonly remains?: (record: LedgerRecord<Named<D>>, live?: L) => readonly string[];
  /** The requests that carry a change out. Pure. Bodies and members in `neutral` names. */
  readonly calls: (change: Change, context: CallContext<D, L, P>) => PlannedCalls;
  /**
   * What the service will refuse about this action on this resource as it is now; empty when nothing. `record` is what
   * the ledger knows of it: a lock of ours is no obstacle.
   */
  readonly blockers?: (live: L, action: Action, record?: LedgerRecord<Named<D>>) => readonly string[];
  /**
   * What a forced deletion of this resource as it is now overrides, which a safe one would be refused for. It is a part of
   * what the deletion means: it is approved with it, and looked at once more before it is sent (rules 23, 27, 29).
   */
  readonly overridden?: (live: L, record?: LedgerRecord<Named<D>>) => readonly Overridden[];
  /**
   * What a change opens or closes, and to whom. Two whole canonical specs: `before` is undefined for what is created,
   * `after` for what is deleted. A field that `before` lacks has a value that nobody can tell.
   */
  readonly risk?: (before: Named<D> | undefined, after: Named<D> | undefined) => readonly Risk[];
  /**
   * What makes two resources look like one that was renamed (rule 26): alike when the first text is the same, the more
   * so the more of the others are. Undefined when there is nothing to go by. `spec` is canonical.
   */
  readonly similarity?: (spec: Named<D>) => readonly string[] | undefined;
  /** What to remember of an applied resource besides its fields; asked after each call that was carried out. */
  readonly ledgerMarks?: (context: MarkContext<D, L>) => Readonly<Record<string, Json>>;
  /**
   * What of a live resource a manifest would say, where that is not simply what was answered: what follows from another
   * field, is momentary, or belongs to somebody else is left out. `defaults` is what the stack's defaults say if the
   * manifest says nothing: a field they mention stays in, or nothing could contradict them.
   */
  readonly describe?: (live: L, defaults: Named<D>) => Description;
}

export interface Overridden {
  /** the fact as a field of the change: below `overrides`, with a value before and none after */
  readonly field: FieldChange;
  /** the same in a clause about the resource: "it manages 3 resources, and loses their state" */
  readonly says: string;
}

export interface Description {
  readonly spec: Spec;
  /** sentences for whoever reads the manifest, about what no manifest can hold or had better not; no secrets */
  readonly remarks?: readonly string[];
}

export interface NameRule {
  readonly pattern: RegExp;
  /** the pattern in words: "letters, digits, - and _" */
  readonly says: string;
  /** the name as the service keeps it, where that differs */
  fold?(name: string): string;
}

/** Who may say that a resource is ours. */
export type Ownership =
  /** a claim in the target, with a birth mark */
  | { readonly by: 'claim' }
  /** the ledger; `named`: only names that the target's `owns` admits */
  | { readonly by: 'ledger'; readonly named: boolean; readonly undeclared: 'delete' | 'release' }
  /** whoever owns the resource that it is a part of */
  | { readonly by: 'part'; readonly of: (address: Address) => Address };

export interface ShortForm {
  readonly kind: string;
  /** the spec of the document that the short form stands for */
  spec(value: Json): Spec;
}

/** A problem that a kind finds in one resource. The manifest floor adds the place. */
export interface ResourceProblem {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** below `spec`; `[]` is the document itself */
  readonly path: Path;
  /** what to point at; the value when absent */
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
  /** of the target: what its service is known to refuse or to take */
  readonly dialect: Dialect;
}

export interface Reference {
  readonly to: Address;
  readonly path: Path;
}

/** One target during one run. */
export interface Session {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly stack: string;
  readonly reader: Reader;
  /** reads that several kinds need are made once a session */
  once<T>(key: string, read: () => Promise<T>): Promise<T>;
}

/** The answer to a write, as far as it is about the resource itself. */
export interface Answered {
  /** the fields that this call may have written: what the answer lacks of these is not told */
  readonly about: readonly string[];
  /** in the shape of a live spec */
  readonly spec: Spec;
}

/** The change that a call belongs to, once its resource has an id. */
export interface CallOwner {
  readonly address: Address;
  readonly id?: string;
}

/** What a plan is going to ask about, of one kind in one target. */
export interface ReadRequest<D extends Spec = Spec> {
  readonly declared: readonly DesiredResource<D>[];
  /** of this kind and target */
  readonly records: ReadonlyMap<AddressText, LedgerRecord<Named<D>>>;
  /** of any kind: how a part finds its whole when that was renamed */
  record(address: Address): LedgerRecord | undefined;
  /** for an export: names that are to be read although nobody declares them; where it is given, no other undeclared ones are */
  readonly undeclared?: (name: string) => boolean;
  /** for kinds that tell of losses: whether the plan is going to delete this whole, so that its part is to be read (rule 10) */
  readonly isPlannedDeletion?: (whole: Address) => boolean;
}

export interface LiveSet<L extends LiveResource = LiveResource> {
  /**
   * Why nothing of the target could be looked at: its list was refused, its mount is of another method. The other members
   * say nothing then, and the whole target is left out of the plan (rule 39).
   */
  readonly unread?: string;
  /** single resources that could not be looked at, each with why: they are neither created nor changed (rule 39) */
  readonly unseen?: ReadonlyMap<AddressText, string>;
  /** of records that lead to what is in another place, each where that is: the ledger is not of this place (rule 37) */
  readonly elsewhere?: ReadonlyMap<AddressText, string>;
  readonly resources: readonly L[];
  /** of declared resources that are not there: sentences about what they will not be, whatever their manifests say */
  readonly foreseen?: ReadonlyMap<AddressText, readonly string[]>;
  /** of declared resources that are not there: why the service will not create them as they are declared */
  readonly impossible?: ReadonlyMap<AddressText, readonly Diagnostic[]>;
  /** how many there are by the service's own count; absent where it tells none */
  readonly total?: number;
  /** why this is not all that there is; when not empty, nothing is pruned and "no changes" is not said */
  readonly incomplete: readonly string[];
  /** fields that the service did not answer, whose drift cannot be seen */
  readonly invisible: readonly string[];
  /** what a reader of the plan should know about how this was read */
  readonly notes: readonly string[];
}

/** Nothing was there, or nothing was looked at. */
export const noResources: LiveSet<never> = { resources: [], incomplete: [], invisible: [], notes: [] };

/** What the other side of a comparison is, and what the plan knows of neighbours. */
export interface CompareContext<D extends Spec = Spec, L extends LiveResource = LiveResource> {
  readonly address: Address;
  /** what the service takes and what not decides what can be compared at all */
  readonly dialect: Dialect;
  readonly desired: D;
  readonly live?: L;
  readonly record?: LedgerRecord<Named<D>>;
  readonly place?: DesiredResource['place'];
  peer(address: Address): {
    readonly desired?: Spec;
    readonly live?: LiveResource;
    readonly record?: LedgerRecord;
  };
}

export interface PreparedSpecs<P extends Spec = Spec> {
  readonly desired: P;
  readonly live?: Spec;
  /** fields whose live value cannot be told, and why */
  readonly unknown?: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
  readonly problems?: readonly Diagnostic[];
}

export interface PlannedCalls {
  readonly calls: readonly Call[];
  /** a call of another change that does this one too */
  readonly sharedCall?: CallId;
  /** names of facts of the live resource that the calls were built on */
  readonly preconditions?: readonly string[];
  /** sentences about what the calls leave as it is */
  readonly notes?: readonly string[];
}

export interface CallContext<
  D extends Spec = Spec,
  L extends LiveResource = LiveResource,
  P extends Spec = D,
> {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly stack: string;
  /** canonical; what was declared, after `prepare`; for a withdrawn part what shall be left */
  readonly desired: P;
  readonly live?: L;
  readonly record?: LedgerRecord<Named<D>>;
  /** the claim that the resource shall bear afterwards, or the whole that it is a part of */
  readonly claim?: Claim;
  /** `safe` or `force` of a tombstone */
  readonly remove?: 'safe' | 'force';
  /** the id of another resource, or a reference to it when this plan creates it; undefined when there is none */
  idOf(address: Address): string | IdReference | undefined;
  /** another resource of the same plan */
  peer(address: Address): {
    readonly action: Action;
    readonly desired?: Spec;
    readonly live?: LiveResource;
    readonly fields: Change['fields'];
  };
}

export interface MarkContext<D extends Spec = Spec, L extends LiveResource = LiveResource> {
  /** absent for what a plan found true */
  readonly change?: Change;
  /** what the calls of the change that were carried out were answered; none when it was true already */
  readonly answers: ReadonlyMap<CallId, Answer>;
  /** what is declared; of a change that was carried out in part only what its calls wrote */
  readonly desired: Named<D>;
  readonly live?: L;
  /** of this very resource, before the change; none of what the change creates */
  readonly record?: LedgerRecord<Named<D>>;
  idOf(address: Address): string | undefined;
}

/** The kinds of one program. Handed to the floors that need them; never imported by them. */
export type Registry = ReadonlyMap<string, Kind>;
