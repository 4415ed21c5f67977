/**
 * Kinds that no service has, one for each way in which things are owned. The planner and the applier have to do with
 * these all that they do with real ones.
 */
import { type Address, formatAddress } from '../../../src/model/resource/address.ts';
import type { Call } from '../../../src/model/plan/call.ts';
import type { Change } from '../../../src/model/plan/change.ts';
import type { FieldTable } from '../../../src/model/kind/field.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json/json.ts';
import type { CallContext, Kind, PlannedCalls, Registry } from '../../../src/model/kind/kind.ts';
import {
  duration,
  list,
  optionalText,
  scalar,
  secretVersion,
  set,
  stringMap,
  text,
  whole,
} from '../../../src/compare/comparisons.ts';

/** One field of every sort. */
export const houseFields: FieldTable = {
  colour: { compare: scalar, default: 'red' },
  about: { compare: text, default: null },
  rooms: { compare: set, default: [] },
  steps: { compare: list, default: [] },
  friends: { compare: set, default: [] },
  timer: { compare: duration, default: 0 },
  labels: { compare: stringMap, default: {} },
  owner: { compare: scalar },
  box: {
    compare: whole,
    default: null,
    members: {
      lid: { compare: optionalText, default: null },
      toys: { compare: set, default: [] },
      key: { compare: scalar },
    },
  },
  maker: { compare: scalar, createOnly: true, bearsBirthMark: true },
  code: { compare: secretVersion, default: null, writeOnly: true },
  hint: { compare: scalar, local: true },
};

const doorFields: FieldTable = {
  colour: { compare: scalar, default: 'red' },
  timer: { compare: duration, default: 0 },
  rooms: { compare: set, default: [] },
};

const gardenFields: FieldTable = { trees: { compare: set, default: [] }, grass: { compare: scalar } };

const base = {
  service: 'workspaces',
  names: { pattern: /^.+$/, says: 'anything' },
  specSchema: { type: 'object' },
  read: async () => ({ resources: [], incomplete: [], invisible: [], notes: [] }),
  readOne: async () => undefined,
} as const;

/** Bears a claim in the target. */
export const house: Kind = {
  ...base,
  name: 'House',
  summary: 'a house',
  fields: houseFields,
  ownership: { by: 'claim' },
  absent: 'unmanaged',
  references: ({ address, spec }) =>
    textsOf(spec['friends']).map((name, at) => ({
      to: { ...address, name },
      path: ['friends', String(at)],
    })),
  blockers: (live, action) =>
    action === 'delete' && live.facts['inhabited'] === true ? ['somebody lives in it'] : [],
  calls: houseCalls,
};

/** Bears no mark, has names that a target owns, and is deleted when the ledger proves that it is ours. */
export const door: Kind = {
  ...base,
  name: 'Door',
  summary: 'a door',
  names: { ...base.names, fold: (name) => name.toLowerCase() },
  fields: doorFields,
  ownership: { by: 'ledger', named: true, undeclared: 'delete' },
  absent: 'unmanaged',
  calls: (change, context) => wholesale(change, context, ['content']),
};

/** Every write replaces it whole; it cannot be deleted. */
export const fence: Kind = {
  ...base,
  name: 'Fence',
  summary: 'a fence',
  fields: doorFields,
  ownership: { by: 'ledger', named: false, undeclared: 'release' },
  absent: 'default',
  calls: (change, context) => (change.action === 'release' ? { calls: [] } : wholesale(change, context, [])),
};

/** A part of the house of its name. Not told apart from weeds: what a gardener does not name stays. */
export const garden: Kind = {
  ...base,
  name: 'Garden',
  summary: 'a garden',
  fields: gardenFields,
  ownership: { by: 'part', of: houseOf },
  absent: 'unmanaged',
  revoke: (record, live) => ({
    trees: textsOf(live.spec['trees']).filter((tree) => !textsOf(record.fields['trees']).includes(tree)),
  }),
  losses: ({ address, facts }, outlives) =>
    Object.entries(isJsonObject(facts['visitors'] ?? null) ? (facts['visitors'] as JsonObject) : {})
      .filter(([name, id]) => outlives({ ...address, kind: 'House', name }, String(id)))
      .map(([name]) => `${name} has no garden to sit in`),
  calls: gardenCalls,
};

export function houseOf({ target, name }: Address): Address {
  return { kind: 'House', target, name };
}

export function registryOf(...kinds: readonly Kind[]): Registry {
  return new Map(kinds.map((kind) => [kind.name, kind]));
}

export const toys = registryOf(house, door, fence, garden);

function houseCalls(change: Change, context: CallContext): PlannedCalls {
  const { address, action } = change;
  const friends = textsOf(context.desired['friends']).map(
    (name) => context.idOf({ ...address, name }) ?? null,
  );
  const text = formatAddress(address);
  const send = (about: Partial<Call>): PlannedCalls => ({
    calls: [{ ...callOf(address, `${text}#${action}`), path: ['houses', change.id ?? 'new'], ...about }],
  });
  switch (action) {
    case 'create':
      return send({
        method: 'POST',
        path: ['houses'],
        body: { name: address.name, claim: context.claim?.stack ?? null, friends },
        success: [201],
        repeatable: false,
        createsId: { address: text, pointer: '/id' },
      });
    case 'update':
    case 'adopt':
      return send({ body: { ...fieldsOf(change), friends } });
    case 'release':
      return send({ body: { claim: null } });
    case 'delete':
      return send({ method: 'DELETE', order: 30, body: { force: context.remove === 'force' } });
    case 'none':
      return { calls: [] };
  }
}

function wholesale(change: Change, context: CallContext, preconditions: readonly string[]): PlannedCalls {
  const { address, action } = change;
  const call = { ...callOf(address, `${formatAddress(address)}#write`), path: ['things', address.name] };
  if (action === 'delete') return { calls: [{ ...call, method: 'DELETE' }], preconditions };
  if (change.fields.length === 0) return { calls: [] };
  return { calls: [{ ...call, method: 'PUT', body: { ...context.desired } }], preconditions };
}

/** The trees of a house that the same plan creates are sent along with it. */
function gardenCalls(change: Change, context: CallContext): PlannedCalls {
  const whole = houseOf(change.address);
  if (context.peer(whole).action === 'create')
    return { calls: [], sharedCall: `${formatAddress(whole)}#create` };
  if (change.fields.length === 0) return { calls: [] };
  const id = context.idOf(whole);
  return {
    calls: [
      {
        ...callOf(change.address, `${formatAddress(change.address)}#plant`),
        path: ['houses', id ?? 'none', 'garden'],
        body: { trees: context.desired['trees'] ?? [] },
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
