/** `trueup move`: the resulting manifests of two stacks, and moves that are refused before a file is written. */
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { moveSchema } from '../../src/report/json/result-schemas.ts';
import { trueup } from '../support/captured-host.ts';
import { temporaryFolder, writeFiles } from '../support/rig/temporary-folder.ts';

const app = `# Workspaces of billing.

# The ledger of invoices.
apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: app # the app
  adopt: true
  protect: true
spec:
  autoApply: true # on purpose
  # keep in sync
  tags: { env: prod }
`;

const other = `---
# Another one.
apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: other }
spec: {}
`;

const consumers = `---
apiVersion: trueup.dev/v1
kind: RemoteStateConsumers
metadata: { name: app }
spec: { consumers: [other] }
`;

const target = (name: string, organization = 'acme') =>
  `{ name: ${name}, service: workspaces, url: 'https://service.internal', organization: ${organization}, token: { env: TOKEN }, dialect: neutral }`;

const stackText = (name: string, { targets = [target('acme')], spec = '' } = {}) => `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: ${name} }
spec:
  manifests: [{ pattern: 'manifests/*.yaml', optional: true }]
  targets: [${targets.join(', ')}]
${spec}`;

/** Two stacks in one folder. @param files more files, or others */
async function folder(files: Readonly<Record<string, string>> = {}) {
  const root = temporaryFolder();
  await mkdir(join(root, '.git'));
  writeFiles(root, {
    'billing/trueup.yaml': stackText('billing'),
    'billing/manifests/apps.yaml': app + other + consumers,
    'payments/trueup.yaml': stackText('payments'),
    ...files,
  });
  return {
    root,
    run: (...args: string[]) => trueup(['move', ...args], { cwd: root, env: {} }),
    read: (file: string) => readFile(join(root, file), 'utf8').catch(() => undefined),
  };
}

const moving = ['Workspace/acme/app', 'billing', '--to', 'payments'];

describe('trueup move', () => {
  it('moves the document with its comments into the other stack, and leaves "movedTo" behind', async () => {
    const { run, read } = await folder();
    const { code, out } = await run(...moving, '--yes');
    expect([code, out.split('\n').at(-2)]).toEqual([
      0,
      expect.stringContaining('Next: plan and apply stack "payments"'),
    ]);
    expect(await read('payments/manifests/apps.yaml')).toBe(`# The ledger of invoices.
apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: app # the app
  protect: true
  movedFrom:
    stack: billing
    folder: ../billing/.trueup
spec:
  autoApply: true # on purpose
  # keep in sync
  tags: { env: prod }
---
apiVersion: trueup.dev/v1
kind: RemoteStateConsumers
metadata: { name: app }
spec: { consumers: [other] }
`);
    expect(await read('billing/manifests/apps.yaml')).toBe(`# Workspaces of billing.

# The ledger of invoices.
apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: app # the app
  movedTo:
    stack: payments
${other}`);
  });

  it('keeps the blank lines that belong to a value, in both documents of the receiving file', async () => {
    const kept = (name: string) =>
      `apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: ${name} }\nspec:\n  description: |+\n    text\n\n\n`;
    const { run, read } = await folder({
      'billing/manifests/apps.yaml': kept('app'),
      'payments/manifests/apps.yaml': kept('there'),
    });
    const { code, err } = await run(...moving, '--yes');
    expect([code, err]).toEqual([0, 'wrote 2 files\n']);
    const moved = kept('app').replace(
      'app }',
      'app, movedFrom: { stack: billing, folder: ../billing/.trueup } }',
    );
    expect(await read('payments/manifests/apps.yaml')).toBe(`${kept('there')}---\n${moved}`);
  });

  it('prints JSON in the form of its schema, with the patch of each file', async () => {
    const { run, read } = await folder();
    const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(moveSchema);
    const json = async (code: number, ...args: string[]) => {
      const ran = await run(...moving, '--format', 'json', ...args);
      expect(ran.code, ran.out + ran.err).toBe(code);
      return JSON.parse(ran.out);
    };
    const shown = await json(0, '--dry-run');
    expect(isValid(shown), JSON.stringify(isValid.errors)).toBe(true);
    const [address, from, to] = ['Workspace/acme/app', 'billing', 'payments'];
    expect(shown).toMatchObject({ address, from, to, written: false });
    expect(shown.files.map(({ file }: { file: string }) => file)).toEqual([
      'payments/manifests/apps.yaml',
      'billing/manifests/apps.yaml',
    ]);
    // Nothing is asked while JSON is printed.
    expect((await json(1)).diagnostics).toMatchObject([{ code: 'nobody-to-ask' }]);
    expect(await read('payments/manifests/apps.yaml')).toBeUndefined();
    expect(await json(0, '--yes')).toEqual({ ...shown, written: true });
    expect(await read('payments/manifests/apps.yaml')).toContain('movedFrom');
  });

  it("adds the document to an existing file, with the other stack's name of the target", async () => {
    const existing =
      'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: pay, target: main }\nspec: {}\n';
    const { run, read } = await folder({
      'payments/trueup.yaml': stackText('payments', {
        targets: [target('main'), target('eu', 'acme-eu')],
        spec: '  ledger: git\n',
      }),
      'billing/trueup.yaml': stackText('billing', { spec: '  ledger: git\n' }),
      'payments/manifests/all.yaml': existing,
    });
    expect(await run(...moving, '--file', 'manifests/all.yaml', '--yes')).toMatchObject({ code: 0 });
    const text = (await read('payments/manifests/all.yaml')) ?? '';
    expect(text.startsWith(`${existing}---\n# The ledger of invoices.\n`)).toBe(true);
    expect(text).toContain('  target: main\n  movedFrom:\n    stack: billing\nspec:\n');
    expect(text).toContain('metadata: { name: app, target: main }');
  });

  it('shows the patches with --dry-run, and asks before it writes', async () => {
    const { run, read } = await folder();
    const { code, out } = await run(...moving, '--dry-run');
    expect([code, out]).toEqual([0, expect.stringContaining('+++ b/payments/manifests/apps.yaml')]);
    expect(await run(...moving)).toMatchObject({ code: 1, err: expect.stringContaining('pass --yes') });
    expect(await read('payments/manifests/apps.yaml')).toBeUndefined();
    expect(await read('billing/manifests/apps.yaml')).toBe(app + other + consumers);
  });

  it('warns about values that change because the defaults do not move', async () => {
    const { run } = await folder({
      'billing/trueup.yaml': stackText('billing', {
        spec: '  defaults: { Workspace: { description: ours } }\n',
      }),
    });
    const { err } = await run(...moving, '--dry-run');
    expect(err).toContain('the defaults of stack "billing" do not come along: "description"');
  });

  it.each([
    ['a child', ['TagBindings/acme/app', 'billing', '--to', 'payments'], 'moves with "Workspace/acme/app"'],
    [
      'an unknown address',
      ['Workspace/acme/nope', 'billing', '--to', 'payments'],
      'declares "Workspace/acme/nope"',
    ],
    [
      'the stack itself',
      ['Workspace/acme/app', 'billing', '--to', 'billing'],
      'both stacks are called "billing"',
    ],
    [
      'a file that the stack does not read',
      [...moving, '--file', 'else/x.yaml'],
      'does not match "else/x.yaml"',
    ],
  ])('refuses %s, and writes nothing', async (_, args, message) => {
    const { run, read } = await folder();
    expect(await run(...args, '--yes')).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    expect(await read('billing/manifests/apps.yaml')).toBe(app + other + consumers);
  });

  it('refuses stacks with different ledgers or targets, and documents that the other stack has', async () => {
    const elsewhere = await folder({
      'payments/trueup.yaml': stackText('payments', { spec: '  ledger: git\n' }),
    });
    expect((await elsewhere.run(...moving, '--yes')).err).toContain('the same place first');
    const lacking = await folder({
      'payments/trueup.yaml': stackText('payments', { targets: [target('acme', 'other')] }),
    });
    expect((await lacking.run(...moving, '--yes')).err).toContain(
      'has no target that is the same place as "acme"',
    );
    const twice = await folder({ 'payments/manifests/apps.yaml': other.replace('name: other', 'name: app') });
    expect(await twice.run(...moving, '--yes')).toMatchObject({
      code: 7,
      err: expect.stringContaining('is declared twice'),
    });
    expect(await twice.read('billing/manifests/apps.yaml')).toBe(app + other + consumers);
  });

  it('refuses stacks in two repositories with local ledgers, which cannot read each other', async () => {
    const { root, run, read } = await folder();
    await mkdir(join(root, 'billing/.git'));
    await mkdir(join(root, 'payments/.git'));
    expect(await run(...moving, '--yes')).toMatchObject({
      code: 7,
      err: expect.stringContaining('put both stacks into one repository'),
    });
    expect(await read('billing/manifests/apps.yaml')).toBe(app + other + consumers);
  });

  it.skipIf(process.getuid?.() === 0)('writes neither file if one of them cannot be written', async () => {
    const { root, run, read } = await folder();
    await chmod(join(root, 'billing/manifests'), 0o500);
    expect(await run(...moving, '--yes')).toMatchObject({ code: 1 });
    await chmod(join(root, 'billing/manifests'), 0o700);
    expect(await read('payments/manifests/apps.yaml')).toBeUndefined();
  });
});
