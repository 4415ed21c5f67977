// A target whose token comes from a login with a JWT: used by plan and apply, and revoked at the end.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openMount } from '../support/dialects/open-mount.ts';
import { login } from '../support/dialects/secrets-service.ts';
import { manifest } from '../support/dialects/stack-folder.ts';

const role = manifest('ClusterAuthRole', 'payments-api', {
  boundServiceAccountNames: ['api'],
  boundServiceAccountNamespaces: ['payments'],
  audience: 'payments',
});

const token = { login: { mount: login.mount, role: login.role, jwt: { file: 'jwt' } } };

describe.each(['vault', 'openbao', 'neutral'] as const)('a login through %s', (dialect) => {
  it('gives plan and apply their token, which is revoked at the end', async () => {
    const { service, stack } = await openMount(dialect, { target: { token } });
    await stack.declare(role);
    await stack.run('plan --exit-code', 2);
    const [first, ...rest] = service.requests.map(({ method, path }) => `${method} ${path}`);
    expect(first).toBe(`POST /v1/auth/${login.mount}/login`);
    expect(rest.at(-1)).toBe('POST /v1/auth/token/revoke-self');
    // The read of the mount's type is refused. One request checks that the token is not the cause.
    const [proof, ...more] = rest.slice(0, -1).filter((line) => !/^(GET|LIST) /.test(line));
    // The permissions of the token are read with the token, not through the connection of the login.
    expect([proof, more]).toEqual(['POST /v1/auth/token/renew-self', ['POST /v1/sys/capabilities-self']]);
    expect(service.requests[0]?.body).toEqual({ role: login.role, jwt: login.jwt });
    expect(service.loggedIn.size).toBe(0);

    service.clear();
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect(service.writes()).toEqual(['POST role/payments-api']);
    const logins = service.requests.filter(({ path }) => path.endsWith('/login'));
    expect(logins).toHaveLength(2);
    expect(
      logins.every(({ headers }) => !('x-vault-token' in headers) && !('x-service-token' in headers)),
    ).toBe(true);
    expect(service.loggedIn.size).toBe(0);
  });

  it('is made in the namespace of the target', async () => {
    const { service, stack } = await openMount(dialect, {
      habits: { namespace: 'team-a' },
      target: { token, namespace: 'team-a' },
    });
    await stack.make(role);
    expect(service.loggedIn.size).toBe(0);
  });

  it('that is refused is reported with mount, role and the service’s error, and never with the JWT', async () => {
    const { service, stack } = await openMount(dialect, { target: { token } });
    await stack.declare(role);
    await writeFile(join(stack.directory, 'jwt'), 'stolen.jwt.value');
    const { out, err } = await stack.run('plan', 1);
    expect(out).toContain(`the login as role "${login.role}" at mount "${login.mount}" was refused`);
    expect(out).toContain('permission denied');
    expect(out + err).not.toContain('stolen.jwt.value');
    expect(service.requests).toHaveLength(1);
  });
});
