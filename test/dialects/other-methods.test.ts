// A target whose mount is of another or an unknown method: through the real CLI, request by request.
import { describe, expect, it } from 'vitest';
import { caCert } from '../support/kinds/cluster-auth-config/pem-samples.ts';
import { type MountOptions, openMount } from '../support/dialects/open-mount.ts';
import { appRole, jwt, type OtherMethod } from '../support/dialects/other-methods.ts';
import { RoleRecord } from '../support/dialects/role-record.ts';
import { manifest } from '../support/dialects/stack-folder.ts';

const spec = {
  boundServiceAccountNames: ['api'],
  boundServiceAccountNamespaces: ['payments'],
  audience: 'a',
};
const role = (name = 'payments-api') => manifest('ClusterAuthRole', name, spec);
const config = manifest('ClusterAuthConfig', 'config', {
  clusterHost: 'https://k8s:6443',
  clusterCaCert: caCert,
});

const [first, second] = ['GET sys/auth/kubernetes', 'GET sys/internal/ui/mounts/auth/kubernetes'];
const list = 'LIST auth/kubernetes/role';
const readConfig = 'GET auth/kubernetes/config';

/** Each test gets its own, because it writes into it. */
const others: [string, () => OtherMethod][] = [
  ['approle', () => appRole('payments-deploy', 'payments-old')],
  ['jwt', () => jwt('payments-deploy', 'payments-old')],
];

/** A mount whose type no request shows. */
function openWithUnknownType(other?: OtherMethod, options: Omit<MountOptions, 'habits'> = {}) {
  const habits = { showsTypeTo: 'nobody' as const, ...(other === undefined ? {} : { other }) };
  return openMount('openbao', { ...options, habits });
}

const exclusive = { target: { exclusive: true } };

/** The printed text on one line. */
const flat = (text: string) => text.replace(/\s+/g, ' ');

describe.each(others)('a mount of type %s', (type, other) => {
  it.each(['vault', 'openbao'] as const)(
    'is recognized by its type in %s, and nothing else is read',
    async (dialect) => {
      const habits = { other: other(), showsTypeTo: 'administrators' as const };
      const { service, stack } = await openMount(dialect, { habits, ...exclusive });
      await stack.declare(role() + config);
      const { out } = await stack.run('plan', 1);
      expect(flat(out)).toContain(
        `the mount "kubernetes" of target "prod" is of type "${type}", and cluster authentication is of type "kubernetes"`,
      );
      expect(service.asked()).toEqual([first]);
      const { changes, coverage } = await stack.plan();
      expect(changes).toEqual([]);
      expect(coverage.complete).toBe(false);
      await stack.run('apply --yes', 1);
      expect(service.writes()).toEqual([]);
    },
  );

  it('is recognized by its type with a token that has permissions only below the mount', async () => {
    const { service, stack } = await openMount('openbao', { habits: { other: other() } });
    await stack.declare(role());
    await stack.run('plan', 1);
    expect(service.asked()).toEqual([first, second]);
  });

  it('is recognized by its first role if its type is unknown, and an exclusive target deletes nothing', async () => {
    const { service, stack } = await openWithUnknownType(other(), exclusive);
    await stack.declare(role());
    const { out } = await stack.run('plan', 1);
    expect(flat(out)).toContain('serves another method than cluster authentication');
    expect(flat(out)).toContain(
      'role "payments-deploy" was not understood: it has no bound_service_account_names',
    );
    expect(service.asked()).toEqual([first, second, list, 'GET auth/kubernetes/role/payments-deploy']);
    expect((await stack.plan()).changes).toEqual([]);
    await stack.run('apply --yes', 1);
    expect(service.writes()).toEqual([]);
  });

  it('is recognized by its config if the stack owns no role there, and no role is created', async () => {
    const { service, stack } = await openWithUnknownType(other(), { target: { owns: ['billing-*'] } });
    await stack.declare(role('billing-api'));
    await stack.run('plan', 1);
    expect(service.asked()).toEqual([first, second, list, readConfig]);
    await stack.run('apply --yes', 1);
    expect(service.writes()).toEqual([]);
  });

  it('keeps its config, which a declared one would have replaced', async () => {
    const { service, stack } = await openWithUnknownType(other());
    await stack.declare(config);
    const { out } = await stack.run('apply --yes', 1);
    expect(flat(out)).toContain('serves another method than cluster authentication');
    expect(service.writes()).toEqual([]);
  });

  it.each([
    ['known', 'everyone'],
    ['unknown', 'nobody'],
  ] as const)('exports nothing when its type is %s', async (_, showsTypeTo) => {
    const { stack } = await openMount('openbao', {
      habits: { other: other(), showsTypeTo },
      target: { owns: ['*'] },
    });
    await stack.declare('');
    const { out, err } = await stack.run('export --out exported', 1);
    expect(out + err).toContain('nothing to export');
    expect(flat(out + err)).toMatch(/of type "|serves another method/);
  });
});

describe('a mount for cluster authentication', () => {
  it('is recognized by one request for its type, and read as usual', async () => {
    const { service, stack } = await openMount('openbao', { habits: { showsTypeTo: 'administrators' } });
    await stack.make(role() + config);
    service.clear();
    await stack.run('plan --exit-code');
    expect(service.asked().toSorted()).toEqual(
      [first, list, readConfig, 'GET auth/kubernetes/role/payments-api'].toSorted(),
    );
  });

  it('is recognized by a role if its type is unknown', async () => {
    const { service, stack } = await openWithUnknownType();
    await stack.make(role());
    service.clear();
    await stack.run('plan --exit-code');
    expect(service.asked()).toEqual([first, second, list, 'GET auth/kubernetes/role/payments-api']);
  });

  it('is recognized by an empty config while it is new, which is read only once', async () => {
    const { service, stack } = await openWithUnknownType();
    await stack.declare(role() + config);
    await stack.run('plan --exit-code', 2);
    const rights = 'POST sys/capabilities-self';
    expect(service.asked().toSorted()).toEqual([first, second, list, readConfig, rights].toSorted());
    await stack.run('apply --yes');
    expect(service.writes()).toEqual(['POST config', 'POST role/payments-api']);
  });

  it('is recognized by its config while it has no role', async () => {
    const { service, stack } = await openWithUnknownType();
    await stack.make(config);
    service.clear();
    await stack.declare(role() + config);
    await stack.run('plan --exit-code', 2);
    expect(service.asked().filter((line) => line === readConfig)).toHaveLength(1);
    await stack.run('apply --yes');
    expect(service.roles.has('payments-api')).toBe(true);
  });

  it('is not recognized if its config is forbidden and nothing else shows its type', async () => {
    const { service, stack } = await openWithUnknownType();
    await stack.declare(role());
    service.refuse(/config$/, 403);
    const { out } = await stack.run('plan', 1);
    expect(flat(out)).toContain('could not determine whether the mount "kubernetes" of target "prod"');
    await stack.run('apply --yes', 1);
    expect(service.writes()).toEqual([]);
  });

  it('gets no requests while the stack declares nothing there', async () => {
    const { service, stack } = await openMount('openbao', { target: { owns: undefined } });
    await stack.declare('');
    await stack.plan();
    expect(service.asked()).toEqual([]);
  });

  it('is not mistaken for a mount above it', async () => {
    const { service, stack } = await openMount('openbao', { target: { mount: 'kubernetes/blue' } });
    await stack.declare(role());
    const { out } = await stack.run('plan', 1);
    expect(flat(out)).toContain('"kubernetes/blue"');
    expect(service.writes()).toEqual([]);
  });
});

it('a role of another method that appears between plan and write is not overwritten', async () => {
  const { service, stack } = await openMount('openbao', { habits: { showsTypeTo: 'administrators' } });
  await stack.make(role());
  await stack.declare(manifest('ClusterAuthRole', 'payments-api', { ...spec, tokenTtl: '1h' }));
  let reads = 0;
  const live = service.roles.get('payments-api') ?? new RoleRecord();
  const answer = live.answer.bind(live);
  // The first read is for the plan, and the second one just before the write.
  live.answer = () => {
    reads += 1;
    return reads === 1 ? answer() : { token_policies: ['deploy'], secret_id_ttl: 0 };
  };
  service.clear();
  const { out } = await stack.run('apply --yes', 1);
  expect(flat(out)).toContain('it has no bound_service_account_names');
  expect(service.writes()).toEqual([]);
});

it('a service that refuses the token gets only one request', async () => {
  const { service, stack } = await openMount('openbao');
  await stack.declare(role() + config);
  service.refuse(/./, 401);
  const { out } = await stack.run('plan', 1);
  expect(flat(out)).toContain('the mount "kubernetes" of target "prod" could not be read');
  expect(service.asked()).toEqual([first]);
});
