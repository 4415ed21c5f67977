// Who last modified a drifted resource, from the audit trail: users and teams by name, never for one field, and never a guess.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import type { DriftJson } from '../../../src/report/json/drift-schema.ts';

import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

const organizationToken = 'the-token-of-acme-itself';
const people = { bob: 'the-token-of-bob' };
const teams = [{ name: 'platform', token: 'the-token-of-platform', 'manage-workspaces': true }];

interface Scene {
  readonly bench: Bench;
  readonly stack: Checkout;
  /** changes a workspace outside of trueup */
  change(token: string | undefined, name: string, attributes: object): Promise<void>;
  drift(code?: number): Promise<DriftJson>;
}

/** Applied, with a token for the trail. */
async function openScene(documents: readonly object[], target: object = {}): Promise<Scene> {
  const bench = await openBench({ people, organization: { token: organizationToken, teams } });
  const stack = await bench.checkout({ workspaces: { auditToken: { file: 'audit-token' }, ...target } });
  await stack.write('audit-token', organizationToken);
  await stack.setUp(...documents);
  return {
    bench,
    stack,
    change: async (token, name, attributes) => {
      const client = token === undefined ? bench.byHand : bench.byHand.as(token);
      const body = { data: { type: 'workspaces', attributes } };
      const answer = await client.patch(`/workspaces/${await bench.idOf(name)}`, body);
      expect(answer.status).toBe(200);
    },
    drift: async (code = 3) =>
      JSON.parse((await stack.run(['drift', '--format', 'json'], code)).out) as DriftJson,
  };
}

const three = ['app', 'base', 'core'].map((name) => workspace(name, { autoApply: true }));

/** Who modified each drifted resource, newest first. */
function names({ drifted }: DriftJson): Record<string, string[] | undefined> {
  return Object.fromEntries(
    drifted.map(({ address, touched }) => [address, touched?.touches.map(({ actor }) => actor.name)]),
  );
}

it('Drift of three workspaces by three tokens is reported with the right actor for each', async () => {
  const { stack, change, drift, bench } = await openScene(three);
  await change(undefined, 'app', { 'auto-apply': false });
  await change(people.bob, 'base', { 'auto-apply': false });
  await change('the-token-of-platform', 'core', { 'auto-apply': false });
  const found = await drift();
  const [ann, bob, platform] = ['app', 'base', 'core'].map((name) => names(found)[`Workspace/acme/${name}`]);
  expect([ann, bob]).toEqual([['ann'], ['bob']]);
  expect(platform).toHaveLength(1);
  expect(new Set([ann, bob, platform].flat()).size).toBe(3);
  const { out } = await stack.run(['drift'], 3);
  expect(out).toMatch(/autoApply {2}true -> false · modified .* by user-\w+ \(bob\), workspace update/);
  expect(out).not.toMatch(/changed by|one of/);
  const plan = await stack.run(['plan'], 0);
  expect(plan.out).toMatch(/autoApply {2}false -> true · modified .* by user-\w+ \(bob\), workspace update/);
  expect(bench.wire.writes()).toEqual([]);
});

it('Two actors since the last apply are both named as possible actors', async () => {
  const { stack, change, drift } = await openScene(three);
  await change(people.bob, 'app', { description: 'not managed' });
  await change(undefined, 'app', { 'auto-apply': false });
  expect(names(await drift())).toEqual({ 'Workspace/acme/app': ['ann', 'bob'] });
  const { out } = await stack.run(['drift'], 3);
  expect(out).toMatch(/modified by one of\n.*\(ann\), workspace update\n.*\(bob\), workspace update/);
});

it('The actor is reported for a deleted workspace and for a child, but not for a secrets service', async () => {
  const web = role('web');
  const documents = [workspace('app', { tags: { env: 'prod' } }), workspace('old'), web];
  const { bench, stack, drift } = await openScene(documents);
  const tags = { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'test' } }] };
  expect((await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}/tag-bindings`, tags)).status).toBe(
    200,
  );
  await bench.byHand.as(people.bob).send('DELETE', `/workspaces/${await bench.idOf('old')}`);
  await bench.byHandMount('POST', 'role/web', { token_ttl: 7200 });
  const found = await drift();
  expect(found.drifted.map(({ address, is }) => `${address}: ${is}`)).toEqual([
    'ClusterAuthRole/prod/web: changed',
    'TagBindings/acme/app: changed',
    'Workspace/acme/old: gone',
  ]);
  expect(names(found)).toEqual({
    'ClusterAuthRole/prod/web': undefined,
    'TagBindings/acme/app': ['ann'],
    'Workspace/acme/old': ['bob'],
  });
  expect((await stack.run(['plan'], 0)).out).toMatch(/cluster-auth has no audit trail/);
});

it('Without an audit token one line says what it would show, and the trail is not requested', async () => {
  const { bench, stack, change } = await openScene(three, { auditToken: undefined });
  await change(undefined, 'app', { 'auto-apply': false });
  bench.wire.reset();
  expect((await stack.run(['drift'], 3)).out).toMatch(
    /no "auditToken" in this target: with one, trueup shows here/,
  );
  expect(bench.wire.seen.filter(({ path }) => path.includes('audit-trail'))).toEqual([]);
});

it('For the self-hosted edition, which has no trail, no token is advised, and the edition is requested once', async () => {
  const bench = await openBench({ dialects: ['hcp-terraform'], edition: 'self-hosted' });
  const stack = await bench.checkout({ workspaces: { dialect: 'hcp-terraform' } });
  await stack.setUp(...three);
  await stack.run(['drift'], 0);
  expect(bench.wire.seen.filter(({ path }) => path.includes('/ping'))).toEqual([]);
  for (const name of ['app', 'base'])
    await bench.byHand.update(await bench.idOf(name), { 'auto-apply': false });
  bench.wire.reset();
  const { out } = await stack.run(['drift'], 3);
  expect(out.replace(/\s+/g, ' ')).toContain('only the hosted edition of the service has an audit trail');
  expect(out).not.toContain('auditToken');
  expect(bench.wire.seen.filter(({ path }) => path.includes('/ping'))).toHaveLength(1);
});

it('The trail is requested only if something drifted', async () => {
  const { bench, stack, drift } = await openScene(three);
  await drift(0);
  await stack.declare(...three, workspace('new'));
  await stack.plan();
  expect(bench.wire.seen.filter(({ path }) => path.includes('audit-trail'))).toEqual([]);
});

const trail = /audit-trail/;

it.each([
  [
    'refused',
    { answer: 403, body: { errors: [{ status: '403', title: 'forbidden' }] } },
    /refuses this "auditToken"/,
  ],
  ['malformed', { rewrite: () => ({ data: 'nothing' }) }, /not a page of an audit trail/],
  ['down', { answer: 503 }, /not known: .*503/],
])('A trail that is %s gives a note, and changes neither plan nor exit code', async (_, fault, note) => {
  const { bench, stack, change } = await openScene(three);
  await change(undefined, 'app', { 'auto-apply': false });
  const { digest } = await stack.plan();
  bench.wire.add({ path: trail, times: 1000, fault });
  const { out } = await stack.run(['plan'], 0);
  expect(out).toMatch(/autoApply {2}false -> true\n/);
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(note);
  expect((await stack.plan()).digest).toBe(digest);
  expect((await stack.run(['drift'], 3)).out.replaceAll(/\s+/g, ' ')).toMatch(note);
});

it('If the service gives its requests no ids, our own writes are reported as maybe ours', async () => {
  const { stack, change, drift } = await openScene(three);
  // As without request ids: the history does not show which requests were ours.
  const history = join(stack.directory, '.trueup', 'payments.history');
  for (const file of await readdir(history)) {
    const text = await readFile(join(history, file), 'utf8');
    await writeFile(join(history, file), text.replaceAll(/,\s*"requests": ?\[[^\]]*\]/g, ''));
  }
  await change(undefined, 'app', { 'auto-apply': false });
  const touches = (await drift()).drifted[0]?.touched?.touches ?? [];
  expect(touches.map(({ actor, resource, maybeOurs }) => [actor.name, resource.action, maybeOurs])).toEqual(
    expect.arrayContaining([['ci', 'create', true]]),
  );
  expect((await stack.run(['drift'], 3)).out).toMatch(/\(ci\), workspace create.*\(maybe ours\)/);
});

it('Our own write whose first answer was lost is reported as maybe ours', async () => {
  const { bench, stack, change, drift } = await openScene(three);
  await stack.declare(...three.slice(1), workspace('app', { autoApply: false }));
  let lost = 0;
  bench.wire.setHandler(async ({ method }, pass) => {
    const answer = await pass();
    if (method !== 'PATCH' || lost > 0) return answer;
    lost += 1;
    return { ...answer, status: 502, text: 'bad gateway' };
  });
  await stack.run(['apply', '--yes'], 0);
  bench.wire.setHandler((_, pass) => pass());
  await change(people.bob, 'app', { 'auto-apply': true });
  const touches = (await drift()).drifted[0]?.touched?.touches ?? [];
  expect(lost).toBe(1);
  expect(touches.map(({ actor, resource, maybeOurs }) => [actor.name, resource.action, maybeOurs])).toEqual([
    ['bob', 'update', undefined],
    ['ci', 'update', true],
  ]);
});

it('With the trail of another organization the actor is reported as unknown', async () => {
  const bench = await openBench({ people, others: ['zeta'], organization: { token: organizationToken } });
  const made = await bench.byHand.send('POST', '/organizations/zeta/authentication-token', {});
  const stack = await bench.checkout({ workspaces: { auditToken: { file: 'audit-token' } } });
  await stack.write('audit-token', JSON.parse(made.text).data.attributes.token);
  await stack.setUp(workspace('app', { autoApply: true }));
  const body = { data: { type: 'workspaces', attributes: { 'auto-apply': false } } };
  await bench.byHand.as(people.bob).patch(`/workspaces/${await bench.idOf('app')}`, body);
  const { out } = await stack.run(['drift'], 3);
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(/modified by: unknown, .*token may be of another organization/);
});

it('A trail that never answers does not hold up the report', async () => {
  const { bench, stack, change } = await openScene(three);
  await change(undefined, 'app', { 'auto-apply': false });
  const never = new Promise<never>(() => {});
  bench.wire.add({ path: trail, times: 1000, fault: { first: () => never } });
  const { out } = await stack.run(['drift', '--timeout', '6s'], 3);
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(
    /who modified the drifted resources is not known: .* not answered within [23]s/,
  );
});

it('A long trail is read up to twenty pages, and the report says so', async () => {
  const { bench, stack, change } = await openScene(three);
  await change(undefined, 'app', { 'auto-apply': false });
  const pages: string[] = [];
  let first: { id: string } | undefined;
  bench.wire.setHandler(async ({ path }, pass) => {
    const answer = await pass();
    if (!trail.test(path)) return answer;
    pages.push(path);
    const { data } = JSON.parse(answer.text) as { data: { id: string }[] };
    const page = pages.length;
    const pagination = {
      current_page: page,
      prev_page: null,
      next_page: page + 1,
      total_pages: 99,
      total_count: 9999,
    };
    const [event] = data.length > 0 ? data : [undefined];
    first ??= event;
    return { ...answer, text: JSON.stringify({ data: [{ ...first, id: `event-${page}` }], pagination }) };
  });
  const { out } = await stack.run(['drift'], 3);
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(/read no further than 20 pages: use an archive/);
  expect(pages).toHaveLength(20);
});

it('drift --since reads the trail no further back, and reports earlier actors as unknown', async () => {
  const { stack, change } = await openScene(three);
  await change(undefined, 'app', { 'auto-apply': false });
  const { out } = await stack.run(['drift', '--since', new Date(Date.now() + 60_000).toISOString()], 3);
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(/modified by: unknown, .*no further back than --since says/);
  await stack.run(['drift', '--since', 'yesterday'], 1);
});

it('The archive of the stack is read first, and the trail for later events', async () => {
  const { bench, stack, change, drift } = await openScene(three);
  const archived = await stack.reconfigure({
    workspaces: { auditToken: { file: 'audit-token' } },
    spec: { audit: { archive: { file: 'audit.db' } } },
  });
  await change(people.bob, 'app', { 'auto-apply': false });
  await archived.run(['audit', 'archive'], 0);
  await change(undefined, 'base', { 'auto-apply': false });
  expect(names(await drift())).toEqual({ 'Workspace/acme/app': ['bob'], 'Workspace/acme/base': ['ann'] });
  expect((await archived.run(['drift'], 3)).out).toMatch(
    /archive of the audit trail, then audit trail since/,
  );
  // The archive still has the events that the service forgot.
  bench.wire.add({ path: trail, times: 10, fault: { rewrite: emptied } });
  const found = await drift();
  expect(names(found)).toEqual({ 'Workspace/acme/app': ['bob'], 'Workspace/acme/base': [] });
  // The report does not say that nobody else modified it: the archive may lack events that the trail has lost.
  for (const { touched } of found.drifted) expect(touched?.unknown).toMatch(/no longer has the last event/);
});

function emptied(): object {
  const pagination = { current_page: 1, prev_page: null, next_page: null, total_pages: 1, total_count: 0 };
  return { data: [], pagination };
}
