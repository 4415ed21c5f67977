// A kind from outside of the program: bells of a service that has the workspaces API, and bells. A bell refers to one
// workspace by name, and so depends on another kind of the same plan.
import { type Address, formatAddress } from '../../../src/model/address.ts';
import type { Call } from '../../../src/model/call.ts';
import { isJsonObject, type Json } from '../../../src/model/json.ts';
import { defineKind } from '../../../src/model/define-kind.ts';
import type { Session } from '../../../src/model/kind.ts';
import type { Declared, Named } from '../../../src/model/kind-specs.ts';
import type { LiveResource } from '../../../src/model/resource.ts';
import { duration, scalar, set } from '../../../src/compare/comparisons.ts';
import { listWorkspaces } from '../../../src/api/workspaces/list-workspaces.ts';

const name = 'Bell';

type BellSpec = Declared<{
  pitch: 'high' | 'low' | null;
  hours: number[];
  lasts: number | string;
  workspace: string;
}>;

type LiveBell = LiveResource<Named<BellSpec>>;

function workspaceOf(target: string, workspace: Json | undefined): Address {
  return { kind: 'Workspace', target, name: String(workspace) };
}

/** Converts `{ pitch, hours, lasts, workspace: "ws-1" }` of the service to a spec with the name of the workspace. */
async function asLive(session: Session, address: Address, data: Json): Promise<LiveBell | undefined> {
  if (!isJsonObject(data)) return undefined;
  const { byId } = await listWorkspaces(session);
  const workspace = byId.get(String(data['workspace']))?.name ?? null;
  const { pitch = null, hours = [], lasts = 0 } = data;
  return { address, spec: { pitch, hours, lasts, workspace }, evidence: {}, facts: {} };
}

export const bell = defineKind<BellSpec, LiveBell>({
  name,
  service: 'workspaces',
  summary: 'A bell that rings for a workspace',
  names: { pattern: /^[a-z]+$/, description: 'lower-case letters' },
  specSchema: {
    type: 'object',
    properties: {
      pitch: { type: ['string', 'null'], enum: ['high', 'low', null] },
      hours: { type: 'array', items: { type: 'integer' } },
      lasts: { type: ['integer', 'string'] },
      workspace: { type: 'string' },
    },
    required: ['workspace'],
    additionalProperties: false,
  },
  fields: {
    pitch: { compare: scalar, default: 'low' },
    hours: { compare: set, default: [] },
    lasts: { compare: duration, default: 0 },
    workspace: { compare: scalar },
  },
  ownership: { by: 'ledger', limitedByOwns: false, undeclared: 'delete' },
  absent: 'unmanaged',
  check: ({ spec }) =>
    spec.pitch === 'high' && spec.lasts === '1h'
      ? [
          {
            code: 'out-of-range',
            severity: 'error',
            path: ['lasts'],
            message: 'a high bell for an hour is too much',
          },
        ]
      : [],
  references: ({ address, spec }) => [
    { to: workspaceOf(address.target, spec.workspace), path: ['workspace'] },
  ],
  async read(session) {
    const answer = await session.reader.get('/bells');
    const bells = isJsonObject(answer.body) ? Object.entries(answer.body) : [];
    const reads = bells.map(([bellName, data]) =>
      asLive(session, { kind: name, target: session.target.name, name: bellName }, data),
    );
    const resources = (await Promise.all(reads)).filter((live) => live !== undefined);
    return { resources, total: resources.length, incomplete: [], invisible: [], notes: [] };
  },
  async readOne(session, address) {
    const answer = await session.reader.get(`/bells/${address.name}`);
    return answer.status === 200 ? asLive(session, address, answer.body) : undefined;
  },
  calls(change, { desired, live, idOf }) {
    const { address, action } = change;
    const call: Omit<Call, 'method'> = {
      id: `${formatAddress(address)}#${action}`,
      target: address.target,
      path: ['bells', address.name],
      order: action === 'delete' ? 0 : 40,
      needs: [],
      success: [200, 204],
      repeatable: true,
    };
    if (action === 'delete') return { calls: [{ ...call, method: 'DELETE' }] };
    if (change.fields.length === 0) return { calls: [] };
    const content: Named<BellSpec> = { pitch: 'low', hours: [], lasts: 0, ...live?.spec, ...desired };
    const workspace = idOf(workspaceOf(address.target, content.workspace)) ?? null;
    return { calls: [{ ...call, method: 'PUT', body: { ...content, workspace } }] };
  },
});
