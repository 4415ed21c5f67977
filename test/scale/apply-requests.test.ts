/** The number of requests of an apply of many workspaces, with the plan before and the verification after it. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  type CountedOptions,
  type CountedStack,
  names,
  openCountedStack,
  owned,
  workspace,
  writes,
} from '../support/scale/counted-stack.ts';

let stack: CountedStack;
afterEach(() => stack.close());

async function open(options: CountedOptions = {}): Promise<CountedStack> {
  stack = await openCountedStack(options);
  return stack;
}

const list = 'GET /organizations/:organization_name/workspaces';
const show = 'GET /workspaces/:workspace_id';
const consumersOf = '/workspaces/:workspace_id/relationships/remote-state-consumers';
const organization = 'GET /organizations/:organization_name';
const projects = 'GET /organizations/:organization_name/projects';

/**
 * A service without safe deletes. The documents of its workspaces show that they never had a state, so the plan does not read their state
 * versions; only the check before each delete does.
 */
const limited = {
  lacks: ['tag-bindings', 'tag-filter', 'consumers', 'safe-delete'],
  target: { ownership: 'ledger', deletes: 'plain' },
} as const;

describe.each(['neutral', 'hcp-terraform'])('A thousand workspaces in the dialect %s', (dialect) => {
  const all = names('ws', 1000);
  const sum = (requests: Readonly<Record<string, number>>) =>
    Object.values(requests).reduce((total, count) => total + count, 0);

  it.each([
    [
      '',
      {},
      { updates: 1.05, deletes: 3.03 },
      {
        [`GET ${consumersOf}`]: 1000,
        [show]: 1000,
        'POST /workspaces/:workspace_id/actions/safe-delete': 1000,
      },
    ],
    [
      ' on a service with few capabilities',
      limited,
      { updates: 3.05, deletes: 6.05 },
      {
        [`GET ${consumersOf}`]: 1000,
        [show]: 1000,
        'GET /state-versions': 1000,
        'GET /workspaces/:workspace_id/current-state-version': 1000,
        'DELETE /workspaces/:workspace_id': 1000,
      },
    ],
  ] as const)(
    'need about one request for each create, and a few for each update and delete%s',
    async (_, how, most, deletes) => {
      const { declare, run } = await open({ dialect, perSecond: 30, ...how });
      const stays = workspace('stays');
      await declare([stays, ...all.map((name) => workspace(name))]);
      const created = await run('apply', '--yes');
      expect(created.code, created.out).toBe(0);
      expect(created.requests['POST /organizations/:organization_name/workspaces']).toBe(1001);
      expect(sum(created.requests)).toBeLessThanOrEqual(1030);

      await declare([stays, ...all.map((name) => workspace(name, { description: 'changed' }))]);
      const updated = await run('apply', '--yes');
      expect(updated.code, updated.out).toBe(0);
      expect(writes(updated.requests)).toEqual({ 'PATCH /workspaces/:workspace_id': 1000 });
      // The plan has read eleven pages before.
      expect(sum(updated.requests) - 11).toBeLessThanOrEqual(most.updates * 1000);

      await declare([stays]);
      const deleted = await run('apply', '--yes');
      expect(deleted.code, deleted.out).toBe(0);
      expect(deleted.requests).toMatchObject(deletes);
      // The rest are lists of both plans, reads of inherited defaults, and replacements of missing capabilities.
      expect(sum(deleted.requests)).toBeLessThanOrEqual(most.deletes * 1000);
    },
    300_000,
  );
});

describe('Updating some of many workspaces', { timeout: 300_000 }, () => {
  const all = names('ws', 1000);
  it.each([
    ['reads two changed workspaces on a page of the list one by one', 2, 20, 0],
    ['reads the page of five changed workspaces again, and only one of the five by its id', 5, 10, 10],
  ])('%s', async (_, onPage, shown, pages) => {
    const { declare, run } = await open({
      perSecond: 100,
      organization: { workspaces: all.map(owned) },
    });
    await declare(all.map((name) => workspace(name)));
    expect((await run('apply', '--yes')).code, 'records them').toBe(0);
    const isChanged = (index: number) => index % 100 < onPage;
    await declare(all.map((name, index) => workspace(name, { autoApply: isChanged(index) })));

    const { code, requests, out } = await run('apply', '--yes');

    expect(code, out).toBe(0);
    expect(requests).toEqual({
      [list]: 20 + pages,
      [organization]: 1,
      [projects]: 1,
      [show]: shown,
      'PATCH /workspaces/:workspace_id': onPage * 10,
    });
  });

  it('finds them even if creations have moved them in the list', async () => {
    const workspaces = all.slice(0, 300).map(owned);
    const { declare, run } = await open({ perSecond: 100, organization: { workspaces } });
    await declare(all.slice(0, 300).map((name) => workspace(name)));
    expect((await run('apply', '--yes')).code, 'records them').toBe(0);
    const fresh = names('aa', 250).map((name) => workspace(name));
    const changed = all.slice(0, 300).map((name) => workspace(name, { autoApply: true }));
    await declare([...fresh, ...changed]);

    const { code, requests, out } = await run('apply', '--yes');

    expect(code, out).toBe(0);
    expect(requests[show]).toBeLessThan(30);
  });

  it('reads each of them separately if the target says so', async () => {
    const { declare, run } = await open({
      organization: { workspaces: all.slice(0, 50).map(owned) },
      target: { readBeforeWrite: 'resource' },
    });
    await declare(all.slice(0, 50).map((name) => workspace(name, { autoApply: true })));

    const { code, requests } = await run('apply', '--yes');

    expect(code).toBe(0);
    expect(requests).toMatchObject({ [list]: 2, [show]: 50 });
  });
});
