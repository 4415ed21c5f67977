/** Plans after incomplete reads, and that a plan never writes (architecture: plan never writes; architecture: plan sees all or says so). */
import { cp, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import type { Fault } from '../../support/cli/faulty-proxy.ts';
import { startListening } from '../../support/rig/listen.ts';

const everyKind = [
  workspace('app', { tags: { env: 'prod' }, remoteStateConsumers: ['other'] }),
  workspace('other'),
  clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }),
  role('web'),
];

/** Adds one to each `total-count`: the answer of a service that miscounts its own pages. */
function miscounted(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body).replaceAll(/"total-count":(\d+)/g, (_, count) => `"total-count":${+count + 1}`),
  );
}

/** The answer of a service without totals whose list has only its first items. */
const firstItems = (count: number) => (body: unknown) => ({
  data: (body as { data: readonly unknown[] }).data.slice(0, count),
});

describe('plan', () => {
  it('sends only GET and LIST, and one request for the rights of its token', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const others = () => bench.wire.seen.filter(({ method }) => !['GET', 'LIST'].includes(method));
    const question = [{ method: 'POST', path: '/v1/sys/capabilities-self' }];
    await stack.declare(...everyKind);
    await stack.run(['plan', '--calls'], 0);
    expect(others()).toMatchObject(question);
    await stack.setUp(...everyKind);
    await stack.declare(workspace('app'), role('web', { tokenTtl: '5m' }));
    await stack.run(['plan', '--exit-code'], 2);
    expect(others()).toMatchObject(question);
    await stack.run(['validate'], 0);
  });

  it('works with read-only tokens, and says that an apply needs others', async () => {
    const bench = await openBench();
    const owner = await bench.checkout();
    await owner.setUp(workspace('app'), role('web'));
    const token = { env: 'READ_API_TOKEN' };
    const reader = await bench.checkout({
      workspaces: { token },
      clusterAuth: { token: { env: 'READ_SERVICE_TOKEN' } },
    });
    await cp(join(owner.directory, '.trueup'), join(reader.directory, '.trueup'), { recursive: true });
    await reader.declare(workspace('app', { autoApply: true }), role('web'));
    const { out } = await reader.run(['plan'], 0);
    expect(out).toContain('autoApply  false -> true');
    const text = out.replace(/\s+/g, ' ');
    expect(text.split("this plan's token cannot write; apply needs one that can").length, 'once').toBe(2);
    expect(text).not.toContain('will refuse');
    expect(bench.wire.seen.every(({ method }) => ['GET', 'LIST'].includes(method))).toBe(true);
    // Only an administrator may list all mounts; the paths below a mount show its type, too.
    const refused = bench.wire.seen.filter(({ status }) => status !== 200).map(({ path }) => path);
    expect(refused).toEqual(['/v1/sys/auth/cluster']);
    const { out: drift } = await reader.run(['drift', '--format', 'json'], 0);
    expect(drift, 'drift writes nothing').not.toContain('cannot write');
  });

  it('reports a read-only token once for the target, and apply refuses every change before it writes', async () => {
    const bench = await openBench();
    const owner = await bench.checkout();
    const spec = { tags: { env: 'prod' }, remoteStateConsumers: ['web'] };
    await owner.setUp(workspace('app', spec), workspace('web'), workspace('old'));
    const reader = await bench.checkout({ workspaces: { token: { env: 'READ_API_TOKEN' } } });
    const documents = [
      // Removes a tag, which every dialect does by replacing all tags.
      workspace('app', { tags: { team: 'net' }, remoteStateConsumers: [] }),
      workspace('web', { autoApply: true }),
    ];
    await reader.declare(...documents);
    await owner.loseLedger();
    await owner.declare(...documents);
    const plan = await reader.plan();
    expect(Object.fromEntries(plan.changes.map(({ address, notes }) => [address, notes]))).toEqual({
      'TagBindings/acme/app': [],
      'RemoteStateConsumers/acme/app': [],
      'Workspace/acme/web': [],
      'Workspace/acme/old': [],
    });
    expect(plan.coverage.targets.flatMap(({ notes }) => notes)).toEqual([
      "this plan's token cannot write; apply needs one that can",
    ]);
    // Another token may apply this plan: permissions are not part of its digest.
    expect((await owner.plan()).digest).toBe(plan.digest);
    const { out } = await reader.run(['apply', '--yes'], 1);
    expect(out.match(/the service will refuse to (update|delete)/g)).toHaveLength(4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('writes no ledger', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    await stack.run(['plan'], 0);
    await expect(stack.ledger()).rejects.toThrow('ENOENT');
  });
});

describe('an incomplete read', () => {
  it.each([
    [
      'a forbidden list of workspaces',
      { method: 'GET', path: /\/organizations\/acme\/workspaces/, fault: { answer: 403 } },
    ],
    [
      'a list of workspaces that does not exist',
      { method: 'GET', path: /\/organizations\/acme\/workspaces/, fault: { answer: 404 } },
    ],
    [
      'pages whose total does not match',
      { method: 'GET', path: /\/workspaces\?/, fault: { rewrite: miscounted } },
    ],
    [
      'a list of workspaces without a total that has none of the two in the ledger',
      { method: 'GET', path: /\/workspaces\?/, fault: { rewrite: firstItems(0) } },
    ],
    [
      'a list of workspaces without a total that has one of the two in the ledger',
      { method: 'GET', path: /\/workspaces\?/, fault: { rewrite: firstItems(1) } },
    ],
    [
      'a forbidden list of roles',
      { method: 'LIST', path: /\/role/, fault: { answer: 403, body: { errors: ['permission denied'] } } },
    ],
    [
      'a mount that is gone',
      { path: /\/v1\/auth/, fault: { answer: 404, body: { errors: ['no handler for route'] } } },
    ],
    [
      'an answer that is not JSON:API',
      { method: 'GET', path: /\/workspaces\?/, fault: { answer: 200, body: '<html>' } },
    ],
  ] as const)(
    'removes nothing, is never reported as "No changes", and never exits with 0: %s',
    async (_, rule) => {
      const bench = await openBench();
      const stack = await bench.checkout({ clusterAuth: { owns: ['*'] } });
      const kept = [workspace('app'), role('web')];
      await stack.setUp(...kept, workspace('old'), role('old'));
      for (const documents of [kept, [...kept, workspace('old'), role('old')]]) {
        await stack.declare(...documents);
        for (const args of [['plan'], ['plan', '--exit-code'], ['apply', '--yes']]) {
          bench.wire.reset();
          bench.wire.add({ ...rule, times: 1000 });
          const { out, code } = await stack.tryRun(args);
          expect([1, 5], out).toContain(code);
          expect(out).toContain('incomplete');
          expect(out).toMatch(/^ {2}because /m);
          expect(out).not.toMatch(/No changes|Planned again/);
          expect(out).not.toMatch(/\d to delete/);
          expect(bench.wire.writes()).toEqual([]);
        }
      }
      const plan = await stack.plan(1);
      expect(plan.coverage.complete).toBe(false);
    },
  );

  it('of one resource skips only that one: the rest is applied, with exit code 6', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['*'] } });
    await stack.setUp(workspace('app'), role('web'), role('old'));
    bench.wire.add({ method: 'GET', path: /\/role\/web/, times: 1000, fault: { answer: 403 } });
    await stack.declare(workspace('app', { autoApply: true }), role('web', { tokenTtl: '5m' }));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('1 applied');
    expect(out).toContain('Could not verify');
    expect(out).not.toMatch(/(create|update|delete) +ClusterAuthRole/);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({ 'auto-apply': true });
    expect(bench.wire.writes().join()).not.toContain('/role/');
  });

  it('of a role that is listed but answers 404 neither removes nor creates the role', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['*'] } });
    await stack.setUp(role('web'), role('old'));
    await stack.declare(role('web', { tokenTtl: '5m' }));
    const none = { answer: 404, body: { errors: [] } };
    bench.wire.add({ method: 'GET', path: /\/role\/web/, times: 1000, fault: none });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'it is listed, also when listed again, but reading it returns "not found"',
    );
    expect(out).not.toMatch(/(create|delete) +ClusterAuthRole|somebody deleted it/);
    expect(bench.wire.writes()).toEqual([]);
  });

  it.each([
    ['answers 500 to every request', { answer: 500 }, 6],
    ['rejects the token', { answer: 401 }, 1],
    ['redirects every request', { answer: 302 }, 1],
  ] as const)(
    'of a target that %s is reported once: no changes there, no writes anywhere, and no hint to override it',
    async (_, fault, requests) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('app'), workspace('web'), role('web'));
      await stack.declare(workspace('app'), workspace('new'), role('web', { tokenTtl: '5m' }));
      for (const args of [['plan'], ['apply', '--yes']]) {
        bench.wire.reset();
        bench.wire.add({ path: /\/api\/v2/, times: 1000, fault });
        const { out, err } = await stack.run(args, 1);
        expect(bench.wire.seen.filter(({ path }) => path.startsWith('/api/v2'))).toHaveLength(requests);
        expect(out.match(new RegExp(`answered ${fault.answer}`, 'g')), out).toHaveLength(1);
        expect(out).toContain('target "acme" could not be read');
        expect(out, 'the part of the other target').toContain('tokenTtl');
        expect(out + err).not.toMatch(/Workspace\/acme|somebody deleted it|recreate|--ack|--approve/);
        expect(bench.wire.writes()).toEqual([]);
      }
    },
  );

  it('because a manifest is broken or empty removes nothing either', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('old'));
    await stack.declare(workspace('app'));
    await stack.write('manifests/broken.yaml', 'kind: [');
    await stack.run(['apply', '--yes'], 7);
    for (const text of ['', '# app:\n#   old\n', '---\n']) {
      await stack.write('manifests/broken.yaml', text);
      const { out, err } = await stack.run(['apply', '--yes'], 1);
      expect(out).toContain('not every manifest could be read');
      expect(err).toContain('"manifests/broken.yaml" holds no document');
    }
    expect(bench.wire.writes()).toEqual([]);
  });

  it.each([
    [
      'the exclusions remove all files of a pattern',
      ['manifests/**/*.yaml', '!manifests/**'],
      'the exclusions remove all files',
    ],
    ['all patterns are exclusions', ['!other/**'], 'has only exclusions'],
    ['a pattern matches only the stack file', ['*.yaml'], 'matches only the stack file'],
    ['a pattern that is not optional matches no file', [{ pattern: 'other/**', optional: false }], 'no file'],
  ])('because %s removes nothing', async (_, manifests, message) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), role('web'));
    await setManifestPatterns(stack, manifests);
    await stack.run(['validate'], 0);
    for (const args of [['plan'], ['plan', '--exit-code'], ['apply', '--yes']]) {
      const { out, err } = await stack.run(args, 1);
      expect(err).toContain(message);
      expect(out).not.toMatch(/No changes|\d to (delete|release)/);
      expect(out).toContain('not every manifest could be read');
    }
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is not reported if the stack allows that there are no manifests', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('web'));
    for (const manifests of [[], [{ pattern: 'other/**', optional: true }]]) {
      await setManifestPatterns(stack, manifests);
      const { coverage, summary } = await stack.plan();
      expect(coverage.complete).toBe(true);
      expect(summary.delete).toBe(2);
    }
    await setManifestPatterns(stack, ['manifests', { pattern: 'other/**', optional: true }]);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('a service that cannot include tag bindings in its lists', () => {
  const refusal = { errors: [{ status: '400', title: 'bad request', detail: 'Invalid include parameter' }] };
  const organization = {
    projects: [{ name: 'lent', id: 'prj-lent', 'tag-bindings': { 'trueup-stack': 'payments' } }],
    workspaces: [
      { name: 'theirs', 'tag-bindings': { 'trueup-stack': 'billing' } },
      { name: 'inherits', project: 'lent' },
      { name: 'stranger', 'tag-bindings': { env: 'prod' } },
    ],
  };

  const ignored = (body: unknown) => ({ ...(body as object), included: [] });

  it.each<[string, Fault]>([
    ['says so', { answer: 400, body: refusal }],
    ['silently ignores the parameter', { rewrite: ignored }],
  ])('and %s is read one workspace at a time, with the same result', async (_, fault) => {
    const bench = await openBench({ organization });
    const stack = await bench.checkout();
    bench.wire.add({ path: /include=/, times: 1000, fault });
    await stack.declare(workspace('app', { tags: { env: 'prod' } }), workspace('old'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', { tags: { env: 'test' } }));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain('does not include tag bindings in its list');
    expect(await bench.tagsOf('app')).toEqual({ env: 'test', 'trueup-stack': 'payments' });
    expect(await bench.idsOf('old')).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
    bench.wire.reset();
    bench.wire.add({ path: /include=/, times: 1000, fault });
    await stack.declare(workspace('app'), workspace('theirs'), workspace('inherits', {}, { adopt: true }));
    const refused = await stack.run(['apply', '--yes'], 9);
    expect(refused.out).toContain('"Workspace/acme/theirs" belongs to stack "billing"');
    expect(refused.out).toContain('"Workspace/acme/inherits" inherits the ownership tag');
    expect(bench.wire.writes()).toEqual([]);
    const stranger = await bench.idOf('stranger');
    expect(bench.wire.seen.filter(({ path }) => path.includes(stranger))).toEqual([]);
  });
});

describe('a service that cannot be read', () => {
  it('because nothing listens is reported in one line, with exit code 1', async () => {
    const bench = await openBench();
    const { port, url, close } = await startListening(createServer());
    await close();
    const stack = await bench.checkout({ workspaces: { url } });
    await stack.declare(workspace('app'));
    for (const args of [['plan'], ['apply', '--yes'], ['plan', '--format', 'json']]) {
      const { out, err } = await stack.run(args, 1);
      expect(out.match(/GET http\S+\/api\/v2\/organizations\/acme\/workspaces\S* failed: /g)).toHaveLength(1);
      expect(out.replaceAll('\\"', '"')).toContain(`nothing listens at "127.0.0.1:${port}"`);
      expect(err).not.toContain('listens');
    }
  });

  it('for all roles of a mount is reported in a few lines, however many roles there are', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...Array.from({ length: 40 }, (_, n) => role(`r${n}`)));
    const body = { errors: ['no handler'] };
    bench.wire.add({ path: /\/role\//, times: 9999, fault: { answer: 404, body } });
    const { out } = await stack.run(['plan'], 1);
    expect(out.match(/no handler/g)?.length, out).toBeLessThanOrEqual(6);
    expect(out).toContain('and 37 more');
  });

  it("because it rejects the token is reported with the service's own message", async () => {
    const stack = await (await openBench()).checkout({ workspaces: { token: { env: 'REVIEWER_JWT' } } });
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['plan'], 1);
    expect(out.replace(/\s+/g, ' ')).toMatch(/answered 401: unauthorized/i);
    expect(out).not.toContain(secrets.REVIEWER_JWT);
  });
});

/** Sets `manifests` in the spec of the stack. */
async function setManifestPatterns(stack: Checkout, manifests: readonly unknown[]): Promise<void> {
  const text = JSON.parse(await readFile(join(stack.directory, 'trueup.yaml'), 'utf8'));
  await stack.write('trueup.yaml', JSON.stringify({ ...text, spec: { ...text.spec, manifests } }));
}
