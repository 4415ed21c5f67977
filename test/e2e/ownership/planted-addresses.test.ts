// Addresses with passwords in places where something else is expected: refused, and never repeated.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const password = 'Pl4nted';
const address = `postgres://u:${password}@db.invalid/ledger`;

async function stackWith({ ledger = 'local', url = 'embedded', more = '' }): Promise<string> {
  const folder = temporaryFolder();
  await writeFile(
    join(folder, 'trueup.yaml'),
    `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [all.yaml]
  ledger: ${ledger}
  targets:
    - name: acme
      service: workspaces
      url: ${url}
      organization: acme
      dialect: neutral
      token: { env: TOKEN }
      ${more}
`,
  );
  await writeFile(
    join(folder, 'all.yaml'),
    'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: one }\nspec: {}\n',
  );
  return folder;
}

describe('an address that is in the wrong place is refused, and its password never repeated', () => {
  it.each([
    ['as the ledger', { ledger: address }],
    [
      'as the ledger, with a password cut off by what is shown',
      { ledger: `postgres://${'u'.repeat(70)}:${password}-${'x'.repeat(40)}@db/l` },
    ],
    ['as the ledger, with a slash in the password', { ledger: `postgres://u:/${password}@db/l` }],
    [
      'as the ledger, with the password as a parameter',
      { ledger: `postgres://db/l?user=u&password=${password}` },
    ],
    ['as the ledger, with words', { ledger: `"host=db password=${password}"` }],
    ['in a list', { ledger: `[${address}]` }],
    ['as the one member of the ledger', { ledger: `{ "${address}" }` }],
    ['as a field of the ledger', { ledger: `{ ${password}: }` }],
    ['as git', { ledger: `{ git: https://u:${password}@host/x.git }` }],
    ['as the remote of git', { ledger: `{ git: { remote: https://u:${password}@host/x.git } }` }],
    ['as the remote of git, with spaces', { ledger: `{ git: { remote: " u ${password}" } }` }],
    ['as postgres', { ledger: `{ postgres: ${address} }` }],
    ['as the source of its address', { ledger: `{ postgres: { url: ${address} } }` }],
    ['as a field of the source', { ledger: `{ postgres: { url: { "${address}": x } } }` }],
    ['as the url of a target', { url: `ftp://u:${password}@host` }],
    ['as the url of a target, without a scheme', { url: `u:${password}@host` }],
    ['as the url of a target, in a list', { url: `[https://u:${password}@host]` }],
    ['as the url of a target that is valid except for the login', { url: `https://u:${password}@host` }],
    ['in a field that wants something else', { more: `exclusive: https://u:${password}@host` }],
    ['as a tag in the place of a secret', { more: `auditToken: !${password}` }],
    ['as an alias in the place of a secret', { more: `auditToken: *${password}` }],
    ['as the folder of the ledger', { ledger: `{ local: { folder: "https://u:${password}@h/r" } }` }],
    [
      'as the url of a target, behind its name',
      { url: `"https://h?token=${password}"`, more: 'colour: red' },
    ],
    ['as an unknown field', { more: `"https://u:${password}@host": x` }],
  ])('%s', async (_, stack) => {
    const cwd = await stackWith(stack);
    const text = await trueup(['validate'], { cwd });
    const json = await trueup(['validate', '--format', 'json'], { cwd });
    expect([text.code, json.code]).toEqual([7, 7]);
    expect(text.err).toMatch(/trueup\.yaml:\d+:\d+/);
    expect(text.err + json.out).not.toContain(password);
    expect(text.err).not.toContain('Pl4');
  });
});

describe('a problem elsewhere on the same line shows nothing of an address or a secret', () => {
  const target = (members: string) => `\n    - { name: two, colour: red, service: workspaces, ${members} }`;
  it.each([
    ['in the parameters of a url', `url: "https://h?token=${password}"`],
    ['in a url that is a list', `url: [${password}]`],
    ['in a url that is a map', `url: { ${password}: x }`],
    ['in a url whose name is misspelt', `ulr: "${password}"`],
    ['as a token', `token: ${password}`],
    ['as a token whose name is misspelt', `toekn: ${password}`],
    ['in the file of a token', `token: { file: "${password}" }`],
    ['over several lines', `token: "a\n        ${password}"`],
    ['by an alias', `organization: &o ${password}, token: *o`],
    ['in a bracket that is not closed', `token: [${password}`],
    ['in a quote that is not closed', `token: "${password}`],
    ['behind a colon without its space', `token:${password}`],
  ])('%s', async (_, members) => {
    const cwd = await stackWith({ more: target(members) });
    const text = await trueup(['validate'], { cwd });
    const json = await trueup(['validate', '--format', 'json'], { cwd });
    expect([text.code, json.code]).toEqual([7, 7]);
    expect(text.err).toMatch(/trueup\.yaml:\d+:\d+/);
    expect(text.err + json.out + json.err).not.toContain(password);
  });

  it('in a manifest, for an alias of a secret', async () => {
    const cwd = await stackWith({});
    await writeFile(
      join(cwd, 'all.yaml'),
      `apiVersion: trueup.dev/v1
kind: ClusterAuthConfig
metadata: { name: config }
spec: { tokenReviewerJwt: &jwt ${password}, clusterHost: x, disableLocalCaJwt: *jwt }
`,
    );
    const { code, err } = await trueup(['validate'], { cwd });
    expect(code).toBe(7);
    expect(err).toContain('"spec.disableLocalCaJwt" has the wrong type');
    expect(err).toContain('found: the text "***"');
    expect(err).not.toContain(password);
  });
});

describe('a value in a wrong place is not shown if its key is a name for secrets', () => {
  const specs = [
    `\n  password: ${password}`,
    `\n  apiKey: ${password}`,
    `\n  client_secret: ${password}`,
    `\n  token= ${password}`,
    `\n  token: {{ ${password} }}`,
    `\n  tokenReviewerJwt = ${password}`,
    `\n  description\n  token= ${password}`,
    ` "token: ${password}"`,
    ` |\n  a\n  password = ${password}`,
    `\n  token= ${password}${'x'.repeat(200)}`,
  ];
  // One text that is YAML, and one that is not.
  it.each(specs.flatMap((spec) => [spec, `${spec}\n  description: "open`]))('spec:%s', async (spec) => {
    const cwd = await stackWith({});
    await writeFile(
      join(cwd, 'all.yaml'),
      `apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: one }\nspec:${spec}\n`,
    );
    const text = await trueup(['validate'], { cwd });
    const json = await trueup(['validate', '--format', 'json'], { cwd });
    expect([text.code, json.code]).toEqual([7, 7]);
    expect(text.err).toMatch(/all\.yaml:\d+:\d+/);
    expect(text.err + json.out + json.err).not.toContain(password);
  });
});

describe('a ledger address that is not one of PostgreSQL is reported before any request', () => {
  it.each([
    ['a word', password],
    ['a path', `/run/secrets/${password}`],
    ['words', `host=db password=${password}`],
    ['another database', `mysql://u:${password}@db/ledger`],
    ['a scheme alone', `postgres:u:${password}@db`],
  ])('%s', async (_, value) => {
    const cwd = await stackWith({ ledger: 'postgres' });
    for (const command of ['plan', 'apply', 'history', 'recover']) {
      const { code, out, err } = await trueup([command], { cwd, env: { TRUEUP_LEDGER_URL: value } });
      expect({ command, code, out }).toEqual({ command, code: 7, out: '' });
      expect(err).toBe(
        'error: the environment variable "TRUEUP_LEDGER_URL" holds no address of a PostgreSQL database: it does not begin with "postgres://"; write postgres://USER:PASSWORD@HOST:PORT/DATABASE\n',
      );
    }
  });

  it('in a file, by the real program', async () => {
    const cwd = await stackWith({ ledger: '{ postgres: { url: { file: address } } }' });
    await writeFile(join(cwd, 'address'), `postgres://u:${password}/${password}@[db/ledger\n`);
    const { code, err } = await trueupProcess(['plan'], { cwd });
    expect(code).toBe(7);
    expect(err).toContain(
      'error: the file "address" holds no address of a PostgreSQL database: it is not a valid URL',
    );
    expect(err).not.toContain(password);
  });
});

it('an address in the place of a file is named without its password', async () => {
  const cwd = await stackWith({ ledger: `{ postgres: { url: { file: "${address}" } } }` });
  const { code, out, err } = await trueup(['plan'], { cwd, env: { TOKEN: 'token-of-acme' } });
  expect(code).toBe(1);
  expect(err).toContain(
    'the secret file "postgres://***@db.invalid/ledger" cannot be read: there is no such file or folder',
  );
  expect(out + err).not.toContain(password);
});
