import { afterEach, describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { LiveResource } from '../../../src/model/resource.ts';
import {
  type Canned,
  type Organization,
  openCannedOrganization,
} from '../../support/services/workspaces/open-organization.ts';
import {
  bareAttributes,
  declare,
  inAcme,
  readRequest,
} from '../../support/services/workspaces/plan-organization.ts';

let organization: Organization | undefined;
afterEach(async () => {
  await organization?.close();
  organization = undefined;
});

const nothing = readRequest([]);
const find = (resources: readonly LiveResource[], name: string) =>
  resources.find(({ address }) => address.name === name);

const refusal = {
  status: 400,
  body: { errors: [{ status: '400', title: 'bad request', detail: 'Invalid include parameter' }] },
};

/** A service without includes: it refuses or silently ignores them. `more` answers first. */
async function without(
  include: 'refuses' | 'ignores',
  more: (line: string) => Canned | undefined = () => undefined,
) {
  const documents = ['ours', 'declared', 'foreign'].map((name) => ({
    id: `ws-${name}`,
    type: 'workspaces',
    attributes: { ...bareAttributes, name },
    relationships: { ...inAcme, 'effective-tag-bindings': { links: { related: 'x' } } },
  }));
  const page = (data: readonly unknown[]) => ({
    status: 200,
    body: { data, meta: { pagination: { 'total-count': data.length, 'total-pages': 1 } } },
  });
  const binding = (key: string, value: string) => ({ type: 'tag-bindings', attributes: { key, value } });
  const [, declared] = documents;
  const answers: readonly (readonly [string, Canned])[] = [
    ...(include === 'refuses' ? [['include=', refusal] as const] : []),
    ['filter[tagged][0][key]=trueup-no-such-key', page([])],
    ['filter[tagged][0][key]=trueup-stack', page(documents.slice(0, 1))],
    ['GET /organizations/acme/workspaces?', page(documents)],
    ['GET /workspaces/ws-ours/tag-bindings', page([binding('trueup-stack', 'payments')])],
    ['GET /workspaces/ws-declared/tag-bindings', page([binding('env', 'prod')])],
    ['GET /workspaces/ws-declared', { status: 200, body: { data: declared } }],
  ];
  organization = await openCannedOrganization(
    (line) => more(line) ?? answers.find(([part]) => line.includes(part))?.[1] ?? { status: 404 },
  );
  return organization;
}

describe('If the service cannot include tag bindings', () => {
  const note = expect.stringContaining('read one workspace at a time');

  it.each(['refuses', 'ignores'] as const)(
    'it %s the include: one filtered list reports the ownership tags',
    async (include) => {
      const { session, seen } = await without(include);
      const set = await kind.read(session, readRequest([declare('Workspace', 'declared')]));
      expect(set.limits).toEqual([note]);
      expect(set.incomplete).toEqual([]);
      expect(find(set.resources, 'ours')?.evidence.ownershipTag?.stack).toBe('payments');
      expect(find(set.resources, 'declared')?.facts['direct']).toEqual({ env: 'prod' });
      expect(find(set.resources, 'foreign')?.facts).not.toHaveProperty('direct');
      expect(seen.filter((line) => line.endsWith('/tag-bindings')).toSorted()).toEqual([
        'GET /workspaces/ws-declared/tag-bindings',
        'GET /workspaces/ws-ours/tag-bindings',
      ]);
      expect(seen).toHaveLength(include === 'refuses' ? 6 : 5);
    },
  );

  it('an ownership tag that only the filter finds is inherited', async () => {
    const { session } = await without('ignores', (line) => {
      if (line === 'GET /workspaces/ws-ours/tag-bindings') return { status: 200, body: { data: [] } };
      if (line !== 'GET /workspaces/ws-ours/effective-tag-bindings') return undefined;
      const attributes = { key: 'trueup-stack', value: 'payments' };
      return { status: 200, body: { data: [{ type: 'effective-tag-bindings', attributes }] } };
    });
    const set = await kind.read(session, nothing);
    expect(find(set.resources, 'ours')?.evidence.ownershipTag).toMatchObject({
      stack: 'payments',
      inherited: true,
    });
  });

  it('tags that cannot be read make the read incomplete, and no ownership tag is assumed', async () => {
    const { session } = await without('ignores', (line) =>
      line.endsWith('ws-ours/tag-bindings') ? { status: 500 } : undefined,
    );
    const set = await kind.read(session, nothing);
    expect(set.incomplete).toEqual([
      expect.stringContaining('the tag bindings of workspace "ours" were not read'),
    ]);
    expect(find(set.resources, 'ours')?.evidence.ownershipTag).toBeUndefined();
  });

  it.each(['refuses', 'ignores'] as const)(
    'it %s the include: one workspace is read again with its tags',
    async (include) => {
      const { session } = await without(include, (line) =>
        line.endsWith('ws-declared/effective-tag-bindings') ? { status: 200, body: { data: [] } } : undefined,
      );
      const address = { kind: 'Workspace', target: 'acme', name: 'declared' };
      expect(await kind.readOne(session, address, 'ws-declared')).toMatchObject({
        facts: { direct: { env: 'prod' } },
      });
    },
  );

  it('a refused include is requested once for lists and once for documents', async () => {
    const { session, seen } = await without('refuses', (line) =>
      line.endsWith('ws-declared/effective-tag-bindings') ? { status: 200, body: { data: [] } } : undefined,
    );
    await kind.read(session, nothing);
    const address = { kind: 'Workspace', target: 'acme', name: 'declared' };
    for (let time = 0; time < 3; time += 1) await kind.readOne(session, address, 'ws-declared');
    expect(seen.filter((line) => line.includes('include='))).toEqual([
      expect.stringContaining('GET /organizations/acme/workspaces?'),
      expect.stringContaining('GET /workspaces/ws-declared?'),
    ]);
  });
});
