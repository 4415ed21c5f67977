// Plans for one organization in short form: declared resources, live resources and ledger records. The real planner makes the
// plan, so that calls are exactly those of users.
import { findDialect } from '../../../../src/api/dialects.ts';
import { remoteStateConsumers } from '../../../../src/kinds/remote-state-consumers/index.ts';
import { tagBindings } from '../../../../src/kinds/tag-bindings/index.ts';
import { workspace } from '../../../../src/kinds/workspace/index.ts';
import { liveWorkspace } from '../../../../src/kinds/workspace/live-workspace.ts';
import { formatAddress, readAddress } from '../../../../src/model/address.ts';
import type { Call, CallValue } from '../../../../src/model/call.ts';
import type { Change } from '../../../../src/model/change.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import type { Kind, LiveSet, ReadRequest } from '../../../../src/model/kind.ts';
import type { LedgerRecord } from '../../../../src/model/ledger.ts';
import type { Plan } from '../../../../src/model/plan.ts';
import type { DesiredResource, LiveResource, Metadata, Spec } from '../../../../src/model/resource.ts';
import type { Dialect } from '../../../../src/model/stack.ts';
import { buildPlan } from '../../../../src/plan/build-plan.ts';
import { declaredResource } from '../../declared-resource.ts';

export const kinds: ReadonlyMap<string, Kind> = new Map(
  [workspace, tagBindings, remoteStateConsumers].map((kind) => [kind.name, kind] as const),
);

/** `declare('Workspace', 'app', { … })`; short forms stay in its spec. */
export function declare(
  kind: string,
  name: string,
  spec: Spec = {},
  metadata: Partial<Metadata> = {},
): DesiredResource {
  const upgraded = kinds.get(kind)?.upgrade?.(spec) ?? spec;
  return declaredResource({ kind, target: 'acme', name }, upgraded, metadata);
}

/** The read request of a kind, for these declared and recorded resources. */
export function readRequest(
  declared: readonly DesiredResource[],
  records: Readonly<Record<string, Partial<LedgerRecord>>> = {},
): ReadRequest {
  const known = new Map(
    Object.entries(records).map(([text, record]) => [readAddress(text), recordOf(record)] as const),
  );
  return { declared, records: known, record: (address) => known.get(formatAddress(address)) };
}

function recordOf(record: Partial<LedgerRecord>): LedgerRecord {
  return { origin: 'created', fields: {}, ...record };
}

export interface LiveWorkspace {
  readonly name: string;
  /** `ws-<name>` by default */
  readonly id?: string;
  /** attributes to add to `bareAttributes`, or to replace */
  readonly attributes?: JsonObject;
  readonly relationships?: JsonObject;
  readonly tags?: Readonly<Record<string, string>>;
  /** our ownership tag by default; null for none */
  readonly ownershipTag?: string | null;
  /** names of live workspaces; undefined if consumers were not read */
  readonly consumers?: readonly string[];
}

/** The attributes of a workspace that was created only with a name (wire/workspaces 5.4). */
export const bareAttributes: JsonObject = {
  'allow-destroy-plan': true,
  'assessments-enabled': false,
  'auto-apply': false,
  'auto-apply-run-trigger': false,
  'auto-destroy-at': null,
  'auto-destroy-activity-duration': null,
  description: null,
  'execution-mode': 'remote',
  'file-triggers-enabled': true,
  'global-remote-state': false,
  locked: false,
  'locked-reason': '',
  'queue-all-runs': false,
  'resource-count': 0,
  'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
  'source-name': 'trueup/payments',
  'source-url': null,
  'speculative-enabled': true,
  'structured-run-output-enabled': true,
  'tag-names': [],
  'engine-version': '1.9.8',
  'trigger-prefixes': [],
  'trigger-patterns': [],
  'vcs-repo': null,
  'working-directory': null,
  permissions: { 'can-update': true, 'can-force-delete': true },
};

export interface Situation {
  readonly declared?: readonly DesiredResource[];
  readonly live?: readonly LiveWorkspace[];
  readonly records?: Readonly<Record<string, Partial<LedgerRecord>>>;
  readonly dialect?: string;
}

export function planFor(situation: Situation): Plan {
  const { declared = [], live = [], records = {}, dialect: name = 'neutral' } = situation;
  const dialect = findDialect('workspaces', name);
  if (dialect === undefined) throw new Error(`no dialect ${name}`);
  const target = {
    name: 'acme',
    service: 'workspaces',
    url: 'embedded',
    organization: 'acme',
    dialect: name,
  } as const;
  const known = new Map(
    Object.entries(records).map(([text, record]) => [readAddress(text), recordOf(record)] as const),
  );
  const sets = new Map(
    [...kinds.keys()].map((kind) => [
      kind,
      setOf(live.flatMap((one) => liveOf(kind, one, { all: live, dialect }))),
    ]),
  );
  return buildPlan({
    stack: {
      name: 'payments',
      file: 'trueup.yaml',
      directory: '/',
      manifests: [],
      targets: [target],
      defaults: [],
      guards: {},
    },
    kinds,
    desired: declared,
    targets: [{ target, dialect, sets, requests: 0 }],
    ledger: { known: true, serial: 1, stackId: '0123abcd', records: known },
    manifestsComplete: true,
    files: 1,
    documents: declared.length,
  }).plan;
}

function setOf(resources: readonly LiveResource[]): LiveSet {
  return { resources, incomplete: [], invisible: [], notes: [] };
}

function liveOf(
  kind: string,
  one: LiveWorkspace,
  { all, dialect }: { readonly all: readonly LiveWorkspace[]; readonly dialect: Dialect },
): LiveResource[] {
  const { name, attributes = {}, relationships = {}, tags = {}, consumers } = one;
  const id = idOf(one);
  const text = one.ownershipTag === undefined ? 'payments:id=0123abcd' : one.ownershipTag;
  const ownershipTag = text === null ? {} : { ownershipTag: { text, inherited: false } };
  const item = { id, name, attributes: { ...bareAttributes, ...attributes }, relationships };
  const address = { kind, target: 'acme', name };
  const parent = liveWorkspace(address, {
    item,
    dialect,
    tags: { direct: tags, ...ownershipTag },
    retention: null,
  });
  if (kind === 'Workspace') return [parent];
  const rights = parent.rights === undefined ? {} : { rights: parent.rights };
  if (kind === 'TagBindings') {
    const facts = {
      direct: tags,
      ownershipTag: text,
      assessmentsEnabled: item.attributes['assessments-enabled'] ?? null,
    };
    return [{ address, id, spec: { tags }, evidence: parent.evidence, facts, ...rights }];
  }
  const global = item.attributes['global-remote-state'] === true;
  if (global) return [{ address, id, spec: {}, evidence: {}, facts: { global }, ...rights }];
  const edges = (consumers ?? []).map((each) => [
    each,
    idOf(all.find((other) => other.name === each) ?? { name: each }),
  ]);
  return [
    {
      address,
      id,
      spec: { consumers: consumers ?? [] },
      evidence: {},
      facts: { global, edges: Object.fromEntries(edges) },
      ...rights,
    },
  ];
}

function idOf({ id, name }: LiveWorkspace): string {
  return id ?? `ws-${name}`;
}

export function changeOf(plan: Plan, text: string): Change {
  const change = plan.changes.find(({ address }) => formatAddress(address) === text);
  if (change === undefined)
    throw new Error(
      `no change of ${text} among ${plan.changes.map(({ address }) => formatAddress(address)).join(', ')}`,
    );
  return change;
}

/** A call as `PATCH /workspaces/ws-app`; an id that does not exist yet is `<Workspace/acme/app>`. */
export function lineOf({ method, path }: Call): string {
  return `${method} /${path.map((part) => (typeof part === 'string' ? part : `<${part.$id}>`)).join('/')}`;
}

/** The lines of a plan's calls, change by change. */
export function linesOf(plan: Plan): string[] {
  return plan.changes.flatMap(({ calls }) => calls.map(lineOf));
}

/** The relationship of a document to its organization. */
export const inAcme = { organization: { data: { type: 'organizations', id: 'acme' } } };

/** A member deep inside a body: `at(call.body, 'data', 'attributes', 'name')`. References look as in a report. */
export function at(body: CallValue | undefined, ...path: readonly string[]): Json | undefined {
  let value = body as Json | undefined;
  for (const key of path)
    value = typeof value === 'object' && value !== null ? (value as JsonObject)[key] : undefined;
  return value;
}
