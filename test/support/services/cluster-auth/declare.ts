// Short forms of resources, changes and call contexts for tests of kinds.
import { findDialect } from '../../../../src/api/dialects.ts';
import { formatAddress } from '../../../../src/model/address.ts';
import type { Change } from '../../../../src/model/change.ts';
import type { Kind, Session, ReadRequest } from '../../../../src/model/kind.ts';
import type { CallContext } from '../../../../src/model/kind-calls.ts';
import type { LedgerRecord } from '../../../../src/model/ledger.ts';
import type { DesiredResource, LiveResource, Metadata, Spec } from '../../../../src/model/resource.ts';
import { canonicalSpec } from '../../../../src/compare/comparisons.ts';
import { diff } from '../../../../src/compare/diff.ts';
import { declaredResource } from '../../declared-resource.ts';

export function declare(
  kind: Kind,
  name: string,
  spec: Spec,
  metadata: Partial<Metadata> = {},
): DesiredResource {
  return declaredResource({ kind: kind.name, target: 'prod', name }, spec, metadata);
}

/** The read request of a kind, for these declared and recorded resources. */
export function readRequest(
  declared: readonly DesiredResource[],
  records: readonly DesiredResource[] = [],
): ReadRequest {
  const record: LedgerRecord = { origin: 'created', fields: {} };
  return {
    declared,
    records: new Map(records.map(({ address }) => [formatAddress(address), record] as const)),
    record: () => undefined,
  };
}

/** The change from `live` to the declared resource, as the planner drafts it, and the context of its calls. */
export function draftChange(
  kind: Kind,
  resource: DesiredResource,
  live?: LiveResource,
  about: { record?: LedgerRecord; session?: Session } = {},
): { change: Change; context: CallContext; problems: readonly string[]; notes: readonly string[] } {
  const { address } = resource;
  const { record, session } = about;
  const desired = canonicalSpec(kind.fields, resource.spec);
  const sides = { ...(live === undefined ? {} : { live }), ...(record === undefined ? {} : { record }) };
  const target = session?.target ?? {
    name: 'prod',
    service: kind.service,
    url: 'embedded',
    dialect: 'neutral',
    mount: 'cluster',
  };
  const dialect = session?.dialect ?? findDialect(kind.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect}`);
  const prepared = kind.prepare?.({ address, dialect, desired, ...sides, peer: () => ({}) }) ?? { desired };
  const { fields, notes } = diff({
    fields: kind.fields,
    desired: prepared.desired,
    live: prepared.live ?? live?.spec,
    recorded: record?.fields,
    absent: kind.absent,
    ...(prepared.unknown === undefined ? {} : { unknown: prepared.unknown }),
    ...(prepared.origins === undefined ? {} : { origins: prepared.origins }),
  });
  const action = live === undefined ? 'create' : fields.length === 0 ? 'none' : 'update';
  return {
    change: { address, action, reason: 'declared', fields, notes: [], calls: [], preconditions: {} },
    context: {
      target,
      dialect,
      stack: 'payments',
      desired: canonicalSpec(kind.fields, prepared.desired),
      ...sides,
      idOf: () => undefined,
      peer: () => ({ action: 'none', fields: [] }),
    },
    problems: (prepared.problems ?? []).map(({ code }) => code),
    notes: [...(prepared.notes ?? []), ...notes],
  };
}
