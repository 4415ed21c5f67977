/** The rights of a token are checked for each call: only calls whose right is missing are predicted and refused. */
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const token = 'planted-limited-token-71c4';

/** A stack that owns the workspace `app`, and a token that may read it and has these other `rights`. */
async function limitedTo(...rights: readonly string[]): Promise<{ bench: Bench; stack: Checkout }> {
  const tags = { 'trueup-stack': 'payments', env: 'by-hand' };
  const app = { 'tag-bindings': tags, 'source-name': 'trueup/payments' };
  const bench = await openBench({
    organization: {
      workspaces: [{ name: 'app', ...app }],
      teams: [{ name: 'limited', token, 'workspace-access': { app: rights } }],
    },
  });
  const stack = await bench.checkout({
    workspaces: { token: { file: 'token' } },
    spec: { guards: { allow: ['unrecorded'] } },
  });
  await stack.write('token', token);
  return { bench, stack };
}

function notesOf({ changes }: PlanJson): string[] {
  return changes.flatMap(({ notes }) => notes);
}

describe('a token', () => {
  it('that may only lock and unlock locks a workspace, and unlocks it later', async () => {
    const { bench, stack } = await limitedTo('can-lock', 'can-unlock');
    await stack.declare(workspace('app', { lock: { reason: 'frozen' } }));
    expect(notesOf(await stack.plan())).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([
      'POST /api/v2/workspaces/ws-…/actions/lock',
      'POST /api/v2/workspaces/ws-…/actions/unlock',
    ]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('that may lock but not unlock is reported before anything is written', async () => {
    const { bench, stack } = await limitedTo('can-lock');
    await stack.setUp(workspace('app', { lock: {} }));
    await stack.declare(workspace('app'));
    expect(notesOf(await stack.plan())).toEqual([
      'the service will refuse this: this token lacks "can-unlock", needed for: unlock',
    ]);
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('error[will-be-refused]');
    expect(bench.written()).toEqual([]);
  });

  it('that may only manage tags changes flat tags, but no tags that need a PATCH of the workspace', async () => {
    const { bench, stack } = await limitedTo('can-manage-tags');
    await stack.setUp(workspace('app', { tagNames: ['pci', 'blue'] }));
    await stack.declare(workspace('app', { tagNames: ['pci', 'red'] }));
    expect(notesOf(await stack.plan())).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
      'tag-names': ['pci', 'red'],
    });
    bench.wire.reset();
    await stack.declare(workspace('app', { tagNames: ['pci'], tags: { team: 'net' } }));
    expect(notesOf(await stack.plan())).toEqual([
      'the service will refuse this: this token lacks "can-update", needed for: replace',
    ]);
    await stack.run(['apply', '--yes'], 1);
    expect(bench.written()).toEqual([]);
  });

  it('that lacks several rights is reported once for each of them, with all calls that need it', async () => {
    const { stack } = await limitedTo('can-unlock');
    const spec = { autoApply: true, sshKeyId: 'sshkey-deploy', lock: {}, tagNames: ['pci'] };
    await stack.declare(workspace('app', spec));
    expect(notesOf(await stack.plan())).toEqual([
      'the service will refuse this: this token lacks "can-update", needed for: update, ssh-key; ' +
        'this token lacks "can-manage-tags", needed for: add-tag-names; ' +
        'this token lacks "can-lock", needed for: lock',
    ]);
    const { out } = await stack.run(['plan', '--calls'], 0);
    for (const right of ['can-update', 'can-manage-tags', 'can-lock'])
      expect(out.replace(/\s+/g, ' ')).toContain(`needs the permission ${right};`);
    expect(out.replace(/\s+/g, ' ')).toContain('success is 200; 409 means already done;');
  });
});

describe('A forced delete that the service does not allow', () => {
  const gone = { ...workspace('app'), metadata: { name: 'app', remove: 'force' }, spec: undefined };
  const setting = 'the setting "allow-force-delete-workspaces" of the organization is off';

  it('is predicted from the token’s rights, with the setting that allows it', async () => {
    const { bench, stack } = await limitedTo('can-update', 'can-destroy');
    await stack.declare(gone);
    expect(notesOf(await stack.plan()).join()).toContain(setting);
    const { out, err } = await stack.run(['apply', '--yes'], 1);
    expect(`${out}${err}`.replaceAll(/\s+/g, ' ')).toContain(setting);
    expect(bench.written()).toEqual([]);
  });

  it('is reported with the setting when it is answered with 403, and the workspace stays', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { allow: ['zero'] } } });
    await stack.setUp(workspace('app'));
    await stack.declare(gone);
    const body = { errors: [{ status: '403', title: 'forbidden' }] };
    bench.wire.add({ method: 'DELETE', path: /\/workspaces\/ws-/, fault: { answer: 403, body } });
    const { out, err } = await stack.run(['apply', '--yes'], 1);
    expect(`${out}${err}`.replaceAll(/\s+/g, ' ')).toContain(setting);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });
});
