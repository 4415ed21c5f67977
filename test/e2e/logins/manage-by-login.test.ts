// A target that gets its token by a login, at the embedded service: it manages a config and roles with what its role gives it,
// in each dialect, over HTTP and over TLS, and leaves no token behind.
import { describe, expect, it } from 'vitest';
import { clusterAuthConfig, role } from '../../support/cli/documents.ts';
import { otherCaCert } from '../../support/kinds/cluster-auth-config/pem-samples.ts';
import { clusterAuthTarget, type StackFolder, stackIn } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { openTlsFront } from '../../support/rig/tls-front.ts';
import { publicKeyOf } from '../../support/server/cluster-auth/issuing-cluster.ts';
import {
  type DialectName,
  DIALECTS,
  type Logins,
  serveLogins,
} from '../../support/server/cluster-auth/serve-logins.ts';

/** The mount that is managed; the login is at another one. */
const MANAGED = 'team/cluster';

const at = (path: string) => `auth/${MANAGED}/${path}`;

/** The policy of a manager of the whole mount, with these rights to its config. */
const manager = (config: readonly ('read' | 'update')[]) => [
  { path: at('config'), capabilities: config },
  { path: at('role'), capabilities: ['list'] as const },
  { path: at('role/*'), capabilities: ['create', 'read', 'update', 'delete'] as const },
];

interface Managed {
  readonly logins: Logins;
  readonly stack: StackFolder;
  /** the number of tokens: only those of the seed, if a run has left none */
  tokens(): Promise<number>;
  live(path: string): Promise<Record<string, unknown>>;
}

interface ManagedOptions {
  readonly dialect: DialectName;
  readonly tls?: boolean;
  /** more fields of the role of the login */
  readonly ci?: object;
  /** the rights of that role to the managed config */
  readonly config?: readonly ('read' | 'update')[];
}

/** A service whose role `ci` gives the policy `manager`, and a stack whose only credential is the JWT in its folder. */
async function openManaged(options: ManagedOptions): Promise<Managed> {
  const { dialect, tls = false, ci = {}, config = ['read', 'update'] } = options;
  const policies = [{ name: 'manager', rules: manager(config) }];
  const logins = await serveLogins({ dialect, seed: { policies } });
  await logins.configure({ tls, pem_keys: [publicKeyOf('ES256')] });
  await logins.role({ token_policies: ['manager'], audience: 'service', ...ci }, 'ci');
  await logins.send('POST', `sys/auth/${MANAGED}`, { type: logins.mount });
  const front = tls ? await openTlsFront(logins.url) : undefined;
  const target = clusterAuthTarget(front?.url ?? logins.url, {
    ...{ dialect, mount: MANAGED, owns: ['*'] },
    token: { login: { mount: logins.mount, role: 'ci', jwt: { file: 'ci.jwt' } } },
    ...(front && { caCert: { file: 'ca.pem' } }),
  });
  const stack = stackIn({ directory: temporaryFolder(), stack: { targets: [target] } });
  await stack.write('ci.jwt', `${await logins.cluster.issue()}\n`);
  if (front) await stack.write('ca.pem', front.authority);
  return {
    logins,
    stack,
    tokens: async () => {
      const { data } = await logins.send('LIST', 'auth/token/accessors');
      return (data['keys'] as readonly unknown[]).length;
    },
    live: async (path) => (await logins.send('GET', at(path))).data,
  };
}

const ways = DIALECTS.flatMap((dialect) => [false, true].map((tls) => ({ dialect, tls })));

describe.each(ways)('A stack with a login at $dialect (TLS: $tls)', (way) => {
  it('plans, applies, has nothing left to do, deletes, and leaves no token behind', async () => {
    const { logins, stack, tokens, live } = await openManaged(way);
    const before = await tokens();
    const config = clusterAuthConfig({ pemKeys: [publicKeyOf('RS256')] });
    await stack.declare(config, role('web'), role('jobs', { tokenTtl: '30m' }));
    await stack.run(['plan', '--exit-code'], 2);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect(await live('role/jobs')).toMatchObject({ bound_service_account_names: ['app'], token_ttl: 1800 });
    expect(await live('config')).toMatchObject({ pem_keys: [publicKeyOf('RS256').trim()] });

    await stack.declare(config, role('web', { tokenTtl: '2h' }));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('delete');
    await stack.run(['plan', '--exit-code'], 0);
    expect((await logins.send('LIST', at('role'))).data).toEqual({ keys: ['web'] });
    expect(await live('role/web')).toMatchObject({ token_ttl: 7200 });

    expect(await tokens()).toBe(before);
  });
});

describe.each(DIALECTS)('The token of a login at %s', (dialect) => {
  it('that has a limit of uses is replaced as often as needed', async () => {
    const { stack, tokens, logins } = await openManaged({ dialect, ci: { token_num_uses: 4 } });
    const before = await tokens();
    await stack.declare(clusterAuthConfig(), role('web'), role('jobs'));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect((await logins.send('LIST', at('role'))).data).toEqual({ keys: ['jobs', 'web'] });
    expect(await tokens()).toBe(before);
  });

  it('may be a batch token, which cannot be revoked', async () => {
    const { stack, logins } = await openManaged({ dialect, ci: { token_type: 'batch' } });
    await stack.declare(clusterAuthConfig(), role('web'));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect((await logins.send('LIST', at('role'))).data).toEqual({ keys: ['web'] });
  });

  it('without a right is reported by the plan, and writes nothing', async () => {
    const { stack, tokens, logins } = await openManaged({ dialect, config: ['read'] });
    const before = await tokens();
    await stack.declare(clusterAuthConfig(), role('web'));
    expect((await stack.run(['plan', '--exit-code'], 2)).out).toContain('this token lacks "update"');
    await stack.run(['apply', '--yes'], 1);
    expect((await logins.send('LIST', at('role'))).status).toBe(404);
    expect(await tokens()).toBe(before);
  });
});

it('No JWT is sent to a service with a certificate of another authority', async () => {
  const { stack, logins, tokens } = await openManaged({ dialect: 'neutral', tls: true });
  const before = await tokens();
  await stack.write('ca.pem', otherCaCert);
  await stack.declare(role('web'));
  const { out, err } = await stack.tryRun(['plan']);
  expect(out + err).toContain('signed by an authority that is not known here');
  expect(logins.cluster.questions).toEqual([]);
  expect(await tokens()).toBe(before);
});
