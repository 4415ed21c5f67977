/** A plan predicts what its token cannot apply at a mount: one POST asks for the rights of the token, and changes nothing. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role } from '../../support/cli/documents.ts';

const question = 'POST /v1/sys/capabilities-self';
const mayAsk = { path: 'sys/capabilities-self', capabilities: ['update'] as const };
const mayRead = { path: 'auth/*', capabilities: ['read', 'list'] as const };

/** A mount of this dialect with the roles `web` and `old`, and a stack whose token has a policy with these rules. */
async function limitedTo(
  dialect: 'neutral' | 'openbao' | 'vault',
  ...readOnly: readonly {
    readonly path: string;
    readonly capabilities: readonly ('read' | 'list' | 'update' | 'create')[];
  }[]
): Promise<{ bench: Bench; stack: Checkout }> {
  const mount = dialect === 'neutral' ? 'cluster' : 'kubernetes';
  const bench = await openBench({
    mounts: [mount],
    readOnly,
    ...(dialect === 'neutral' ? {} : { dialects: [dialect] }),
  });
  const clusterAuth = { dialect, mount, owns: ['*'] };
  const owner = await bench.checkout({ clusterAuth });
  await owner.setUp(role('web'), role('old'));
  const stack = await owner.reconfigure({
    clusterAuth: { ...clusterAuth, token: { env: 'READ_SERVICE_TOKEN' } },
  });
  return { bench, stack };
}

/** All requests other than GET and LIST. */
const sent = ({ wire }: Bench) =>
  wire.seen
    .filter(({ method }) => !['GET', 'LIST'].includes(method))
    .map(({ method, path }) => `${method} ${path}`);

const changed = [clusterAuthConfig(), role('web', { tokenTtl: '5m' }), role('new')];

describe.each(['neutral', 'vault', 'openbao'] as const)('a read-only token at a mount of %s', (dialect) => {
  it('is reported after one request for its rights, and an apply stops before it writes', async () => {
    const { bench, stack } = await limitedTo(dialect, mayRead, mayAsk);
    await stack.declare(...changed);
    const { changes, coverage } = await stack.plan();
    expect(
      Object.fromEntries(
        changes.map(({ name, notes }) => [name, notes.filter((note) => note.includes('lacks'))]),
      ),
    ).toEqual({ config: [], web: [], new: [], old: [] });
    expect(coverage.targets.flatMap(({ notes }) => notes)).toContain(
      "this plan's token cannot write; apply needs one that can",
    );
    expect(sent(bench)).toEqual([question]);
    expect(coverage.targets.flatMap(({ notes }) => notes)).toContain(
      'one POST, besides the reads, asked for the rights of this token on 4 paths',
    );

    bench.wire.reset();
    const { out } = await stack.run(['apply', '--approve', (await stack.plan()).digest, '--ack', 'zero'], 1);
    expect(out.match(/error\[will-be-refused\]/g)).toHaveLength(3);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'the service will refuse 2 changes in target "prod": this token lacks "update"',
    );
    expect(new Set(sent(bench))).toEqual(new Set([question]));
  });
});

describe('a token at a mount', () => {
  it('that lacks one right for one role is reported for that role only', async () => {
    const { stack } = await limitedTo('openbao', mayRead, mayAsk, {
      path: 'auth/kubernetes/role/web',
      capabilities: ['read', 'update'],
    });
    await stack.declare(role('web', { tokenTtl: '5m' }), role('old'), role('new'));
    const { changes } = await stack.plan();
    expect(changes.map(({ name, notes }) => [name, notes.length])).toEqual([
      ['web', 0],
      ['new', 1],
    ]);
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('the service will refuse to create "ClusterAuthRole/prod/new"');
  });

  it('that may not ask for its rights allows no predictions, and the plan says so', async () => {
    const { bench, stack } = await limitedTo('openbao', mayRead);
    await stack.declare(...changed);
    const { changes, coverage, problems } = await stack.plan();
    expect(problems).toEqual([]);
    expect(changes.flatMap(({ notes }) => notes.filter((note) => note.includes('lacks')))).toEqual([]);
    expect(coverage.complete).toBe(true);
    expect(coverage.targets.flatMap(({ notes }) => notes)).toEqual([
      expect.stringMatching(
        /^the rights of this token are unknown, so refusals are not predicted: POST \S+ answered 403/,
      ),
    ]);
    expect(sent(bench)).toEqual([question]);
  });

  it('whose plan has no changes is not asked for its rights', async () => {
    const { bench, stack } = await limitedTo('openbao', mayRead, mayAsk);
    await stack.declare(role('web'), role('old'));
    await stack.run(['plan', '--exit-code'], 0);
    expect(sent(bench)).toEqual([]);
  });

  it('is asked for its rights only once when that request fails', async () => {
    const { bench, stack } = await limitedTo('openbao', mayRead, mayAsk);
    bench.wire.add({ path: /capabilities-self/, times: 10, fault: { answer: 500 } });
    await stack.declare(...changed);
    const { coverage } = await stack.plan();
    expect(coverage.targets.flatMap(({ notes }) => notes).join()).toContain('refusals are not predicted');
    expect(sent(bench)).toEqual([question]);
  });

  it.each([
    ['texts instead of lists', { data: { 'auth/kubernetes/role/web': 'deny' } }],
    ['only other paths', { data: { 'auth/other/role/web': ['deny'] } }],
    ['nothing', { data: {} }],
  ])('allows no predictions if the answer is not understood, and the plan says so: %s', async (_, body) => {
    const { bench, stack } = await limitedTo('openbao', mayRead, mayAsk);
    bench.wire.add({ path: /capabilities-self/, times: 10, fault: { answer: 200, body } });
    await stack.declare(...changed);
    const { coverage } = await stack.plan();
    expect(coverage.targets.flatMap(({ notes }) => notes)).toEqual([
      expect.stringMatching(
        /^the rights of this token are unknown, so refusals are not predicted: POST \S+ answered 200 without a list of permissions for any path$/,
      ),
    ]);
  });
});
