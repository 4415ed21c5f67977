/** A seed is written to a data file once. Later starts of "serve" and of a stack add only what is new in it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { TestClient } from '../../support/server/serve-for-test.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { serveProcess, trueupProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const net = { name: 'net', id: 'ws-net', tags: ['seeded'], 'locked-by-run': 'run-1' };
const old = { name: 'old', id: 'ws-old' };

function seedText(...workspaces: readonly object[]): string {
  return JSON.stringify({
    users: [{ username: 'ann', token: 'ann' }],
    organizations: [{ name: 'acme', teams: [{ name: 'owners', members: ['ann'] }], workspaces }],
  });
}

/** Changes the seeded workspaces: one is renamed, unlocked and loses its tag, and one is deleted. */
async function changeAll(url: string): Promise<void> {
  const api = new TestClient(url, 'ann');
  expect((await api.post('/workspaces/ws-net/actions/force-unlock', {})).status).toBe(200);
  expect((await api.update('ws-net', { name: 'core' })).status).toBe(200);
  const tags = { data: [{ type: 'tags', attributes: { name: 'seeded' } }] };
  expect((await api.delete('/workspaces/ws-net/relationships/tags', tags)).status).toBe(204);
  expect((await api.delete('/workspaces/ws-old')).status).toBe(204);
}

async function expectChanged(url: string, names: readonly string[]): Promise<void> {
  const api = new TestClient(url, 'ann');
  expect((await api.get('/organizations/acme/workspaces?sort=name')).names).toEqual(names);
  expect(await api.attributes('ws-net')).toMatchObject({ name: 'core', locked: false, 'tag-names': [] });
}

describe('A seed', () => {
  it('is written to a data file once: later changes stay, and only new items are added', async () => {
    const cwd = temporaryFolder();
    const seed = join(cwd, 'seed.yaml');
    const args = ['--data', 'service.db', '--seed', 'seed.yaml'];
    await writeFile(seed, seedText(net, old));
    const first = await serveProcess(args, { cwd });
    await changeAll(first.url);
    await first.stop();
    const second = await serveProcess(args, { cwd });
    await expectChanged(second.url, ['core']);
    expect(await second.stop()).toMatchObject({ code: 0, err: '' });
    await writeFile(seed, seedText(net, { name: 'new' }, old));
    const third = await serveProcess(args, { cwd });
    await expectChanged(third.url, ['core', 'new']);
  });

  it('with a new item whose name is taken is refused in one line', async () => {
    const cwd = temporaryFolder();
    const args = ['--data', 'service.db', '--seed', 'seed.yaml'];
    await writeFile(join(cwd, 'seed.yaml'), seedText(net, old));
    const first = await serveProcess(args, { cwd });
    await changeAll(first.url);
    await first.stop();
    await writeFile(join(cwd, 'seed.yaml'), seedText(net, { name: 'core' }));
    expect(await trueupProcess(['serve', ...args], { cwd })).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^error: the seed's workspace "core" cannot be added to organization "acme": its name is taken by "ws-net".*\n$/,
      ),
    });
  });

  it('of a stack works in the same way, also together with a seed of "serve"', async () => {
    const cwd = embeddedStack({ embedded: { seed: 'seed.yaml' } });
    await writeFile(join(cwd, 'seed.yaml'), seedText(net, old));
    expect(await trueup(['plan'], { cwd })).toMatchObject({ code: 0, err: '' });
    const serving = await serveProcess(['--seed', 'seed.yaml'], { cwd });
    await changeAll(serving.url);
    await writeFile(join(cwd, 'seed.yaml'), seedText(net, old, { name: 'new' }));
    expect(await trueup(['plan'], { cwd })).toMatchObject({ code: 0, err: '' });
    await expectChanged(serving.url, ['core', 'new']);
    await writeFile(join(cwd, 'seed.yaml'), seedText(net, { name: 'core' }));
    const refused = await trueup(['plan'], { cwd });
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: the seed's workspace "core".*\n$/),
    });
  });
});
