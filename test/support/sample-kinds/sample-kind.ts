/**
 * Sample kinds that no service has, one for each kind of ownership. The planner and the applier treat them like real ones.
 */
import { type Address, formatAddress } from '../../../src/model/address.ts';
import type { Call } from '../../../src/model/call.ts';
import type { Change } from '../../../src/model/change.ts';
import type { FieldTable } from '../../../src/model/field.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import type { Kind, Registry } from '../../../src/model/kind.ts';
import type { CallContext, PlannedCalls } from '../../../src/model/kind-calls.ts';
import {
  duration,
  list,
  optionalText,
  scalar,
  secretVersion,
  set,
  stringMap,
  text,
  wholeValue,
} from '../../../src/compare/comparisons.ts';

/** One field of every sort. */
export const parentFields: FieldTable = {
  colour: { compare: scalar, default: 'red' },
  about: { compare: text, default: null },
  readers: { compare: set, default: [] },
  steps: { compare: list, default: [] },
  consumers: { compare: set, default: [] },
  timeout: { compare: duration, default: 0 },
  labels: { compare: stringMap, default: {} },
  owner: { compare: scalar },
  access: {
    compare: wholeValue,
    default: null,
    members: {
      note: { compare: optionalText, default: null },
      users: { compare: set, default: [] },
      key: { compare: scalar },
    },
  },
  madeBy: { compare: scalar, createOnly: true, isCreatorMark: true },
  credential: { compare: secretVersion, default: null, writeOnly: true },
  hint: { compare: scalar, local: true },
};

const roleFields: FieldTable = {
  colour: { compare: scalar, default: 'red' },
  timeout: { compare: duration, default: 0 },
  readers: { compare: set, default: [] },
};

const childFields: FieldTable = { tags: { compare: set, default: [] }, owner: { compare: scalar } };

const base = {
  service: 'workspaces',
  names: { pattern: /^.+$/, description: 'anything' },
  specSchema: { type: 'object' },
  read: async () => ({ resources: [], incomplete: [], invisible: [], notes: [] }),
  readOne: async () => undefined,
} as const;

/** Has an ownership tag in the target. */
export const parentKind: Kind = {
  ...base,
  name: 'Parent',
  summary: 'a whole',
  fields: parentFields,
  ownership: { by: 'claim' },
  absent: 'unmanaged',
  references: ({ address, spec }) =>
    textsOf(spec['consumers']).map((name, at) => ({
      to: { ...address, name },
      path: ['consumers', String(at)],
    })),
  blockers: (live, action) => (action === 'delete' && live.facts['inUse'] === true ? ['it is in use'] : []),
  calls: parentCalls,
};

/** Has no ownership tag, but names that a target owns, and is deleted if the ledger proves that it is ours. */
export const roleKind: Kind = {
  ...base,
  name: 'Role',
  summary: 'a role',
  names: { ...base.names, fold: (name) => name.toLowerCase() },
  fields: roleFields,
  ownership: { by: 'ledger', limitedByOwns: true, undeclared: 'delete' },
  absent: 'unmanaged',
  calls: (change, context) => replacingCalls(change, context, ['content']),
};

/** Every write replaces all fields; it cannot be deleted. */
export const settingsKind: Kind = {
  ...base,
  name: 'Settings',
  summary: 'settings',
  fields: roleFields,
  ownership: { by: 'ledger', limitedByOwns: false, undeclared: 'release' },
  absent: 'default',
  calls: (change, context) =>
    change.action === 'release' ? { calls: [] } : replacingCalls(change, context, []),
};

/** A child of the parent with its name. Values that its document does not name stay. */
export const childKind: Kind = {
  ...base,
  name: 'Child',
  summary: 'a part',
  fields: childFields,
  ownership: { by: 'child', of: parentOf },
  absent: 'unmanaged',
  withdrawAccess: (record, live) => ({
    tags: textsOf(live.spec['tags']).filter((tag) => !textsOf(record.fields['tags']).includes(tag)),
  }),
  losses: ({ address, facts }, outlives) =>
    Object.entries(isJsonObject(facts['readers'] ?? null) ? (facts['readers'] as JsonObject) : {})
      .filter(([name, id]) => outlives({ ...address, kind: 'Parent', name }, String(id)))
      .map(([name]) => `${name} can read it no more`),
  calls: childCalls,
};

export function parentOf({ target, name }: Address): Address {
  return { kind: 'Parent', target, name };
}

export function registryOf(...kinds: readonly Kind[]): Registry {
  return new Map(kinds.map((kind) => [kind.name, kind]));
}

export const samples = registryOf(parentKind, roleKind, settingsKind, childKind);

function parentCalls(change: Change, context: CallContext): PlannedCalls {
  const { address, action } = change;
  const consumers = textsOf(context.desired['consumers']).map(
    (name) => context.idOf({ ...address, name }) ?? null,
  );
  const text = formatAddress(address);
  const send = (about: Partial<Call>): PlannedCalls => ({
    calls: [{ ...callOf(address, `${text}#${action}`), path: ['wholes', change.id ?? 'new'], ...about }],
  });
  switch (action) {
    case 'create':
      return send({
        method: 'POST',
        path: ['wholes'],
        body: { name: address.name, ownershipTag: context.ownershipTag?.stack ?? null, consumers },
        success: [201],
        repeatable: false,
        createsId: { address: text, pointer: '/id' },
      });
    case 'update':
    case 'adopt':
      return send({ body: { ...fieldsOf(change), consumers } });
    case 'release':
      return send({ body: { ownershipTag: null } });
    case 'delete':
      return send({ method: 'DELETE', order: 30, body: { force: context.remove === 'force' } });
    case 'none':
      return { calls: [] };
  }
}

function replacingCalls(
  change: Change,
  context: CallContext,
  preconditions: readonly string[],
): PlannedCalls {
  const { address, action } = change;
  const call = { ...callOf(address, `${formatAddress(address)}#write`), path: ['things', address.name] };
  if (action === 'delete') return { calls: [{ ...call, method: 'DELETE' }], preconditions };
  if (change.fields.length === 0) return { calls: [] };
  return { calls: [{ ...call, method: 'PUT', body: { ...context.desired } }], preconditions };
}

/** If the same plan creates the parent, the tags are sent with that call. */
function childCalls(change: Change, context: CallContext): PlannedCalls {
  const parent = parentOf(change.address);
  if (context.peer(parent).action === 'create')
    return { calls: [], sharedCall: `${formatAddress(parent)}#create` };
  if (change.fields.length === 0) return { calls: [] };
  const id = context.idOf(parent);
  return {
    calls: [
      {
        ...callOf(change.address, `${formatAddress(change.address)}#plant`),
        path: ['wholes', id ?? 'none', 'part'],
        body: { tags: context.desired['tags'] ?? [] },
        order: 5,
      },
    ],
  };
}

function callOf({ target }: Address, id: string): Call {
  return { id, target, method: 'PATCH', path: [], order: 0, needs: [], success: [200], repeatable: true };
}

function fieldsOf(change: Change): Record<string, Json> {
  return Object.fromEntries(change.fields.map(({ path, after }) => [path.join('.'), after ?? null]));
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
