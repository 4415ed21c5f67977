import { afterEach, describe, expect, it } from 'vitest';
import { clusterAuthRole as kind } from '../../../src/kinds/cluster-auth-role/index.ts';
import type { Target } from '../../../src/model/stack.ts';
import { declare, readRequest } from '../../support/services/cluster-auth/declare.ts';
import {
  type Canned,
  type Mount,
  openCannedMount,
  openEmbeddedMount,
} from '../../support/services/cluster-auth/open-mount.ts';
import { formatAddress, readAddress } from '../../../src/model/address.ts';

let mount: Mount | undefined;
afterEach(async () => {
  await mount?.close();
  mount = undefined;
});

const plain = { bound_service_account_names: ['a'], bound_service_account_namespaces: ['b'] };
const role = (name: string) => declare(kind, name, {});

/** For the type of a mount: the second request if the first one gets no response. */
const questions = (path: string) => [
  `GET /v1/sys/auth/${path}`,
  `GET /v1/sys/internal/ui/mounts/auth/${path}`,
];

async function embedded(names: readonly string[], target: Partial<Target> = {}): Promise<Mount> {
  mount = await openEmbeddedMount(target);
  for (const name of names) await mount.write(`/auth/cluster/role/${name}`, plain);
  mount.seen.length = 0;
  return mount;
}

async function canned(answer: (line: string) => Canned, list = true): Promise<Mount> {
  mount = await openCannedMount(answer, { list });
  return mount;
}

describe('Reading the roles of a mount', () => {
  it('lists once and then reads only roles that are declared, recorded or owned by the target', async () => {
    const { session, seen } = await embedded(['declared', 'recorded', 'payments-api', 'foreign'], {
      owns: ['payments-*'],
    });
    const set = await kind.read(
      session,
      readRequest([role('declared'), role('not-there')], [role('recorded')]),
    );
    expect(set.resources.map(({ address }) => address.name).toSorted()).toEqual([
      'declared',
      'payments-api',
      'recorded',
    ]);
    expect(set).toMatchObject({ total: 4, incomplete: [], invisible: [], notes: [] });
    expect(seen[0]).toBe(questions('cluster')[0]);
    expect(seen[1]).toMatch(/\/v1\/auth\/cluster\/role$/);
    expect(seen.slice(2).toSorted()).toEqual([
      'GET /v1/auth/cluster/role/declared',
      'GET /v1/auth/cluster/role/payments-api',
      'GET /v1/auth/cluster/role/recorded',
    ]);
  });

  it('reads recorded and begun roles that the list lacks, but none that this run has deleted', async () => {
    const { session, seen } = await canned((line) => {
      if (line.includes('list=true')) return { status: 200, body: { data: { keys: ['listed'] } } };
      return line.endsWith('/gone')
        ? { status: 404, body: { errors: [] } }
        : { status: 200, body: { data: plain } };
    });
    const set = await kind.read(session, {
      ...readRequest([role('listed'), role('new')], [role('recorded'), role('gone'), role('deleted')]),
      begun: new Set([formatAddress(role('Begun').address)]),
      deleted: new Set([formatAddress(role('deleted').address)]),
    });
    expect(set.resources.map(({ address }) => address.name)).toEqual(['listed', 'recorded', 'begun']);
    expect(set.total).toBeUndefined();
    expect(set.incomplete).toEqual([
      'the list of the roles of the mount "cluster" of target "prod" lacks "begun", "recorded", which are found by reading them, so it may lack others',
    ]);
    expect(seen.slice(1).toSorted()).toEqual(
      ['begun', 'gone', 'listed', 'recorded'].map((name) => `GET /v1/auth/cluster/role/${name}`),
    );
  });

  it('takes a recorded role for gone if neither the list nor a read finds it', async () => {
    const { session } = await embedded(['there']);
    const set = await kind.read(session, readRequest([role('there')], [role('gone')]));
    expect(set).toMatchObject({ total: 1, incomplete: [] });
    expect(set.unseen).toEqual(new Map());
  });

  it('does not take a recorded role for gone that the list lacks and that cannot be read', async () => {
    const { session } = await canned((line) => {
      if (line.includes('list=true')) return { status: 200, body: { data: { keys: ['there'] } } };
      return line.endsWith('/there')
        ? { status: 200, body: { data: plain } }
        : { status: 403, body: { errors: ['permission denied'] } };
    });
    const set = await kind.read(session, readRequest([role('there')], [role('secret')]));
    expect([...(set.unseen?.keys() ?? [])]).toEqual(['ClusterAuthRole/prod/secret']);
    expect(set.incomplete).toEqual([expect.stringContaining('role "secret" was not read')]);
  });

  it('finds a role whose manifest spells its name in capitals', async () => {
    const { session } = await embedded(['payments-api']);
    const set = await kind.read(session, readRequest([role('Payments-API')]));
    expect(set.resources.map(({ address }) => address.name)).toEqual(['payments-api']);
  });

  it('reads every role of a mount that is exclusive to the stack', async () => {
    const { session } = await embedded(['one', 'two'], { exclusive: true });
    expect((await kind.read(session, readRequest([]))).resources).toHaveLength(2);
  });

  it('sends nothing when no role is declared, recorded or owned', async () => {
    const { session, seen } = await embedded(['foreign']);
    expect(await kind.read(session, readRequest([]))).toMatchObject({ resources: [], incomplete: [] });
    expect(seen).toEqual([]);
  });

  it('takes an empty list for an empty mount', async () => {
    const { session } = await embedded([]);
    expect(await kind.read(session, readRequest([role('a')]))).toMatchObject({
      resources: [],
      total: 0,
      incomplete: [],
    });
  });

  it('names the mount when it does not exist, and reads no role of it', async () => {
    mount = await openEmbeddedMount({ mount: 'team/other' });
    const set = await kind.read(mount.session, readRequest([role('a')]));
    expect(set.unread).toContain('the mount "team/other" of target "prod" does not exist');
    expect(set.total).toBeUndefined();
    expect(mount.seen).toEqual([...questions('team/other'), expect.stringMatching(/team\/other\/role$/)]);
  });

  it('reads no role when the list is forbidden, because the other roles are unknown', async () => {
    const { session, seen } = await canned((line) =>
      line.includes('list=true')
        ? { status: 403, body: { errors: ['permission denied'] } }
        : { status: 200, body: { data: plain } },
    );
    const set = await kind.read(session, readRequest([role('a')]));
    expect(set.resources).toEqual([]);
    expect(set.unread).toMatch(/mount "cluster".*cannot be read with this token.*permission denied/);
    expect(seen).toHaveLength(1);
  });

  it('reads no role if the list has a key that is not a text', async () => {
    const { session, seen } = await canned((line) =>
      line.includes('list=true')
        ? { status: 200, body: { data: { keys: ['a', 7] } } }
        : { status: 200, body: { data: plain } },
    );
    const set = await kind.read(session, readRequest([role('a')]));
    expect(set).toMatchObject({ resources: [], unread: 'the list of roles contains no names' });
    expect(seen).toHaveLength(1);
  });

  it('lists with GET if the verb LIST is unknown, and says so', async () => {
    const { session, seen } = await canned(
      (line) =>
        line.endsWith('?list=true')
          ? { status: 200, body: { data: { keys: ['a'] } } }
          : { status: 200, body: { data: plain } },
      false,
    );
    const set = await kind.read(session, readRequest([role('a')]));
    expect(set.resources).toHaveLength(1);
    expect(set.notes).toEqual([expect.stringContaining('LIST was refused')]);
    expect(seen).toEqual(['GET /v1/auth/cluster/role?list=true', 'GET /v1/auth/cluster/role/a']);
  });

  it('tries only a few roles of a mount that fails for each of them, and reports one cause', async () => {
    const names = Array.from({ length: 300 }, (_, n) => `r${n}`);
    const { session, seen } = await canned((line) =>
      line.includes('/role/')
        ? { status: 500, body: { errors: ['boom'] } }
        : { status: 200, body: { data: { keys: names } } },
    );
    const set = await kind.read(session, readRequest(names.map(role)));
    expect(set).toMatchObject({ resources: [], incomplete: [] });
    expect(set.unread).toMatch(/could not read any of its 300 roles: role "r\d+" was not read: .*boom$/);
    expect(new Set(seen).size).toBeLessThan(20);
  });

  /** A mount whose list names two roles, but returns "not found" for the first of them. */
  const contradicting = (lists: readonly (readonly string[] | 403)[]) => {
    const left = [...lists];
    return canned((line) => {
      if (!line.includes('list=true'))
        return line.endsWith('/gone')
          ? { status: 404, body: { errors: [] } }
          : { status: 403, body: { errors: ['permission denied'] } };
      const keys = left.shift() ?? [];
      return keys === 403
        ? { status: 403, body: { errors: ['denied'] } }
        : { status: 200, body: { data: { keys } } };
    });
  };

  it('leaves out a role that disappeared after the list, and reports a forbidden one', async () => {
    const { session } = await contradicting([['gone', 'secret'], ['secret']]);
    const set = await kind.read(session, readRequest([role('gone'), role('secret')]));
    expect(set).toMatchObject({ resources: [], total: 1 });
    expect(set.incomplete).toEqual([expect.stringContaining('role "secret" was not read')]);
    expect([...(set.unseen?.keys() ?? [])]).toEqual(['ClusterAuthRole/prod/secret']);
  });

  it.each<[string, readonly string[] | 403, string]>([
    [
      'it is still listed',
      ['gone', 'secret'],
      'it is listed, also when listed again, but reading it returns "not found"',
    ],
    ['the list could not be read again', 403, 'the roles could not be listed again'],
  ])('does not take a role for absent that was not found if %s', async (_, second, why) => {
    const { session, seen } = await contradicting([['gone', 'secret'], second]);
    const set = await kind.read(session, readRequest([role('gone'), role('secret')]));
    expect(set).toMatchObject({ resources: [], total: 2 });
    expect(set.unseen?.get(readAddress('ClusterAuthRole/prod/gone'))).toContain(why);
    expect(set.incomplete).toHaveLength(2);
    expect(seen.filter((line) => line.includes('list=true'))).toHaveLength(2);
  });

  it('reads the deprecated names of an old service, and lists the fields that it lacks', async () => {
    const old = {
      ...plain,
      bound_service_account_namespaces: null,
      ttl: 0,
      max_ttl: 3600,
      period: 0,
      policies: 'dev,prod',
    };
    const { session } = await canned((line) =>
      line.includes('list=true')
        ? { status: 200, body: { data: { keys: ['a'] } } }
        : { status: 200, body: { data: old } },
    );
    const set = await kind.read(session, readRequest([role('a')]));
    expect(set.resources[0]?.facts['content']).toEqual({
      boundServiceAccountNames: ['a'],
      boundServiceAccountNamespaces: [],
      audience: '',
      tokenTtl: 0,
      tokenMaxTtl: 3600,
      tokenPeriod: 0,
      tokenPolicies: ['dev', 'prod'],
    });
    expect(set.invisible).toContain('tokenBoundCidrs');
    expect(set.invisible).toContain('aliasNameSource');
    expect(set.invisible).not.toContain('tokenTtl');
  });

  it('uses the default mount of its dialect', async () => {
    mount = await openCannedMount(() => ({ status: 404, body: { errors: [] } }));
    const { target, dialect, ...rest } = mount.session;
    const { mount: _, ...unnamed } = target;
    await kind.read(
      { ...rest, target: unnamed, dialect: { ...dialect, defaultMount: 'elsewhere' } },
      readRequest([role('a')]),
    );
    expect(mount.seen[0]).toContain('/v1/auth/elsewhere/role');
  });

  it('reads one role again, returns undefined when it is gone, and throws when it cannot be read', async () => {
    const { session } = await canned((line) => {
      if (line.endsWith('/there')) return { status: 200, body: { data: plain } };
      return line.endsWith('/gone')
        ? { status: 404, body: { errors: [] } }
        : { status: 403, body: { errors: ['permission denied'] } };
    });
    expect(await kind.readOne(session, role('there').address)).toMatchObject({
      spec: { boundServiceAccountNames: ['a'] },
    });
    expect(await kind.readOne(session, role('gone').address)).toBeUndefined();
    await expect(kind.readOne(session, role('secret').address)).rejects.toThrow('permission denied');
  });
});
