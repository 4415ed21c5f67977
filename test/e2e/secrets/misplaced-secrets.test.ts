// A secret that somebody wrote in place of the name of its source, or in a manifest that is not valid.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const asVariable = ['HunterTwoPass77', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'AKIAIOSFODNN7EXAMPLE'];
const asFile = [
  'HunterTwoPass77',
  'correct-horse-battery',
  'hvs.CAESIJlWh3vGb1Qm8Zk2Xx0aYt7Lr5Np',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  'wJalrXUtnFEMI/K7MDENGbPxRfiCYEXAMPLEKEY',
];
const wrong = [...asVariable.map((env) => ({ env })), ...asFile.map((file) => ({ file }))];

async function outputFor(options: Parameters<Awaited<ReturnType<typeof openBench>>['checkout']>[0]) {
  const stack = await (await openBench()).checkout(options);
  await stack.declare(workspace('app', {}));
  const outputs: string[] = [];
  for (const args of [['plan'], ['plan', '--format', 'json'], ['apply', '--yes']]) {
    const { out, err } = await stack.run(args, 1);
    outputs.push(out + err);
  }
  return outputs.join('\n');
}

describe('A secret in place of the name of its source is not printed', () => {
  it.each(wrong)('as the token of a target: %o', async (token) => {
    const output = await outputFor({ workspaces: { token } });
    expect(output).not.toContain(Object.values(token)[0]);
    expect(output).toContain('it has to hold the token of target');
    expect(output).toContain('not shown here: it may be the secret itself');
  });

  it.each(wrong)('as the address of the ledger: %o', async (url) => {
    const output = await outputFor({ spec: { ledger: { postgres: { url } } } });
    expect(output).not.toContain(Object.values(url)[0]);
    expect(output).toContain("it has to hold the address of the ledger's database");
  });
});

describe('The name of a missing source is printed', () => {
  it.each([
    { env: 'ACME_TOKEN' },
    { env: 'TOKEN2' },
    { env: 'PRODUCTION_CLUSTER_SERVICE_TOKEN' },
    { file: 'token' },
    { file: '.secrets/acme-token' },
    { file: '/run/secrets/production/api-token.txt' },
  ])('%o', async (token) => {
    expect(await outputFor({ workspaces: { token } })).toContain(`${Object.values(token)[0]}`);
  });
});

describe('A secret in an environment variable is not printed with problems in', () => {
  const env = {
    API_TOKEN: 'planted-token-of-a-target',
    AUDIT_TOKEN: 'planted-token-of-a-trail',
    LOGIN_JWT: 'planted-jwt-of-a-login',
    LEDGER_URL: 'postgres://ci:planted-password@127.0.0.1:9/ledger',
    REVIEWER_JWT: 'planted-jwt-of-a-reviewer',
    DEFAULT_JWT: 'planted-jwt-of-the-defaults',
  };
  const planted = [...Object.values(env), 'planted-password'];
  const url = 'http://127.0.0.1:9';

  const each = (formats: readonly string[], ...args: string[]) =>
    formats.map((format) => [...args, '--format', format]);
  const [plain, page] = [
    ['text', 'json'],
    ['text', 'json', 'markdown', 'github'],
  ];
  const planning = [...each([...page, 'sarif'], 'validate'), ...each([...page, 'html'], 'plan')];
  const reading = [
    ...planning,
    ...each([...plain, 'jsonl'], 'apply', '--yes'),
    ...each([...plain, 'markdown'], 'drift'),
    ...each(plain, 'accept', 'Workspace/a/w0', '--yes'),
    ...each(plain, 'role', 'check', 'r', '--jwt', '-', '--against', 'declared'),
    ['graph'],
    ['export'],
    ['recover', '--yes'],
    ['recover', '--adopt-repository', '--yes'],
    ['recover', '--moved', 'a', '--yes'],
  ];
  const ofStack = [
    ...each(plain, 'history'),
    ...each(plain, 'history', 'show', 'x'),
    ...each(plain, 'audit', 'list'),
    ['history', 'show', 'x', '--revert', '--write', '--yes'],
    ['audit', 'archive'],
    ['unlock', '--id', 'x'],
  ];

  /** Documents with each secret as a wrong value. */
  const wrongValues = planted.map(
    (secret, at) => `apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: w${at}, target: a }
spec: { executionMode: "${secret}" }
`,
  );
  const config = (more: string) => `apiVersion: trueup.dev/v1
kind: ClusterAuthConfig
metadata: { name: config, target: c }
spec: { clusterHost: 5, tokenReviewerJwt: { env: REVIEWER_JWT, version: 1 }${more} }
`;
  const stack = (more: string) => `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: s }
spec:
  manifests: ["m.yaml"]
  ledger: { postgres: { url: { env: LEDGER_URL } } }
  defaults: { ClusterAuthConfig: { tokenReviewerJwt: { env: DEFAULT_JWT } } }
  targets:
    - { name: a, service: workspaces, url: "${url}", dialect: neutral, organization: o, token: { env: API_TOKEN }, auditToken: { env: AUDIT_TOKEN } }
    - { name: c, service: cluster-auth, url: "${url}", dialect: neutral, mount: m, token: { login: { mount: k, role: ci, jwt: { env: LOGIN_JWT } } } }
${more}`;
  const wrongGuards = `  guards: { ${planted.map((secret, at) => `g${at}: "${secret}"`).join(', ')} }\n`;

  async function expectRedacted(
    commands: readonly (readonly string[])[],
    { stackFile, manifests }: { readonly stackFile: string; readonly manifests: readonly string[] },
  ): Promise<void> {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'trueup.yaml'), stackFile);
    await writeFile(join(folder, 'm.yaml'), manifests.join('---\n'));
    for (const args of commands) {
      const { code, out, err } = await trueup(args, { cwd: folder, env });
      const printed = out + err;
      const shown = planted.filter((secret) => printed.includes(secret));
      expect({ args, code, shown }).toEqual({ args, code: 7, shown: [] });
    }
  }

  it('a manifest, by any command in any format', async () => {
    await expectRedacted(reading, { stackFile: stack(''), manifests: [config(''), ...wrongValues] });
  });

  it('the stack, by any command in any format', async () => {
    const manifests = [config(''), ...wrongValues];
    await expectRedacted([...reading, ...ofStack], { stackFile: stack(wrongGuards), manifests });
  });

  it('a manifest beside one that names the source and is not valid YAML', async () => {
    const manifests = [config(', clusterCaCert: "never closed'), ...wrongValues];
    await expectRedacted(planning, { stackFile: stack(''), manifests: manifests.toReversed() });
  });

  it('a manifest that is named in place of the stack file', async () => {
    const folder = temporaryFolder();
    await mkdir(join(folder, 'manifests'));
    await writeFile(join(folder, 'trueup.yaml'), stack(''));
    await writeFile(join(folder, 'm.yaml'), config(''));
    const named = { 'no-kind.yaml': `a: ${env.API_TOKEN}\n`, 'workspaces.yaml': wrongValues.join('---\n') };
    for (const [name, text] of Object.entries(named)) {
      await writeFile(join(folder, 'manifests', name), text);
      const { code, out, err } = await trueup(['plan', `manifests/${name}`], { cwd: folder, env });
      const shown = planted.filter((secret) => (out + err).includes(secret));
      expect({ name, code, shown }).toEqual({ name, code: 7, shown: [] });
    }
  });
});
