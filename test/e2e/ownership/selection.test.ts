/** Manifests on standard input for a stack with files of its own: only their resources are planned, and the rest stays as it is. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type CommandResult, trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets, type StackOptions } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, removalRequest, workspace } from '../../support/cli/documents.ts';

const roles = ['api', 'web', 'jobs', 'cron'].map((name) => role(name));
const longer = role('web', { tokenTtl: '2h' });

/** Four roles, two workspaces with tags and consumers, applied; the stack's files still declare them. */
async function applied(options?: StackOptions): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench();
  const stack = await bench.checkout(options);
  await stack.setUp(
    clusterAuthConfig(),
    ...roles,
    workspace('net', { tags: { env: 'prod' }, remoteStateConsumers: ['app'] }),
    workspace('app', { autoApply: true }),
  );
  return { bench, stack };
}

/** Runs a command with these documents on standard input. */
async function pipe(
  stack: Checkout,
  args: readonly string[],
  { of, code }: { readonly of: readonly object[]; readonly code: number },
): Promise<CommandResult> {
  const stdin = of.map((document) => JSON.stringify(document)).join('\n---\n');
  const ran = await trueup(args, { cwd: stack.directory, env: secrets, stdin });
  expect(ran, ran.out + ran.err).toMatchObject({ code });
  return ran;
}

async function planOf(stack: Checkout, of: readonly object[], ...flags: string[]): Promise<PlanJson> {
  const { out } = await pipe(stack, ['plan', '-', '--format', 'json', ...flags], { of, code: 0 });
  return JSON.parse(out) as PlanJson;
}

describe('one role of four on standard input', () => {
  it('is planned and applied, and nothing else happens', async () => {
    const { bench, stack } = await applied();
    const before = (await stack.ledger()).records;
    const { out } = await pipe(stack, ['plan', '-', '--exit-code'], { of: [longer], code: 2 });
    expect(out).toContain('~ update  ClusterAuthRole/prod/web');
    expect(out).toContain('1 to update, 0 unchanged');
    expect(out).toContain('a selection of 1 resource: the rest of the stack is left as it is');
    expect(out).not.toMatch(/api|jobs|cron|net|incomplete|Not changed/);
    const done = await pipe(stack, ['apply', '-', '--yes'], { of: [longer], code: 0 });
    expect(done.out).toContain('Planned again: nothing is left to do');
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/web']);
    const { 'ClusterAuthRole/prod/web': changed, ...others } = (await stack.ledger()).records;
    expect(changed?.fields).toMatchObject({ tokenTtl: 7200 });
    expect(before).toMatchObject(others);
    expect(Object.keys(others)).toHaveLength(Object.keys(before).length - 1);
  });

  it('keeps the record of another role that somebody deleted meanwhile', async () => {
    const { bench, stack } = await applied();
    await bench.byHandMount('DELETE', 'role/cron');
    await pipe(stack, ['apply', '-', '--yes'], { of: [longer], code: 0 });
    expect((await stack.ledger()).records).toHaveProperty('ClusterAuthRole/prod/cron');
    const { guards } = await stack.plan();
    expect(guards.map(({ id }) => id)).toContain('recreate');
  });

  it('with nothing to do is "No changes", exit code 0', async () => {
    const { bench, stack } = await applied();
    const { out } = await pipe(stack, ['plan', '-', '--exit-code'], { of: [role('web')], code: 0 });
    expect(out).toMatch(/No changes, 1 unchanged\n(?: {2}\w+ +no changes\n)+a selection of 1 resource/);
    await pipe(stack, ['apply', '-', '--yes'], { of: [role('web')], code: 0 });
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is the whole stack with --complete: the others are deleted, behind their guards', async () => {
    const { bench, stack } = await applied({ spec: { guards: { maxDeletes: 2 } } });
    const plan = await planOf(stack, [longer], '--complete');
    expect(plan.summary).toMatchObject({ update: 1, delete: 5, release: 1 });
    expect(plan).not.toHaveProperty('selection');
    expect(plan.acknowledge).toContain('deletes');
    const { err } = await pipe(stack, ['apply', '-', '--complete', '--yes'], { of: [longer], code: 5 });
    expect(err).toContain(`"trueup apply - --complete --approve ${plan.digest} --ack `);
    expect(bench.wire.writes()).toEqual([]);
    const ack = ['--approve', plan.digest, '--ack', plan.acknowledge.join(',')];
    await pipe(stack, ['apply', '-', '--complete', ...ack], { of: [longer], code: 0 });
    expect(Object.keys((await stack.ledger()).records)).toEqual(['ClusterAuthRole/prod/web']);
  });

  it('is the whole stack if that has no files of its own, or is on standard input as well', async () => {
    const { stack } = await applied();
    const text = await readFile(join(stack.directory, 'trueup.yaml'), 'utf8');
    const { selection: none, ...whole } = await planOf(stack, [longer], '--complete');
    expect(none).toBeUndefined();
    const brought = JSON.parse(text.replace('"manifests/*.yaml"', '"-"'));
    expect((await planOf(stack, [brought, longer])).digest).toBe(whole.digest);
    for (const manifests of ['["-"]', '[]']) {
      await stack.write('trueup.yaml', text.replace('["manifests/*.yaml"]', manifests));
      expect((await planOf(stack, [longer])).digest, manifests).toBe(whole.digest);
    }
    await stack.write('trueup.yaml', text);
    await stack.declare(longer);
    expect((await stack.plan()).digest).toBe(whole.digest);
  });
});

describe('what a selection leaves out', () => {
  it('such as the tags and consumers of a workspace, stays as it is', async () => {
    const { bench, stack } = await applied();
    const of = [workspace('net', { queueAllRuns: true })];
    expect((await planOf(stack, of)).changes).toMatchObject([
      { address: 'Workspace/acme/net', action: 'update', fields: [{ path: '/queueAllRuns' }] },
    ]);
    await pipe(stack, ['apply', '-', '--yes'], { of, code: 0 });
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(await bench.tagsOf('net')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
    // A field that is no longer declared is reset, because its resource is selected.
    expect((await planOf(stack, [workspace('app')])).changes).toMatchObject([
      { address: 'Workspace/acme/app', fields: [{ path: '/autoApply', before: true, after: false }] },
    ]);
    const { changes } = await stack.plan();
    expect(changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
      'update Workspace/acme/net',
    ]);
  });

  it('is not taken for the former name of a new workspace, and keeps its records in a rename', async () => {
    const { bench, stack } = await applied();
    const before = Object.keys((await stack.ledger()).records);
    const id = await bench.idOf('app');
    const created = await planOf(stack, [workspace('fresh', { autoApply: true })]);
    expect(created.changes).toMatchObject([{ address: 'Workspace/acme/fresh', action: 'create' }]);
    expect(created.guards).toEqual([]);
    const of = [workspace('front', { autoApply: true }, { renamedFrom: 'app' })];
    await pipe(stack, ['apply', '-', '--yes'], { of, code: 0 });
    expect(await bench.idOf('front')).toBe(id);
    const after = Object.keys((await stack.ledger()).records);
    expect(after.sort()).toEqual(before.map((text) => text.replace('/app', '/front')).sort());
    await pipe(stack, ['plan', '-', '--exit-code'], { of, code: 0 });
  });

  it('may be referred to by the selection if it is live', async () => {
    const { stack } = await applied();
    const reads = (consumer: string) => [
      workspace('app', { autoApply: true, remoteStateConsumers: [consumer] }),
    ];
    expect((await planOf(stack, reads('net'))).summary).toMatchObject({ update: 1, problems: 0 });
    const { out } = await pipe(stack, ['plan', '-'], { of: reads('nobody'), code: 7 });
    expect(out).toContain('which is neither in this selection nor live');
  });
});

describe('a removal request on standard input', () => {
  it('removes only its resource, and the printed command acknowledges the guards', async () => {
    const { bench, stack } = await applied({ spec: { guards: { maxDeletes: 0 } } });
    const of = [removalRequest('ClusterAuthRole', 'cron', 'safe')];
    const { out, err } = await pipe(stack, ['apply', '-', '--yes'], { of, code: 5 });
    const way = /^to acknowledge {2}trueup (apply - --approve [0-9a-f]{32} --ack deletes)$/m.exec(out)?.[1];
    expect(err).toContain(`"trueup ${way}"`);
    await pipe(stack, ['plan', '-', '--out', 'plan.json'], { of, code: 0 });
    expect((await stack.run(['show', 'plan.json'], 0)).out).toContain(`to acknowledge  trueup ${way}`);
    await pipe(stack, way?.split(' ') ?? [], { of, code: 0 });
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/cron']);
    const records = Object.keys((await stack.ledger()).records);
    expect(records).toHaveLength(8);
    expect(records).not.toContain('ClusterAuthRole/prod/cron');
    const gone = await pipe(stack, ['plan', '-', '--exit-code'], { of, code: 0 });
    expect(gone.out).toContain('it is gone: its removal request can be deleted');
  });
});

describe('the plan file of a selection', () => {
  const digestIn = (text: string) => /digest ([0-9a-f]{32})/.exec(text)?.[1];

  it('is applied with that selection, as the printed command says, and with nothing else', async () => {
    const { bench, stack } = await applied();
    const file = join(stack.directory, 'plan.json');
    const { out, err } = await pipe(stack, ['plan', '-', '--out', 'plan.json'], { of: [longer], code: 0 });
    expect(err).toContain('"trueup apply plan.json -" applies this and nothing else');
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      digest: digestIn(out),
      selection: ['ClusterAuthRole/prod/web'],
    });
    const shown = await stack.run(['show', 'plan.json'], 0);
    expect(shown.out).toContain('a selection of 1 resource');

    bench.wire.reset();
    const whole = await stack.run(['apply', 'plan.json'], 4);
    expect(whole.err).toContain(
      'was made for a selection of this stack: pipe that in, with "trueup apply plan.json -"',
    );
    expect(whole.out).toContain('the whole stack');
    const other = await pipe(stack, ['apply', 'plan.json', '-'], { of: [longer, role('api')], code: 4 });
    expect(other.err).toContain('was made for another selection of this stack');
    expect(other.out).toContain('ClusterAuthRole/prod/api');
    await pipe(stack, ['apply', '-', 'plan.json', '--complete'], { of: [longer], code: 4 });
    expect(bench.wire.seen, 'nothing was even read').toEqual([]);

    const moved = await pipe(stack, ['apply', '-', 'plan.json'], { of: [role('web')], code: 4 });
    expect(moved.err).toContain('nothing was written: the plan is not the one that was approved');
    expect(bench.wire.writes()).toEqual([]);
    await pipe(stack, ['apply', 'plan.json', '-'], { of: [longer], code: 0 });
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/web']);
  });

  it('is not valid for the whole stack, even if both change the same', async () => {
    const { bench, stack } = await applied();
    await stack.declare(
      clusterAuthConfig(),
      ...roles.filter(({ metadata }) => !('name' in metadata && metadata.name === 'web')),
      longer,
      workspace('net', { tags: { env: 'prod' }, remoteStateConsumers: ['app'] }),
      workspace('app', { autoApply: true }),
    );
    const whole = await stack.run(['plan', '--out', 'whole.json'], 0);
    const part = await pipe(stack, ['plan', '-', '--out', 'part.json'], { of: [longer], code: 0 });
    expect(digestIn(part.out)).not.toBe(digestIn(whole.out));
    const { out } = await stack.run(['diff', 'whole.json', 'part.json'], 2);
    expect(out).toContain('the whole stack');
    expect(out).not.toContain('tokenTtl');
    const { err } = await pipe(stack, ['apply', 'whole.json', '-'], { of: [longer], code: 4 });
    expect(err).toContain('was made for the whole stack, and standard input brings a selection of it');
    await pipe(stack, ['apply', '-', '--approve', digestIn(whole.out) ?? ''], { of: [longer], code: 4 });
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['apply', 'whole.json'], 0);
  });

  it('continues with what is left when the same job runs again', async () => {
    const { bench, stack } = await applied();
    const of = [longer, role('jobs', { tokenTtl: '3h' })];
    await pipe(stack, ['plan', '-', '--out', 'plan.json'], { of, code: 0 });
    bench.wire.add({ method: 'POST', path: /role\/jobs/, fault: { answer: 400, body: { errors: ['no'] } } });
    await pipe(stack, ['apply', 'plan.json', '-'], { of, code: 6 });
    bench.wire.reset();
    const { out } = await pipe(stack, ['apply', 'plan.json', '-'], { of, code: 0 });
    expect(out).toContain('Of 2 approved changes, 1 is done already; 1 is left to apply');
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/jobs']);
  });
});

describe('a stack that is locked', () => {
  it('is unlocked by a command that needs no manifests', async () => {
    const { stack } = await applied();
    await localLedger(join(stack.directory, '.trueup', 'payments.ledger.json'), 'payments').lock({
      id: 'lock-of-ann',
      since: '2026-11-20T11:42:00.000Z',
      run: { id: 'github/acme/infra/771/apply', who: 'ann', where: 'ci-runner-7', pid: 4711 },
    });
    const { err } = await pipe(stack, ['apply', '-', '--yes'], { of: [longer], code: 8 });
    expect(err).toMatch(/trueup unlock --id lock-of-ann$/m);
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
  });
});

describe('standard input', () => {
  it('without a document is an error of every command, with or without --complete', async () => {
    const { bench, stack } = await applied();
    for (const stdin of ['', '\n', '# rendered: nothing\n', '---\n'])
      for (const args of [['validate'], ['plan'], ['apply', '--yes'], ['plan', '--complete'], ['recover']]) {
        const ran = await trueup([...args, '-'], { cwd: stack.directory, env: secrets, stdin });
        expect(ran, `${args} ${JSON.stringify(stdin)}`).toMatchObject({ code: 7, out: '' });
        expect(ran.err).toContain('standard input holds no document');
      }
    expect(bench.wire.seen).toEqual([]);
  });

  it('is validated as a selection, or as the complete stack with --complete', async () => {
    const { stack } = await applied();
    const some = await pipe(stack, ['validate', '-'], { of: [longer], code: 0 });
    expect(some.out).toBe('valid: a selection of stack payments, 1 file, 1 document, 1 resource\n');
    const all = await pipe(stack, ['validate', '-', '--complete'], { of: [longer], code: 0 });
    expect(all.out).toBe('valid: stack payments, 1 file, 1 document, 1 resource\n');
  });

  it('with a selection cannot rebuild a ledger', async () => {
    const { stack } = await applied();
    await stack.loseLedger();
    const { err } = await pipe(stack, ['recover', '-', '--yes'], { of: [longer], code: 1 });
    expect(err).toContain('nothing was written: a ledger is rebuilt from the whole stack');
    await expect(stack.ledger()).rejects.toThrow('ENOENT');
    await stack.run(['recover', '--yes'], 0);
  });
});
