/**
 * The real Terraform command line on the embedded service: everything that a `cloud` block does with workspaces and states.
 * `npm run real-clients` runs it, on machines that have Terraform.
 */
import { describe, expect, it } from 'vitest';
import { openFaultyProxy } from '../support/cli/faulty-proxy.ts';
import { serveProcess } from '../support/cli/process.ts';
import { localhost } from '../support/http/certificates.ts';
import { type Configuration, configure, type Ended, type Host } from '../support/real-clients/terraform.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';
import { TestClient } from '../support/server/serve-for-test.ts';

const SEED = `users: [{ username: ann, token: ann-token }, { username: bob, token: bob-token }]
organizations:
  - name: acme
    default-execution-mode: local
    teams: [{ name: owners, members: [ann, bob] }]
`;

async function serve(...args: readonly string[]): Promise<Host & { readonly api: TestClient }> {
  const cwd = temporaryFolder({ 'seed.yaml': SEED, 'cert.pem': localhost.cert, 'key.pem': localhost.key });
  const all = ['--dialect', 'hcp-terraform', '--data', ':memory:', '--seed', 'seed.yaml', ...args];
  const { line } = await serveProcess(all, { cwd });
  const url = /https?:\S+/.exec(line)?.[0] ?? '';
  return { url, token: 'ann-token', api: new TestClient(url, 'ann-token') };
}

/** Runs commands that must all succeed, and returns the output of the last one. */
async function succeed(configuration: Configuration, ...commands: readonly string[]): Promise<string> {
  let last: Ended = { code: 0, said: '' };
  for (const command of commands) {
    last = await configuration.run(command.split(' '));
    expect(last.code, `terraform ${command}\n${last.said}`).toBe(0);
  }
  return last.said;
}

const ONE =
  'resource "terraform_data" "one" { input = "first" }\noutput "one" { value = terraform_data.one.output }\n';

describe('terraform, with a workspace selected by name', () => {
  it('creates the workspace, applies, then plans no changes, and destroys', async () => {
    const host = await serve();
    const net = configure(host, 'name = "net"', ONE);
    expect(await succeed(net, 'init')).toContain('has been successfully initialized!');
    expect(await succeed(net, 'plan')).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
    expect(await succeed(net, 'apply -auto-approve')).toContain(
      'Resources: 1 added, 0 changed, 0 destroyed.',
    );
    expect(await succeed(net, 'plan -detailed-exitcode')).toContain('No changes.');
    expect(await succeed(net, 'output -raw one')).toBe('first');
    const { attributes } = (await host.api.get('/organizations/acme/workspaces/net')).resource;
    expect(attributes).toMatchObject({ source: 'tfe-api', 'resource-count': 1, locked: false });
    expect(attributes['terraform-version']).toMatch(/^1\./);
    expect(await succeed(net, 'destroy -auto-approve')).toContain(
      'Destroy complete! Resources: 1 destroyed.',
    );
  });

  it('pulls its state, and pushes one back under a higher serial', async () => {
    const net = configure(await serve(), 'name = "net"', ONE);
    await succeed(net, 'init', 'apply -auto-approve');
    const state = JSON.parse(await succeed(net, 'state pull')) as { serial: number; resources: object[] };
    expect(state.resources).toMatchObject([{ type: 'terraform_data', name: 'one' }]);
    net.write({ 'next.json': JSON.stringify({ ...state, serial: state.serial + 7 }) });
    await succeed(net, 'state push next.json');
    const pushed = JSON.parse(await succeed(net, 'state pull')) as typeof state;
    expect(pushed.serial).toBeGreaterThan(state.serial + 6);
    net.write({ 'stale.json': JSON.stringify({ ...state, outputs: {} }) });
    expect(await net.run(['state', 'push', 'stale.json'])).toMatchObject({ code: 1 });
    expect(await succeed(net, 'state pull')).toBe(`${JSON.stringify(pushed, null, 2)}\n\n`);
  });

  it('does not push a state of another lineage, not even with -force, and stays locked until force-unlock', async () => {
    const host = await serve();
    const net = configure(host, 'name = "net"', ONE);
    await succeed(net, 'init', 'apply -auto-approve');
    const pulled = await succeed(net, 'state pull');
    const lineage = '00000000-0000-0000-0000-000000000000';
    net.write({ 'other.json': JSON.stringify({ ...JSON.parse(pulled), lineage }) });
    const pushed = await net.run(['state', 'push', '-force', 'other.json']);
    expect(pushed.code, pushed.said).toBe(1);
    expect(pushed.said).toContain('lineage');
    const locked = async () =>
      (await host.api.get('/organizations/acme/workspaces/net')).resource.attributes['locked'];
    expect(await locked()).toBe(true);
    expect(await succeed(net, 'state pull')).toBe(pulled);
    await succeed(net, 'force-unlock -force acme/net');
    expect(await locked()).toBe(false);
    expect(await succeed(net, 'plan -detailed-exitcode')).toContain('No changes.');
  });

  it('fails to apply while another apply holds the lock', async () => {
    const host = await serve();
    // The first apply waits in the middle until the second one has ended.
    const slow = `resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "touch started; while [ ! -e finish ]; do sleep 0.1; done" }
}
`;
    const [first, second] = [configure(host, 'name = "net"', slow), configure(host, 'name = "net"', ONE)];
    await succeed(first, 'init');
    await succeed(second, 'init');
    const applying = first.run(['apply', '-auto-approve']);
    await expect.poll(() => first.has('started'), { timeout: 30_000 }).toBe(true);
    const refused = await second.run(['apply', '-auto-approve']);
    expect(refused.code, refused.said).toBe(1);
    expect(refused.said).toContain('Error acquiring the state lock');
    expect(refused.said).toContain('workspace already locked');
    first.write({ finish: '' });
    expect(await applying).toMatchObject({ code: 0 });
    expect(await succeed(second, 'apply -auto-approve')).toContain('1 added, 0 changed, 1 destroyed');
  });

  it('fails with an explanation in a workspace with remote execution', async () => {
    const host = await serve();
    const net = configure(host, 'name = "net"', ONE);
    await succeed(net, 'init');
    const { id } = (await host.api.get('/organizations/acme/workspaces/net')).resource;
    await host.api.update(id, { 'execution-mode': 'remote' });
    for (const command of ['plan', 'plan -detailed-exitcode', 'apply', 'apply -auto-approve']) {
      const ended = await net.run([...command.split(' '), '-input=false']);
      expect(ended.code, `${command}: ${ended.said}`).toBe(1);
      expect(ended.said).toContain('has no engine for runs');
      expect((await host.api.attributes(id))['locked']).toBe(false);
    }
    await host.api.update(id, { 'execution-mode': 'local' });
    expect(await succeed(net, 'apply -auto-approve')).toContain('Resources: 1 added');
  });

  it('saves its state after a failed upload, from errored.tfstate or by the next apply', async () => {
    const host = await serve();
    const proxy = await openFaultyProxy(host.url);
    const net = configure({ ...host, url: proxy.url }, 'name = "net"', ONE);
    await succeed(net, 'init');
    /** Makes the link of the next upload invalid. */
    const failNextUpload = () =>
      proxy.add({
        method: 'POST',
        path: /\/state-versions$/,
        fault: {
          rewrite: (body) => JSON.parse(JSON.stringify(body).replaceAll('/api/storage/', '/api/nowhere/')),
        },
      });
    failNextUpload();
    const failed = await net.run(['apply', '-auto-approve']);
    expect(failed.code, failed.said).toBe(1);
    expect(failed.said).toContain('Failed to save state');
    expect(net.has('errored.tfstate')).toBe(true);
    // Terraform keeps the lock of a workspace whose state it could not save.
    await succeed(net, 'force-unlock -force acme/net', 'state push errored.tfstate');
    expect(await succeed(net, 'plan -detailed-exitcode')).toContain('No changes.');

    net.write({ 'two.tf': 'resource "terraform_data" "two" {}\n' });
    failNextUpload();
    expect(await net.run(['apply', '-auto-approve'])).toMatchObject({ code: 1 });
    await succeed(net, 'force-unlock -force acme/net');
    expect(await succeed(net, 'apply -auto-approve')).toContain('Resources: 1 added');
    expect(await succeed(net, 'plan -detailed-exitcode')).toContain('No changes.');
  });

  it('keeps a state of 18 MB and reads it back', async () => {
    const big = `resource "terraform_data" "big" { input = file("big.txt") }\n`;
    const net = configure(await serve(), 'name = "net"', big);
    net.write({ 'big.txt': 'x'.repeat(9 * 1024 * 1024) });
    await succeed(net, 'init', 'apply -auto-approve');
    expect((await succeed(net, 'state pull')).length).toBeGreaterThan(18 * 1024 * 1024);
    expect(await net.run(['plan', '-detailed-exitcode'])).toMatchObject({ code: 0 });
  });

  it('reports an unknown token', async () => {
    const host = await serve();
    const stranger = await configure({ ...host, token: 'nobody' }, 'name = "net"', ONE).run(['init']);
    expect(stranger.code).toBe(1);
    expect(stranger.said).toMatch(/unauthorized|token/i);
  });
});

describe.each([
  ['a list of tags', 'tags = ["app", "blue"]', { 'tag-names': ['app', 'blue'] }, { app: '', blue: '' }],
  ['a map of tags', 'tags = { app = "shop" }', {}, { app: 'shop' }],
])('terraform, with workspaces selected by %s', (_what, workspaces, attributes, bound) => {
  it('creates, lists, selects, shows and deletes them', async () => {
    const host = await serve();
    const shop = configure(host, workspaces, ONE);
    const begun = await shop.run(['init'], 'one\n');
    expect(begun.code, begun.said).toBe(0);
    await succeed(shop, 'workspace new two');
    // A workspace without these tags is not listed.
    await host.api.create({ name: 'other' });
    expect(await succeed(shop, 'workspace list')).toBe('  one\n* two\n\n');
    const two = (await host.api.get('/organizations/acme/workspaces/two')).resource;
    expect(two.attributes).toMatchObject(attributes);
    const bindings = (await host.api.get(`/workspaces/${two.id}/tag-bindings`)).resources;
    expect(Object.fromEntries(bindings.map(({ attributes: { key, value } }) => [key, value]))).toEqual(bound);

    expect(await succeed(shop, 'workspace select one', 'workspace show')).toBe('one\n');
    await succeed(shop, 'apply -auto-approve', 'workspace select two');
    const kept = await shop.run(['workspace', 'delete', 'one']);
    expect(kept.code, kept.said).toBe(1);
    expect(kept.said).toContain('Workspace "one" is currently tracking');
    await succeed(shop, 'workspace select one', 'destroy -auto-approve', 'workspace select two');
    expect(await succeed(shop, 'workspace delete one')).toContain('Deleted workspace "one"!');
    expect(await succeed(shop, 'workspace list')).toBe('* two\n\n');
    expect((await host.api.get('/organizations/acme/workspaces/one')).status).toBe(404);
  });
});

describe('terraform, over TLS', () => {
  it('finds the API of a host by itself, and keeps a state there', async () => {
    const { url, token } = await serve('--tls-cert', 'cert.pem', '--tls-key', 'key.pem');
    const net = configure({ url, token, trust: localhost.cert }, 'name = "net"', ONE);
    await succeed(net, 'init', 'apply -auto-approve');
    expect(await succeed(net, 'plan -detailed-exitcode')).toContain('No changes.');
    const mistrusted = configure({ url, token, trust: '' }, 'name = "net"', ONE);
    expect((await mistrusted.run(['init'])).said).toMatch(/certificate/);
  });
});
