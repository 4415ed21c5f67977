// The access that the stacks of a fleet give: stored by each complete check, and searched in all stacks, with a real PostgreSQL.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordEnd } from '../../../src/commands/fleet/check-records.ts';
import { noteStart, scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import type { DriftJson } from '../../../src/report/json/drift-schema.ts';
import { openConsole } from '../../support/fleet/console.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { reportOf, resultWith } from '../../support/fleet/reports.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

type Access = NonNullable<DriftJson['access']>[number];

function login(name: string, accounts: string[], more: Partial<Access['login']> = {}): Access {
  return {
    ...{ address: `ClusterAuthRole/vault/${name}`, kind: 'ClusterAuthRole', target: 'vault', name },
    login: { accounts, namespaces: ['payments'], policies: ['default'], ...more },
  };
}

function state(name: string, readers: string[], sharedWith?: 'organization'): Access {
  return {
    ...{ address: `Workspace/main/${name}`, kind: 'Workspace', target: 'main', name },
    state: { readers, ...(sharedWith === undefined ? {} : { sharedWith }) },
  };
}

async function openChecked() {
  const database = await openFleetDatabase(server);
  const stackOf = (name: string) => ({ repository: 'infra', path: `${name}/trueup.yaml` });
  const schedule = (...names: string[]) =>
    scheduleStacks(
      database.client,
      'infra',
      names.map((name) => ({ ...stackOf(name), tree: 'one', seconds: 900 })),
    );
  const check = async (name: string, access: Access[], error?: string) => {
    const { attempt = '' } = (await noteStart(database.client, stackOf(name))) ?? {};
    const result = { ...resultWith(), report: { ...reportOf(), access }, error };
    await recordEnd(database.client, stackOf(name), attempt, result);
  };
  await schedule('one', 'two');
  const { get } = await openConsole(database.address);
  /** the addresses that a page of the access lists */
  const found = async (query = '') =>
    [...(await get(`/access${query}`)).text.matchAll(/data-label="Given by"><code>([^<]*)<\/code>/g)].map(
      ([, address = '']) => address.split('/').at(-1),
    );
  return { ...database, schedule, check, get, found };
}

describe.skipIf(bin === undefined)('The access that a fleet knows', () => {
  it('is from the last complete check of each stack', async () => {
    const { check, found, schedule, client } = await openChecked();
    await check('one', [login('api', ['api']), state('network', ['app'])]);
    await check('two', [login('web', ['web'])]);
    expect(await found()).toEqual(['api', 'network', 'web']);
    // Only changed rows are written again.
    const writes = async () =>
      (await client.query('select address, xmin::text from trueup_fleet.access order by 1')).rows;
    const before = await writes();
    await check('one', [login('api', ['api']), state('network', ['app'])]);
    expect(await writes()).toEqual(before);
    await check('one', [login('api', ['other'])]);
    expect(await found('?text=other')).toEqual(['api']);
    expect(await found()).toEqual(['api', 'web']);
    await check('one', [], 'the target could not be read');
    expect(await found()).toEqual(['api', 'web']);
    // A removed stack is not shown, and neither is a stack that gives no access.
    await schedule('one');
    expect(await found()).toEqual(['api']);
    await check('one', []);
    expect(await found()).toEqual([]);
    // The report of the stack does not hold it a second time.
    expect(
      (await client.query(`select 1 from trueup_fleet.stacks where last_report::text like '%"login"%'`)).rows,
    ).toEqual([]);
  });

  it('is found by service account, its pattern, policy, namespace and workspace', async () => {
    const { check, found } = await openChecked();
    await check('one', [
      login('api', ['payments-api'], { policies: ['payments-read'] }),
      login('ci', ['ci-*'], { namespaces: ['build'] }),
      login('all', ['*'], { namespaces: ['tools'], policies: [] }),
      login('odd', ['a_b%c'], { policies: [] }),
    ]);
    await check('two', [state('network', ['app-prod']), state('shared', [], 'organization')]);
    expect(await found('?may=login')).toEqual(['all', 'api', 'ci', 'odd']);
    expect(await found('?may=state')).toEqual(['network', 'shared']);
    // Accounts match by name, or by a pattern.
    expect(await found('?may=login&text=Payments-API')).toEqual(['all', 'api']);
    expect(await found('?may=login&text=ci-7')).toEqual(['all', 'ci']);
    expect(await found('?may=login&text=payments-read')).toEqual(['all', 'api']);
    expect(await found('?may=login&text=build')).toEqual(['all', 'ci']);
    expect(await found('?may=state&text=app-prod')).toEqual(['network', 'shared']);
    expect(await found('?may=state&text=network')).toEqual(['network', 'shared']);
    // Wildcards of PostgreSQL are plain text.
    expect(await found('?may=login&text=axbyc')).toEqual(['all']);
    expect(await found('?may=login&text=a_b%25c')).toEqual(['all', 'odd']);
    expect(await found('?text=%00')).toEqual(['all', 'shared']);
  });

  it('is shown with accounts and policies, and escaped', async () => {
    const { check, get } = await openChecked();
    const hostile = '"><img src=x onerror=alert(1)>\u202e';
    await check('one', [
      login('api', ['api', 'ci-*'], { audience: 'payments', policies: ['read', 'default'] }),
      login('wide', ['*'], { namespaces: ['*'], policies: [], selector: hostile }),
      login(hostile, [hostile], { namespaces: [hostile], policies: [hostile], audience: hostile }),
      state('network', ['app', hostile]),
      state('shared', [], 'organization'),
    ]);
    const { text } = await get('/access?text=%3Cimg');
    for (const raw of ['<img', '\u202e']) expect(text).not.toContain(raw);
    const words = (await get('/access')).text.replaceAll(/<[^>]*>/g, '');
    for (const phrase of [
      'api, ci-*in payments',
      'log in with read, defaulta JWT for payments',
      'every service accountin every namespace, namespaces with labels',
      'log in, with no policya JWT for any audience',
      'read the state of network',
      'every workspace of its organization',
    ])
      expect(words).toContain(phrase);
  });
});
