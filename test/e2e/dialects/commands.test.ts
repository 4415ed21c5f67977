/**
 * Each command of trueup once in each dialect of the workspaces API. `npm run test:dialect` runs the other tests of the command line
 * in another dialect, if they send other requests there than in the neutral one.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openIssuer } from '../../support/cli/account-jwt.ts';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { holdLock } from '../../support/cli/locked-stack.ts';
import { serveProcess } from '../../support/cli/process.ts';
import { type WorkspacesDialect, workspacesDialects } from '../../support/rig/dialect-under-test.ts';

/** What the service calls the version of the engine. */
const engineNames = { neutral: 'engine-version', 'hcp-terraform': 'terraform-version' } as const;

const reader = workspace('reader');
const app = (spec: object = {}) =>
  workspace('app', {
    ...{ engineVersion: '~> 1.9.0', tags: { env: 'prod' }, remoteStateConsumers: ['reader'] },
    ...spec,
  });

async function openIn(dialect: WorkspacesDialect): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench({ dialects: [dialect] });
  return { bench, stack: await bench.checkout({ workspaces: { dialect } }) };
}

/** The same, with two workspaces of the stack applied. */
async function openApplied(dialect: WorkspacesDialect): Promise<{ bench: Bench; stack: Checkout }> {
  const opened = await openIn(dialect);
  await opened.stack.setUp(app(), reader);
  return opened;
}

describe.each(workspacesDialects)('With workspaces in the dialect %s,', (dialect) => {
  const engine = engineNames[dialect];

  it('validate accepts only the manifest’s name for a field, and not the service’s', async () => {
    const { bench, stack } = await openIn(dialect);
    await stack.declare(app(), reader);
    expect((await stack.run(['validate'], 0)).out).toContain('valid: stack payments');
    await stack.declare(workspace('app', { terraformVersion: '1.9.0' }));
    expect((await stack.run(['validate'], 7)).err).toContain('write "engineVersion"');
    expect(bench.wire.seen).toEqual([]);
  });

  it('plan --calls shows the calls with the names of the service, and sends none of them', async () => {
    const { bench, stack } = await openIn(dialect);
    await stack.declare(app(), reader);
    const { out } = await stack.run(['plan', '--calls', '--exit-code'], 2);
    expect(out).toContain('+ create  Workspace/acme/app');
    expect(out).toContain(`"${engine}": "~> 1.9.0"`);
    for (const other of Object.values(engineNames).filter((name) => name !== engine))
      expect(out).not.toContain(other);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('apply creates, updates and deletes resources, and then nothing is left to do', async () => {
    const { bench, stack } = await openApplied(dialect);
    const id = await bench.idOf('app');
    expect(await bench.byHand.attributes(id)).toMatchObject({ [engine]: '~> 1.9.0' });
    expect(await bench.tagsOf('app')).toMatchObject({ env: 'prod' });
    expect((await bench.byHand.get(`/workspaces/${id}/relationships/remote-state-consumers`)).names).toEqual([
      'reader',
    ]);
    await stack.declare(
      app({ engineVersion: '1.9.8', tags: { team: 'net' }, remoteStateConsumers: [] }),
      reader,
    );
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('Planned again: nothing is left to do');
    expect(await bench.byHand.attributes(id)).toMatchObject({ [engine]: '1.9.8' });
    expect(await bench.tagsOf('app')).not.toHaveProperty('env');
    await stack.declare(reader);
    await stack.applyAcknowledged();
    expect(await bench.idsOf('app')).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('a plan file can be shown, applied, and compared with another one', async () => {
    const { bench, stack } = await openIn(dialect);
    await stack.declare(app(), reader);
    await stack.run(['plan', '--out', 'first.json'], 0);
    expect((await stack.run(['show', 'first.json', '--calls'], 0)).out).toContain(`"${engine}": "~> 1.9.0"`);
    await stack.run(['apply', 'first.json'], 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
    await stack.declare(app({ engineVersion: '1.9.8' }), reader);
    await stack.run(['plan', '--out', 'second.json'], 0);
    await stack.run(['diff', 'second.json', 'second.json'], 0);
    expect((await stack.run(['diff', 'first.json', 'second.json'], 2)).out).toContain('engineVersion');
  });

  it('export writes manifests that fit their schema and change nothing', async () => {
    const { bench, stack } = await openIn(dialect);
    const found = { 'auto-apply': true, [engine]: '~> 1.9.0', description: 'made by hand' };
    await bench.byHand.created({ name: 'found', ...found });
    const { out } = await stack.run(['export', '--target', 'acme'], 0);
    const manifests = loadAll(out) as { kind: string; spec: object }[];
    expect(manifests.find(({ kind }) => kind === 'Workspace')?.spec).toMatchObject({
      ...{ autoApply: true, engineVersion: '~> 1.9.0', description: 'made by hand' },
    });
    const schema = JSON.parse((await stack.run(['schema', 'Manifest'], 0)).out) as object;
    const isManifest = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    for (const manifest of manifests) expect([isManifest(manifest), isManifest.errors]).toEqual([true, null]);
    await stack.write('manifests/all.yaml', out);
    const { changes } = await stack.plan();
    expect(changes.map(({ action, fields }) => [action, fields.map(({ path }) => path)])).toEqual([
      ['adopt', ['/claim']],
    ]);
    await stack.applyAcknowledged();
    expect(await bench.byHand.attributes(await bench.idOf('found'))).toMatchObject(found);
  });

  it('history says what was applied, and how to revert it', async () => {
    const { stack } = await openApplied(dialect);
    await stack.declare(app({ engineVersion: '1.9.8' }), reader);
    await stack.run(['apply', '--yes'], 0);
    const listed = JSON.parse((await stack.run(['history', '--format', 'json'], 0)).out) as {
      entries: { id: string }[];
    };
    expect(listed.entries).toHaveLength(2);
    const { out } = await stack.run(['history', 'show', listed.entries[0]?.id ?? '', '--revert'], 0);
    expect(out).toContain('engineVersion: ~> 1.9.0');
  });

  it('recover rebuilds a lost ledger from the service', async () => {
    const { bench, stack } = await openApplied(dialect);
    const before = Object.keys((await stack.ledger()).records);
    await stack.loseLedger();
    await stack.run(['recover', '--yes'], 0);
    expect(Object.keys((await stack.ledger()).records)).toEqual(before);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('unlock removes the lock, and the next apply runs', async () => {
    const { stack } = await openIn(dialect);
    await stack.declare(app(), reader);
    const { id } = await holdLock(stack);
    expect((await stack.run(['apply', '--yes'], 8)).err).toContain(id);
    await stack.run(['unlock', '--id', id], 0);
    await stack.run(['apply', '--yes'], 0);
  });

  it('a stack with the embedded service sends its requests to a running serve', async () => {
    const cwd = embeddedStack({}, dialect);
    const { url } = await serveProcess(['--dialect', dialect], { cwd });
    const applied = await trueup(['apply', '--yes'], { cwd });
    expect(applied).toMatchObject({ code: 0, out: expect.stringContaining('Planned again') });
    expect(await trueup(['plan', '--exit-code'], { cwd })).toMatchObject({ code: 0 });
    const discovery = await fetch(`${url}/.well-known/terraform.json`);
    expect(discovery.status).toBe(dialect === 'neutral' ? 404 : 200);
  });

  it('role check checks a role of the other target', async () => {
    const [{ stack }, issuer] = await Promise.all([openIn(dialect), openIssuer()]);
    await stack.write('app.jwt', await issuer.issue());
    await stack.setUp(clusterAuthConfig({ pemKeys: [issuer.publicKey] }), role('web'), reader);
    const { out } = await stack.run(['role', 'check', 'web', '--jwt', 'app.jwt'], 0);
    expect(out).toContain('Login as role "web" at mount "cluster" of target "prod", live');
  });
});
