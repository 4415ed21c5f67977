/** A plan file shows what its digest covers, also with redacted values: a forged file is never accepted as another plan. */
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { valueHash } from '../../../src/redaction/stored-values.ts';
import { toJsonPatch } from '../../../src/model/field.ts';
import { readAddress } from '../../../src/model/address.ts';
import { checksumOf } from '../../../src/report/json/plan.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { planFileOf, planInto, setByHand } from '../../support/cli/two-clones.ts';

type ChangeJson = PlanJson['changes'][number];

/** Writes a plan file with a correct checksum. */
async function forge(stack: Checkout, { checksum: _, ...plan }: PlanJson): Promise<void> {
  const text = JSON.stringify({ ...plan, checksum: checksumOf(plan) });
  await writeFile(planFileOf(stack), text);
}

function withChanges(plan: PlanJson, change: (one: ChangeJson) => object): PlanJson {
  return { ...plan, changes: plan.changes.map((one) => ({ ...one, ...change(one) })) };
}

/** The patch of each change follows its fields. */
function withFields(plan: PlanJson, field: (one: ChangeJson['fields'][number]) => object): PlanJson {
  return withChanges(plan, ({ fields }) => {
    const forged = fields.map((one) => ({ ...one, ...field(one) }));
    return {
      fields: forged,
      patch: toJsonPatch(forged.map(({ names: _, ...one }) => ({ ...one, path: [one.path.slice(1)] }))),
    };
  });
}

/** No command accepts the file: neither apply nor those that show it to a reviewer. */
async function expectRefused(bench: Bench, stack: Checkout, digest: string): Promise<void> {
  bench.wire.reset();
  const errors: string[] = [];
  for (const [args, code] of [
    [['apply', 'plan.json', '--approve', digest], 4],
    [['show', 'plan.json'], 1],
    [['diff', 'plan.json', 'plan.json'], 1],
    [['comment', '--plan', 'plan.json', '--dry-run'], 1],
  ] as const)
    errors.push((await stack.run(args, code)).err);
  for (const err of errors) expect(err).toMatch(/is not as trueup wrote it|plan again, and approve again/);
  expect(bench.wire.seen).toEqual([]);
}

/** A stack whose next plan deletes a workspace. */
async function withDelete(): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { description: 'one' }), workspace('old'));
  await stack.declare(workspace('app', { description: 'one' }));
  return { bench, stack };
}

describe('A forged plan file', () => {
  it('with the placeholder of a secret and another digest is refused', async () => {
    const { bench, stack } = await withDelete();
    const plan = await planInto(stack);
    await stack.declare(workspace('app', { description: 'harmless' }), workspace('old'));
    const { digest } = await stack.plan();
    const address = 'Workspace/acme/[secret]';
    await forge(stack, {
      ...plan,
      digest,
      changes: [...plan.changes, ...plan.changes.map((one) => ({ ...one, address, name: '[secret]' }))],
    });
    await expectRefused(bench, stack, digest);
    await forge(stack, { ...withFields(plan, () => ({ before: '[secret]' })), digest });
    await expectRefused(bench, stack, digest);
  });

  it('that shows harmless values beside the digest of another plan is refused', async () => {
    const { bench, stack } = await withDelete();
    const plan = await planInto(stack);
    const { digest } = plan;
    await forge(stack, { ...plan, changes: [] });
    await expectRefused(bench, stack, digest);
    await forge(
      stack,
      withChanges(plan, ({ address }) => ({
        action: 'none',
        address,
        fields: [{ path: '/[secret]', shape: 'scalar' }],
      })),
    );
    await expectRefused(bench, stack, digest);
  });

  it.each([
    ['a text beside the hash of another value', 'harmless'],
    ['a text around the placeholder', 'harmless [secret]'],
    ['a list with the placeholder', ['harmless', '[secret]']],
  ])('with %s is refused even if its digest is right', async (_, after) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { description: 'harmful' }));
    const plan = await planInto(stack);
    const address = readAddress('Workspace/acme/app');
    const hash = valueHash({ stack: plan.stack, address: partsOf(address) }, ['description'], 'harmful');
    const isDescription = ({ path }: { path: string }) => path === '/description';
    await forge(
      stack,
      withFields(plan, (field) => (isDescription(field) ? { after, redacted: { after: hash } } : {})),
    );
    await expectRefused(bench, stack, plan.digest);
    // A value that is redacted as a whole is shown as redacted, but this run knows no secret in it.
    await forge(
      stack,
      withFields(plan, (field) =>
        isDescription(field) ? { after: '[secret]', redacted: { after: hash } } : {},
      ),
    );
    expect((await stack.run(['show', 'plan.json'], 0)).out).toMatch(/description +\[secret\]\n/);
    const { err } = await stack.run(['apply', 'plan.json', '--approve', plan.digest], 4);
    expect(err).toContain(
      'as the value of "description", which the file redacts although it is not a secret',
    );
  });

  it('that shows a value as a secret is refused', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { description: 'harmful' }));
    const plan = await planInto(stack);
    await forge(
      stack,
      withFields(plan, (field) => (field.path === '/description' ? { shape: 'secret' } : {})),
    );
    await expectRefused(bench, stack, plan.digest);
  });

  it.each([
    ['an operation that its fields do not have', [{ op: 'add', path: '/executionMode', value: 'local' }]],
    ['an operation of another value', [{ op: 'add', path: '/description', value: 'harmless' }]],
    ['an operation on the prototype', [{ op: 'add', path: '/__proto__/polluted', value: true }]],
    ['no operation for a field', undefined],
  ])('with %s is refused', async (_, added) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { description: 'harmful' }));
    const plan = await planInto(stack);
    const patched = (patch: ChangeJson['patch']) =>
      added === undefined ? patch.slice(1) : [...patch, ...(added as ChangeJson['patch'])];
    await forge(
      stack,
      withChanges(plan, ({ patch }) => ({ patch: patched(patch) })),
    );
    await expectRefused(bench, stack, plan.digest);
    const { err } = await stack.run(['show', 'plan.json'], 1);
    expect(err).toContain('the patch of "Workspace/acme/app" is not that of its fields');
  });

  it('of an earlier version, with the placeholder of a secret in it, has to be planned again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'first' }));
    await setByHand(bench, 'app', { description: `pasted ${secrets.API_TOKEN}` });
    const { digestVersion: _, ...plan } = await planInto(stack);
    await forge(
      stack,
      withFields(plan, ({ redacted: __, ...field }) => field),
    );
    await expectRefused(bench, stack, plan.digest);
  });
});

describe('A plan file of an earlier version', () => {
  it('is still shown, and has to be approved again before it is applied', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const text = await readFile(new URL('./plan-of-digest-2.json', import.meta.url), 'utf8');
    await stack.declare(workspace('app', { description: 'one' }));
    await writeFile(planFileOf(stack), text);
    expect((await stack.run(['show', 'plan.json'], 0)).out).toContain('Workspace/acme/app');
    bench.wire.reset();
    const { err } = await stack.run(['apply', 'plan.json'], 4);
    expect(err).toContain(
      'was made by an earlier trueup, whose digests cover less: plan again, and approve again',
    );
    expect(bench.wire.seen).toEqual([]);
  });
});

describe('A redacted value in a plan file', () => {
  it('is replaced as a whole', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'first' }));
    const { API_TOKEN: token } = secrets;
    await setByHand(bench, 'app', { description: `pasted ${token}` });
    const plan = await planInto(stack);
    const fields = plan.changes.flatMap((change) => change.fields);
    expect(fields).toContainEqual(
      expect.objectContaining({
        path: '/description',
        before: '[secret]',
        after: 'first',
        redacted: { before: expect.stringMatching(/^[0-9a-f]{64}$/) },
      }),
    );
    await stack.run(['apply', 'plan.json'], 0);
  });
});

function partsOf(address: string) {
  const [kind = '', target = '', name = ''] = address.split('/');
  return { kind, target, name };
}

describe('A plan file with forged texts beside the digest of its changes', () => {
  /** A plan with a guard that blocks, one that warns, an update and a delete. */
  async function planned() {
    const { bench, stack } = await withDelete();
    await stack.declare(
      workspace('app', { description: 'two', remoteStateConsumers: ['web'] }),
      workspace('web'),
    );
    await stack.applyAcknowledged();
    await stack.declare(workspace('app', { description: 'three', globalRemoteState: true }));
    return { bench, stack, plan: await planInto(stack) };
  }
  const acknowledged = (stack: Checkout, plan: PlanJson, code: number) =>
    stack.run(['apply', 'plan.json', '--ack', plan.acknowledge.join(',')], code);
  const isApp = ({ address }: ChangeJson) => address === 'Workspace/acme/app';

  it('is applied as it was written, but not with another text', async () => {
    const { bench, stack, plan } = await planned();
    expect(plan.guards.map(({ id }) => id)).toEqual(expect.arrayContaining(['zero', 'global-sharing']));
    const forgeries: [string, PlanJson][] = [
      ['the reason', withChanges(plan, (one) => (isApp(one) ? { reason: 'only a comment' } : {}))],
      [
        'the place',
        withChanges(plan, (one) =>
          isApp(one) ? { place: { ...one.place, file: 'manifests/other.yaml' } } : {},
        ),
      ],
      ['the id', withChanges(plan, (one) => (isApp(one) ? { id: 'ws-AnotherOne000000' } : {}))],
      ['the notes', withChanges(plan, () => ({ notes: ['nobody reads its state any more'] }))],
      ['the origin', withFields(plan, () => ({ origin: 'default' }))],
      ['the guard', { ...plan, guards: [] }],
      ['the guard', { ...plan, guards: plan.guards.flatMap((guard) => [guard, { ...guard, counted: 7 }]) }],
      [
        'the guard',
        { ...plan, guards: plan.guards.map((guard) => ({ ...guard, concerns: guard.concerns.slice(1) })) },
      ],
      [
        'the guard',
        {
          ...plan,
          guards: plan.guards.map((guard) => ({ ...guard, effect: 'warns', message: 'all is well' })),
        },
      ],
    ];
    bench.wire.reset();
    for (const [what, forged] of forgeries) {
      await forge(stack, forged);
      const { err } = await acknowledged(stack, plan, 4);
      expect(err).toContain(`shows something else than this apply finds as ${what}`);
    }
    // The digest covers the risks.
    await forge(
      stack,
      withChanges(plan, ({ risks: _, ...one }) => ({ ...one, risks: [] })),
    );
    expect((await acknowledged(stack, plan, 4)).err).toContain('is not that of its changes');
    expect(bench.written()).toEqual([]);
    await forge(stack, plan);
    await acknowledged(stack, plan, 0);
  });

  it('is not applied either if a part of it is done already', async () => {
    const { bench, stack, plan } = await planned();
    await setByHand(bench, 'app', { description: 'three' });
    await forge(
      stack,
      withChanges(plan, (one) => (one.action === 'delete' ? { reason: 'asked for by its owner' } : {})),
    );
    expect((await acknowledged(stack, plan, 4)).err).toContain(
      'as the reason of "RemoteStateConsumers/acme/app"',
    );
    await forge(stack, { ...plan, guards: plan.guards.filter(({ id }) => id !== 'zero') });
    await acknowledged(stack, plan, 4);
    await forge(stack, plan);
    await acknowledged(stack, plan, 0);
  });

  it('is not applied if its notes do not name who loses access to a state', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { maxDeletes: 5 } } });
    await stack.setUp(workspace('app', { remoteStateConsumers: ['web'] }), workspace('web'));
    await stack.declare(workspace('web'));
    const plan = await planInto(stack);
    const notes = plan.changes.flatMap((one) => one.notes);
    expect(notes).toContain('workspaces that stay lose access to its state: "web"');
    bench.wire.reset();
    for (const forged of [[], [...notes, 'agreed with its owner']]) {
      await forge(
        stack,
        withChanges(plan, (one) => (one.notes.length === 0 ? {} : { notes: forged })),
      );
      expect((await acknowledged(stack, plan, 4)).err).toContain('as the notes of "Workspace/acme/app"');
    }
    expect(bench.written()).toEqual([]);
  });

  it('is applied if only notes about rights, environment and locks at that time differ', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'one' }));
    await stack.declare(workspace('app', { description: 'two' }));
    const plan = await planInto(stack);
    const passing = [
      'the service will refuse this: this token lacks "can-update", needed for: update',
      'the environment variable "LATER_JWT" is not set here: apply will need it',
      'it may already exist, because not everything was read: page 2 is missing',
      'it is locked ("run"), and not by this stack: the lock is left alone',
    ];
    await forge(
      stack,
      withChanges(plan, () => ({ notes: passing })),
    );
    await acknowledged(stack, plan, 0);
  });

  it('is not applied if it has another number of unchanged resources', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'one' }), workspace('web'));
    await stack.declare(workspace('app', { description: 'two' }), workspace('web'));
    const plan = await planInto(stack);
    expect(plan).toMatchObject({ summary: { unchanged: 1 } });
    await forge(stack, { ...plan, summary: { ...plan.summary, unchanged: 200 } });
    expect((await acknowledged(stack, plan, 4)).err).toContain('as the number of unchanged resources');
    await forge(stack, plan);
    await acknowledged(stack, plan, 0);
  });
});
