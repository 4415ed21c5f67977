/** Parts of plans about sample kinds: each test gives only the members that it is about. */
import { type Address, formatAddress, readAddress } from '../../../src/model/address.ts';
import type { Change } from '../../../src/model/change.ts';
import {
  type DesiredResource,
  type LiveResource,
  parseOwnershipTag,
  type Spec,
} from '../../../src/model/resource.ts';
import type { Json } from '../../../src/model/json.ts';
import type { LiveSet } from '../../../src/model/kind.ts';
import type { Ledger, LedgerRecord } from '../../../src/model/ledger.ts';
import type { Stack, Target } from '../../../src/model/stack.ts';
import { buildPlan, type PlanInput, type PlanResult } from '../../../src/plan/build-plan.ts';
import type { PlanContextInput } from '../../../src/plan/plan-context.ts';
import { declaredResource } from '../declared-resource.ts';
import { samples } from './sample-kind.ts';
import type { FormerStack } from '../../../src/plan/our-tags.ts';

/** An address such as `Parent/acme/app`. */
export function at(kind: string, name: string, target = 'acme'): Address {
  return { kind, target, name };
}

/** A resource as its manifest declares it. */
export const desired = declaredResource;

export interface LiveAbout {
  readonly spec?: Spec;
  /** the text of the ownership tag, such as `mine:protect` */
  readonly ownershipTag?: string | undefined;
  readonly inherited?: boolean;
  readonly creatorStack?: string | undefined;
  readonly facts?: Readonly<Record<string, Json>>;
  /** null for no id */
  readonly id?: string | null;
}

export function live(address: Address, about: LiveAbout = {}): LiveResource {
  const {
    spec = {},
    ownershipTag,
    inherited = false,
    creatorStack,
    facts = {},
    id = `id-${address.name}`,
  } = about;
  const isOwnedByTag = address.kind === 'Parent';
  return {
    address,
    ...(id === null || address.kind === 'Role' || address.kind === 'Settings' ? {} : { id }),
    spec: isOwnedByTag ? { name: address.name, ...spec } : spec,
    evidence: {
      ...(ownershipTag === undefined ? {} : { ownershipTag: parseOwnershipTag(ownershipTag, inherited) }),
      ...(creatorStack === undefined ? {} : { creatorStack }),
    },
    facts,
  };
}

export function record(about: Partial<LedgerRecord> = {}): LedgerRecord {
  return { origin: 'created', fields: {}, ...about };
}

/** The parent that most tests are about, and its address as text. */
export const app = at('Parent', 'app');
export const appAddress = formatAddress(app);

/** The record of this parent. */
export function recorded(about: Partial<LedgerRecord> = {}): Readonly<Record<string, LedgerRecord>> {
  return { [appAddress]: record({ id: 'id-app', ...about }) };
}

export const target: Target = {
  name: 'acme',
  service: 'workspaces',
  url: 'https://toys.test',
  organization: 'acme',
  dialect: 'neutral',
};

export const stack: Stack = {
  name: 'mine',
  file: 'trueup.yaml',
  directory: '/toys',
  manifests: [],
  targets: [target],
  defaults: [],
  guards: {},
};

export interface World {
  readonly desired?: readonly DesiredResource[];
  readonly live?: readonly LiveResource[];
  readonly records?: Readonly<Record<string, LedgerRecord>>;
  /** false if there is no ledger */
  readonly ledger?: boolean;
  readonly stack?: Partial<Stack>;
  readonly target?: Partial<Target>;
  /** reasons why the read of each kind was incomplete */
  readonly incomplete?: readonly string[];
  readonly manifestsComplete?: boolean;
  /** resources that an interrupted apply had begun to create */
  readonly begunCreations?: readonly Address[];
  readonly former?: FormerStack;
  /** whether `desired` is only a part of the stack */
  readonly isSelection?: boolean;
  readonly kinds?: PlanInput['kinds'];
  readonly commitOrders?: PlanInput['commitOrders'];
}

export function ledgerOf(records: Readonly<Record<string, LedgerRecord>>, known = true): Ledger {
  return {
    known,
    serial: known ? 1 : 0,
    records: new Map(Object.entries(records).map(([text, record]) => [readAddress(text), record])),
  };
}

/** The input of the planner. Besides `acme`, it has the targets of all live resources. */
export function inputOf(world: World): PlanContextInput & PlanInput {
  const { kinds = samples } = world;
  const names = new Set(['acme', ...(world.live ?? []).map(({ address }) => address.target)]);
  const setOf = (name: string, kind: string): LiveSet => ({
    resources: (world.live ?? []).filter(({ address }) => address.kind === kind && address.target === name),
    incomplete: world.incomplete ?? [],
    invisible: [],
    notes: [],
  });
  return {
    stack: { ...stack, ...world.stack },
    kinds,
    desired: world.desired ?? [],
    targets: [...names].map((name) => ({
      target: { ...target, name, ...world.target },
      dialect: {
        name: 'neutral',
        service: 'workspaces',
        spokenBy: '',
        rename: {},
        tokenHeader: 'authorization',
        capabilities: new Set(),
      },
      sets: new Map([...kinds.keys()].map((kind) => [kind, setOf(name, kind)])),
      requests: 1,
    })),
    ledger: ledgerOf(world.records ?? {}, world.ledger ?? true),
    manifestsComplete: world.manifestsComplete ?? true,
    begunCreations: new Set((world.begunCreations ?? []).map(formatAddress)),
    ...(world.former === undefined ? {} : { former: world.former }),
    isSelection: world.isSelection ?? false,
    commitOrders: world.commitOrders,
    files: 1,
    documents: 1,
  };
}

export function planOf(world: World): PlanResult {
  return buildPlan(inputOf(world));
}

/** The change of a plan at this address. @throws if there is none */
export function changeAt({ plan }: PlanResult, address: Address): Change {
  const found = plan.changes.find((change) => formatAddress(change.address) === formatAddress(address));
  if (found === undefined) throw new Error(`nothing changes at ${formatAddress(address)}`);
  return found;
}

/** The actions of a plan, as `Parent/acme/app: create`. */
export function actions({ plan }: PlanResult): string[] {
  return plan.changes.map(({ address, action }) => `${formatAddress(address)}: ${action}`);
}

/** A plan as one text: problems, actions, notices and removed records, in that order. */
export function summaryOf(world: World): string {
  const { plan, forget } = planOf(world);
  const notices = plan.notices.map(({ message }) => `"${message}"`);
  const problems = plan.problems.map(({ code }) => code);
  const forgotten = forget.map((address) => `forget ${address}`);
  const changes = plan.changes.map(({ action }) => action);
  return [...problems, ...changes, ...notices, ...forgotten].join(', ') || 'nothing';
}
