// Policies over HTTP, and what they permit.
import { describe, expect, it } from 'vitest';
import { parsePolicy as parse } from '../../../src/server/cluster-auth/policies.ts';
import { type Logins, serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

const parsePolicy = (text: string) => parse(text, { scans: true });

const write = (logins: Logins, name: string, policy: unknown) =>
  logins.send('POST', `sys/policies/acl/${name}`, { policy });

it('a policy takes effect as soon as it is written', async () => {
  const logins = await serveLogins();
  await logins.role({ token_policies: ['look'] });
  const token = await logins.token();
  const read = async () =>
    (await logins.send('GET', `auth/${logins.mount}/role/app`, undefined, token)).status;
  expect(await read()).toBe(403);
  expect((await write(logins, 'Look', 'path "auth/+/role/*" { capabilities = ["read"] }')).status).toBe(204);
  expect(await read()).toBe(200);
  await write(logins, 'look', 'path "auth/+/role/app" { policy = "deny" }');
  expect(await read()).toBe(403);
  await logins.send('DELETE', 'sys/policies/acl/look');
  expect(await read()).toBe(403);
});

it('a policy is listed and read as it was written', async () => {
  const logins = await serveLogins({
    seed: { policies: [{ name: 'seeded', rules: [{ path: 'auth/*', capabilities: ['list'] }] }] },
  });
  const text = '# who looks\npath "auth/*" { capabilities = ["read"] }';
  await write(logins, 'look', text);
  expect((await logins.send('LIST', 'sys/policies/acl')).data['keys']).toEqual([
    'default',
    'look',
    'root',
    'seeded',
  ]);
  expect((await logins.send('GET', 'sys/policies/acl/look')).data).toEqual({ name: 'look', policy: text });
  const seeded = String((await logins.send('GET', 'sys/policies/acl/seeded')).data['policy']);
  expect(parsePolicy(seeded)).toEqual({ ok: true, value: [{ path: 'auth/*', capabilities: ['list'] }] });
  expect((await logins.send('GET', 'sys/policies/acl/nobody')).status).toBe(404);
});

it.each([
  ['vault', 400],
  ['openbao', 204],
] as const)('a policy that %s reserves cannot be written, and no token gets it', async (dialect, status) => {
  const logins = await serveLogins({ dialect });
  const text = 'path "x" { capabilities = ["read"] }';
  expect((await write(logins, 'response-wrapping', text)).errors).toEqual([
    'cannot update "response-wrapping" policy',
  ]);
  expect((await write(logins, 'control-group', text)).status).toBe(status);
  expect((await logins.send('DELETE', 'sys/policies/acl/control-group')).status).toBe(status);
  const made = await logins.send('POST', 'auth/token/create', { policies: ['control-group'] });
  expect(made.status).toBe(status === 204 ? 200 : 400);
  await logins.role({ token_policies: ['control-group'] });
  expect((await logins.login(await logins.cluster.issue())).status).toBe(made.status);
});

it('a policy is the same at its older path', async () => {
  const logins = await serveLogins();
  const policy = 'path "auth/*" { capabilities = ["read"] }';
  for (const method of ['PUT', 'POST']) {
    expect((await logins.send(method, 'sys/policy/look', { policy })).status).toBe(204);
    expect((await logins.send('GET', 'sys/policies/acl/look')).data['policy']).toBe(policy);
    await logins.send('DELETE', 'sys/policies/acl/look');
  }
  await logins.send('POST', 'sys/policy/look', { policy });
  expect((await logins.send('GET', 'sys/policy/look')).data).toEqual({ name: 'look', policy });
  expect((await logins.send('LIST', 'sys/policy')).data['keys']).toEqual(['default', 'look', 'root']);
  expect((await logins.send('GET', 'sys/policy')).data['keys']).toEqual(['default', 'look', 'root']);
  expect((await logins.send('DELETE', 'sys/policy/look')).status).toBe(204);
  expect((await logins.send('GET', 'sys/policies/acl')).data['keys']).toEqual(['default', 'root']);
});

it.each([
  ['root', 'path "x" {}', 'cannot update "root" policy'],
  ['x', '', "'policy' parameter not supplied or empty"],
  ['x', 'path "x" { capabilities = ["fly"] }', 'failed to parse policy: path "x": invalid capability "fly"'],
  ['x', 'path "x" {', 'failed to parse policy: it is not understood at "x"'],
])('the policy %s with the text %j is refused', async (name, text, error) => {
  const logins = await serveLogins();
  expect(await write(logins, name, text)).toMatchObject({ status: 400, errors: [error] });
});

/** The capabilities of the old keyword `write`. */
const OLD_WRITE = ['create', 'read', 'update', 'delete', 'list'];

describe('the text of a policy', () => {
  it.each([
    ['path "a" { capabilities = ["read", "list",] }', [{ path: 'a', capabilities: ['read', 'list'] }]],
    [
      'path "a" {\n  // why\n  capabilities = [ # list\n "read" ]\n}',
      [{ path: 'a', capabilities: ['read'] }],
    ],
    ['/* x */ path "a/+/b*" { policy = "read" }', [{ path: 'a/+/b*', capabilities: ['read', 'list'] }]],
    ['{"path":{"a":{"capabilities":["sudo"]}}}', [{ path: 'a', capabilities: ['sudo'] }]],
    [
      '{"name":"x","path":[{"a":{"policy":"deny"}},{"b":{"capabilities":["read"]}}]}',
      [
        { path: 'a', capabilities: ['deny'] },
        { path: 'b', capabilities: ['read'] },
      ],
    ],
    ['name = "x"\npath "a" { policy = "write" }', [{ path: 'a', capabilities: OLD_WRITE }]],
    ['path "a" { comment = "why" capabilities = ["scan"] }', [{ path: 'a', capabilities: ['scan'] }]],
    ['path "a" { policy = "sudo" }', [{ path: 'a', capabilities: [...OLD_WRITE, 'sudo'] }]],
    [
      'path "a" { allowed_parameters = { "TTL" = ["1h", 5, true], "*" = [] } denied_parameters { b = [] } required_parameters = ["c"] }',
      [
        {
          path: 'a',
          capabilities: [],
          allowed: { ttl: ['1h', 5, true], '*': [] },
          denied: { b: [] },
          required: ['c'],
        },
      ],
    ],
    [
      '{"path":{"a":{"capabilities":["read"],"allowed_parameters":{"b":["c"]}}}}',
      [{ path: 'a', capabilities: ['read'], allowed: { b: ['c'] } }],
    ],
    ['{}', []],
    ['path "/a" {}', [{ path: 'a', capabilities: [] }]],
    ['', []],
  ])('is read: %j', (text, rules) => {
    expect(parsePolicy(text)).toEqual({ ok: true, value: rules });
  });

  it.each([
    'path a { }',
    'path "a" { capabilities = "read }',
    'path "a" { capabilities = [1] }',
    'path "a" { allowed_parameters = [] }',
    'path "a" { allowed_parameters = { b = "c" } }',
    'path "a" { required_parameters = [1] }',
    'path "a" { comment = 1 }',
    'name = 1',
    'name { }',
    'path "a" { min_wrapping_ttl = "1s" }',
    'role "a" { }',
    '{"path":',
    '{"paths":{"a":{"policy":"deny"}}}',
    '{"path":{"a":null}}',
    '{"path":{"a":["deny"]}}',
    '{"path":[["a"]]}',
    '{"path":"a"}',
    '{"path":{"a":{"policy":"deny"},"a":{"policy":"read"}}}',
    '{"path":{"a":{"policy":"deny"}},"path":{}}',
    '{"path":{"a":{"__proto__":["deny"]}}}',
    'path "a" { policy = "deny" policy = "read" }',
    'path "a" { capabilities = ["deny"] capabilities = ["read"] }',
    'path "a" { __proto__ = ["deny"] }',
    'path "a" { policy = "constructor" }',
    'path "a/+*" { policy = "read" }',
    'path "a" { policy = "deny" } /* open',
  ])('%j is refused, not read as a weaker rule', (text) => {
    expect(parsePolicy(text).ok).toBe(false);
  });
});

it.each([
  ['path', `path "${'a'.repeat(2_000_000)}" {}`],
  ['comment that is not terminated', '/*'.repeat(500_000)],
  ['text that is not terminated', `"${'\\"'.repeat(500_000)}`],
])('a policy with a long %s is refused immediately', (_what, text) => {
  expect(parsePolicy(text).ok).toBe(false);
});

it('answers a token with its capabilities', async () => {
  const logins = await serveLogins();
  await write(
    logins,
    'look',
    'path "auth/*" { capabilities = ["update", "create"] } path "auth/x" { policy = "deny" }',
  );
  await logins.role({ token_policies: ['look'] });
  const token = await logins.token();
  const ask = (paths: unknown, by: string | undefined = token) =>
    logins.send('POST', 'sys/capabilities-self', { paths }, by);
  expect((await ask(['auth/y', 'auth/x', 'sys/auth', 'auth/token/lookup-self'])).data).toEqual({
    'auth/y': ['create', 'update'],
    'auth/x': ['deny'],
    'sys/auth': ['deny'],
    'auth/token/lookup-self': ['read'],
  });
  expect((await ask('auth/y')).body).toMatchObject({ capabilities: ['create', 'update'] });
  expect((await ask([])).errors).toEqual(['paths must be supplied']);
  expect((await ask('x,'.repeat(10_000))).errors).toEqual(['at most 10000 paths can be asked for at once']);
  const { data } = await logins.send('POST', 'sys/capabilities', { token, paths: ['auth/y'] });
  expect(data['auth/y']).toEqual(['create', 'update']);
  expect((await logins.send('POST', 'sys/capabilities-self', { paths: ['x'] })).data['x']).toEqual(['root']);
});

it('answers the capabilities of a token, by token or accessor, from any address', async () => {
  const logins = await serveLogins();
  await logins.role({ token_bound_cidrs: ['10.0.0.0/8', '127.0.0.1'] });
  const { auth } = await logins.login(await logins.cluster.issue());
  await logins.role({ token_bound_cidrs: [] });
  const paths = ['auth/token/lookup-self'];
  for (const [path, body] of [
    ['', { token: auth.client_token }],
    ['-accessor', { accessor: auth.accessor }],
  ] as const)
    expect((await logins.send('POST', `sys/capabilities${path}`, { ...body, paths })).data).toEqual({
      'auth/token/lookup-self': ['read'],
      capabilities: ['read'],
    });
  for (const [path, unknown] of [
    ['', 'token'],
    ['-accessor', 'accessor'],
  ] as const)
    expect(await logins.send('POST', `sys/capabilities${path}`, { [unknown]: 'x', paths })).toMatchObject({
      status: 400,
      errors: [`1 error occurred:\n\t* invalid ${unknown}\n\n`],
    });
  expect((await logins.send('POST', 'sys/capabilities-accessor', { paths })).errors).toEqual([
    'missing accessor',
  ]);
});

it('shows a token the rules of all of its policies by their paths', async () => {
  const logins = await serveLogins();
  await write(logins, 'one', 'path "a/*" { capabilities = ["read"] } path "c" { policy = "deny" }');
  await write(
    logins,
    'two',
    `path "a/*" { capabilities = ["list"] } path "a/+/b" { capabilities = ["read"] }
     path "b" { capabilities = ["update"] denied_parameters = { "x" = [] } }`,
  );
  await logins.role({ token_policies: ['one', 'two'] });
  const token = await logins.token();
  const { data } = await logins.send('GET', 'sys/internal/ui/resultant-acl', undefined, token);
  expect(data).toMatchObject({
    root: false,
    exact_paths: {
      b: { capabilities: ['update'], denied_parameters: { x: [] } },
      c: { capabilities: ['deny'] },
      'auth/token/lookup-self': { capabilities: ['read'] },
    },
    glob_paths: { 'a/': { capabilities: ['list', 'read'] } },
  });
  expect(JSON.stringify(data)).not.toContain('+');
  expect((await logins.send('GET', 'sys/internal/ui/resultant-acl')).data).toEqual({ root: true });
});

it('does not extend a specific rule with a more general one', async () => {
  const logins = await serveLogins();
  const role = `auth/${logins.mount}/role/app`;
  await write(
    logins,
    'most',
    'path "auth/*" { capabilities = ["create", "update", "delete", "read"] } path "auth/+/role/app" { capabilities = ["read"] }',
  );
  await logins.role({ token_policies: ['most'] });
  const token = await logins.token();
  const statuses = ['GET', 'POST', 'DELETE'].map(
    async (method) => (await logins.send(method, role, undefined, token)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 403, 403]);
});

it.each([
  ['auth/+/role/', 'auth/+/role', 403, ['deny']],
  ['auth/+/role/x', 'auth/+/role', 200, ['list']],
])(
  'answers the capabilities of a list that it applies, with %s denied and %s allowed',
  async (denied, allowed, status, capabilitiesOfList) => {
    const logins = await serveLogins();
    const here = (path: string) => path.replace('+', logins.mount);
    await write(
      logins,
      'lister',
      `path "${here(denied)}" { policy = "deny" } path "${here(allowed)}" { capabilities = ["list"] }`,
    );
    await logins.role({ token_policies: ['lister'] });
    const token = await logins.token();
    const path = `auth/${logins.mount}/role/`;
    expect((await logins.send('LIST', path, undefined, token)).status).toBe(status);
    const asked = await logins.send('POST', 'sys/capabilities-self', { paths: [path] }, token);
    expect(asked.data[path]).toEqual(capabilitiesOfList);
  },
);

it('denies what one block of a policy denies, even if another block of the path allows it', async () => {
  const logins = await serveLogins();
  await write(logins, 'twice', 'path "x" { policy = "deny" } path "x" { policy = "read" }');
  await logins.role({ token_policies: ['twice'] });
  const token = await logins.token();
  const { data } = await logins.send('POST', 'sys/capabilities-self', { paths: ['x'] }, token);
  expect(data['x']).toEqual(['deny']);
});

it('a policy is found by its name in any case, also if it is from a seed', async () => {
  const rules = [{ path: 'x', capabilities: ['read' as const] }];
  const logins = await serveLogins({
    seed: {
      policies: [{ name: 'Look', rules }],
      'service-tokens': [{ token: 'looker', policies: ['LOOK'] }],
    },
  });
  expect((await logins.send('GET', 'sys/policies/acl/look')).data['name']).toBe('look');
  const { data } = await logins.send('POST', 'sys/capabilities', { token: 'looker', paths: ['x'] });
  expect(data['x']).toEqual(['read']);
});

describe('a rule with + as the last segment', () => {
  const asked = async (policy: string) => {
    const logins = await serveLogins({ dialect: 'openbao' });
    await write(logins, 'any', policy.replaceAll('MOUNT', logins.mount));
    await logins.role({ token_policies: ['any'] });
    const token = await logins.token();
    return {
      list: (await logins.send('LIST', `auth/${logins.mount}/role`, undefined, token)).status,
      query: (await logins.send('GET', `auth/${logins.mount}/role?list=true`, undefined, token)).status,
    };
  };

  it('that denies also denies the list, even if a more general rule allows it', async () => {
    const answers = await asked(
      'path "auth/*" { capabilities = ["read", "list"] } path "auth/MOUNT/role/+" { policy = "deny" }',
    );
    expect(answers).toEqual({ list: 403, query: 403 });
  });

  it('that permits reading also permits the list, even if a more general rule does not', async () => {
    const answers = await asked(
      'path "auth/*" { capabilities = ["update"] } path "auth/MOUNT/role/+" { policy = "read" }',
    );
    expect(answers).toEqual({ list: 200, query: 200 });
  });
});

it('permits a write depending on its parameters', async () => {
  const logins = await serveLogins();
  const role = `auth/${logins.mount}/role/app`;
  await write(
    logins,
    'some',
    `path "${role}" { capabilities = ["update"] allowed_parameters = { "audience" = ["a*"], "token_ttl" = [] } }`,
  );
  await logins.role({ token_policies: ['some'] });
  const token = await logins.token();
  const send = async (body: object) => (await logins.send('POST', role, body, token)).status;
  expect(await send({ audience: 'apps', token_ttl: 60 })).toBe(204);
  expect(await send({ audience: 'others' })).toBe(403);
  expect(await send({ audience: 'apps', token_policies: ['root'] })).toBe(403);
  expect(await send({})).toBe(204);
  const limits = 'denied_parameters = { "audience" = [] } required_parameters = ["token_ttl"]';
  await write(logins, 'some', `path "${role}" { capabilities = ["update"] ${limits} }`);
  expect(await send({ token_ttl: 60 })).toBe(204);
  expect(await send({ token_ttl: 60, audience: 'apps' })).toBe(403);
  expect(await send({})).toBe(403);
});

it('accepts the capability scan only in the dialect openbao', async () => {
  const policy = 'path "auth/*" { capabilities = ["scan"] }';
  const openbao = await serveLogins({ dialect: 'openbao' });
  expect((await write(openbao, 'scanner', policy)).status).toBe(204);
  await openbao.role({ token_policies: ['scanner'] });
  const token = await openbao.token();
  const ask = (method: string) => openbao.send(method, `auth/${openbao.mount}/role`, undefined, token);
  expect((await ask('SCAN')).errors).toEqual(['1 error occurred:\n\t* unsupported operation\n\n']);
  expect((await ask('LIST')).errors).toEqual(['1 error occurred:\n\t* permission denied\n\n']);
  const vault = await serveLogins({ dialect: 'vault' });
  expect((await write(vault, 'scanner', policy)).errors).toEqual([
    'failed to parse policy: path "auth/*": invalid capability "scan"',
  ]);
});

it('answers the capabilities of the older keyword write, which exclude patch', async () => {
  const logins = await serveLogins();
  await write(logins, 'old', 'name = "old"\npath "x" { policy = "write" }');
  await logins.role({ token_policies: ['old'] });
  const { data } = await logins.send('POST', 'sys/capabilities-self', { paths: ['x'] }, await logins.token());
  expect(data['x']).toEqual(['create', 'delete', 'list', 'read', 'update']);
});
