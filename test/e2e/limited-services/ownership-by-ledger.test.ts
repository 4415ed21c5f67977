/**
 * `ownership: ledger`: the ledger's record replaces the ownership tag, even if the service shows an older tag. Only the record
 * says that a workspace is ours.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { consumers, removalRequest, workspace } from '../../support/cli/documents.ts';
import { lacking } from '../../support/simulation/limited-service.ts';

const byLedger = { ownership: 'ledger' };

describe('An ownership tag that the service still shows', () => {
  const withShownTags = async (...documents: readonly object[]) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('web'));
    const ledger = await stack.reconfigure({ workspaces: byLedger });
    await ledger.declare(workspace('app'), ...documents);
    await ledger.run(['apply', '--yes'], 0);
    await ledger.run(['plan', '--exit-code'], 0);
    return { bench, stack: ledger };
  };

  it('is updated with the protection and removal settings of the manifest', async () => {
    const { bench, stack } = await withShownTags(workspace('web', {}, { protect: true }));
    expect(await bench.tagsOf('web')).toEqual({ 'trueup-stack': 'payments:protect' });
    await stack.declare(workspace('app'));
    expect((await stack.run(['apply', '--yes'], 0)).out).toContain('protected: it is kept');
    await stack.declare(workspace('app'), removalRequest('Workspace', 'web', 'force'));
    expect((await stack.run(['plan'], 9)).out).toContain('is protected');
  });

  it('does not override a record that protects', async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.setUp(
      workspace('app'),
      workspace('web', {}, { protect: true }),
      workspace('rel', {}, { onRemove: 'release' }),
    );
    bench.wire.setHandler(undefined);
    for (const name of ['web', 'rel'])
      await bench.byHand.patch(`/workspaces/${await bench.idOf(name)}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'payments' } }],
      });
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toHaveLength(1);
    expect(await bench.tagsOf('rel')).toEqual({});
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each(['safe', 'force'] as const)(
    'of another stack keeps a workspace from a %s removal request',
    async (remove) => {
      const { bench, stack } = await withShownTags(workspace('web'));
      await bench.byHand.patch(`/workspaces/${await bench.idOf('web')}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'other' } }],
      });
      await stack.declare(workspace('app'), removalRequest('Workspace', 'web', remove));
      expect((await stack.run(['plan'], 9)).out).toMatch(
        /does not belong to this stack|only released, not removed/,
      );
      await stack.run(['apply', '--yes'], 9);
      expect(await bench.idsOf('web')).toHaveLength(1);
    },
  );

  it('is removed with a release', async () => {
    const { bench, stack } = await withShownTags(workspace('web', {}, { onRemove: 'release' }));
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('web')).toEqual({});
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('Our creator mark on a service without tag bindings', () => {
  const openLimited = async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    return { bench, stack: await bench.checkout({ workspaces: byLedger }) };
  };

  it('does not prove ownership of a released workspace that another stack adopted', async () => {
    const { bench, stack } = await openLimited();
    await stack.setUp(workspace('app', {}, { onRemove: 'release' }), workspace('k'));
    await stack.setUp(workspace('k'));
    const other = await bench.checkout({ name: 'other', workspaces: byLedger });
    await other.declare(workspace('app', { description: 'of other' }, { adopt: true }));
    await other.applyAcknowledged();
    await stack.declare(workspace('app', { description: 'of payments' }), workspace('k'));
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out.replace(/\s+/g, ' ')).toContain('its creator mark alone does not prove who owns it now');
    expect((await bench.byHand.attributes(await bench.idOf('app')))['description']).toBe('of other');
  });

  it('does not allow a delete without a record from before: the workspace is released', async () => {
    const { bench, stack } = await openLimited();
    await bench.byHand.create({ name: 'app', 'source-name': 'trueup/payments' });
    await stack.declare(workspace('app'), workspace('k'));
    await stack.run(['apply', '--yes'], 5);
    await stack.applyAcknowledged();
    await stack.declare(workspace('k'));
    await stack.applyAcknowledged();
    expect(await bench.idsOf('app')).toHaveLength(1);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('Workspaces that this stack created but its ledger lost, on a service without tag bindings', () => {
  const openForgotten = async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.setUp(workspace('app'), workspace('web'), workspace('zoo'));
    await rm(join(stack.directory, '.trueup'), { recursive: true });
    await stack.declare(workspace('app'));
    return { bench, stack };
  };
  const note = 'this stack created "web", "zoo", but its ledger has no record: left alone';

  it('are reported in one note, and left alone', async () => {
    const { bench, stack } = await openForgotten();
    await bench.byHand.create({ name: 'of-others', 'source-name': 'trueup/other' });
    await stack.applyAcknowledged();
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out.replace(/\s+/g, ' ').split(note).length, 'once').toBe(2);
    expect(out).not.toContain('of-others');
    expect(await bench.idsOf('web')).toHaveLength(1);
    await stack.declare(workspace('app'), workspace('web'), workspace('zoo'));
    await stack.applyAcknowledged();
    expect((await stack.run(['plan', '--exit-code'], 0)).out).not.toContain('once created');
  });

  it('are reported when the ledger is rebuilt', async () => {
    const { stack } = await openForgotten();
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(note);
  });
});

describe('After a lost ledger, on a service without tag bindings', () => {
  const recovered = async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    const stack = await bench.checkout({ workspaces: byLedger });
    await bench.byHand.create({ name: 'found' });
    const found = workspace('found', {}, { adopt: true });
    await stack.declare(workspace('app'), workspace('web'), found);
    await stack.applyAcknowledged();
    await stack.loseLedger();
    const { out } = await stack.run(['recover', '--yes'], 0);
    await stack.applyAcknowledged();
    return { bench, stack, out: out.replace(/\s+/g, ' ') };
  };

  it('recover says that undeclared workspaces are no longer deleted, and how to have one deleted again', async () => {
    const { bench, stack, out } = await recovered();
    expect(out).toContain('They are no longer deleted when they are no longer declared, but released.');
    expect(out).toContain('add "onRemove: delete" to its metadata and apply');
    expect(out).toContain('Workspace/acme/web');
    const asked = { onRemove: 'delete' };
    const both = [workspace('web', {}, asked), workspace('found', {}, { adopt: true, ...asked })];
    await stack.declare(workspace('app'), ...both);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    expect((await stack.run(['plan'], 0)).out).toMatch(/- delete +Workspace\/acme\/web/);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
    expect(await bench.idsOf('found')).toHaveLength(1);
  });

  it('a removal request for an adopted workspace does not suggest to adopt it', async () => {
    const { stack } = await recovered();
    await stack.declare(
      workspace('app'),
      removalRequest('Workspace', 'web', 'safe'),
      removalRequest('Workspace', 'found', 'force'),
    );
    const { out } = await stack.run(['plan'], 9);
    expect(out).not.toContain('adopt it first');
    expect(out.replace(/\s+/g, ' ')).toContain(
      'declare it with "onRemove: delete", apply, and write this document then',
    );
  });
});

describe('A child on a service without tag bindings', () => {
  it('is adopted only after the guard is acknowledged', async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.setUp(
      workspace('app', { remoteStateConsumers: ['web'] }),
      workspace('web'),
      workspace('third'),
    );
    const other = await bench.checkout({ name: 'other', workspaces: byLedger });
    await other.declare(consumers('app', { consumers: ['third'] }, { adopt: true }));
    const { out } = await other.run(['apply', '--yes'], 5);
    expect(out).toMatch(/blocks +adopt/);
    expect(bench.written()).toEqual([]);
    await other.applyAcknowledged();
    await other.run(['plan', '--exit-code'], 0);
  });
});

describe('A workspace that another stack created, on a service without tag bindings', () => {
  const mark = 'stack "other" created it';

  it('has its creator named by the guard, the plan as JSON and text, and the export', async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    const other = await bench.checkout({ name: 'other', workspaces: byLedger });
    await other.setUp(workspace('app'), workspace('web'));
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.declare(
      workspace('app', { description: 'mine' }, { adopt: true }),
      consumers('web', { consumers: ['app'] }, { adopt: true }),
    );
    const { changes, guards } = await stack.plan();
    expect(changes.map(({ address, createdBy }) => [address, createdBy])).toEqual([
      ['Workspace/acme/app', 'other'],
      ['RemoteStateConsumers/acme/web', 'other'],
    ]);
    const adoptions = guards.filter(({ id }) => id === 'adopt').flatMap(({ concerns }) => concerns);
    expect(adoptions.map(({ says }) => says)).toEqual([[mark], [mark]]);
    expect((await stack.run(['plan'], 0)).out).toContain(mark);
    expect((await stack.run(['export', '--all', '--target', 'acme'], 0)).out).toContain(
      '# Stack "other" created it',
    );
    await stack.declare(workspace('app'));
    expect((await stack.run(['plan'], 9)).out).toContain(mark);
  });

  it('has no creator named if its creator mark cannot be the name of a stack', async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    await bench.byHand.create({ name: 'app', 'source-name': 'trueup/x" is yours' });
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.declare(workspace('app', {}, { adopt: true }));
    const { changes } = await stack.plan();
    expect(changes).toMatchObject([{ action: 'adopt', notes: [] }]);
  });
});

describe('A create that lost a race on a service without tag bindings', () => {
  it.each([
    ['somebody else created with the same source name', 'terraform', { sourceName: 'terraform' }],
    ['a stack of the same name in another repository created', 'trueup/payments', {}],
  ])('does not make a workspace ours that %s', async (_who, sourceName, declared) => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    const stack = await bench.checkout({ workspaces: byLedger });
    const twin = { name: 'app', 'source-name': sourceName, description: 'd' };
    bench.wire.add({
      method: 'POST',
      path: /\/workspaces$/,
      fault: { first: () => bench.byHand.create(twin) },
    });
    await stack.declare(workspace('app', { ...declared, description: 'd' }));
    await stack.run(['apply', '--yes'], 1);
    expect((await stack.ledger()).records).toEqual({});
    await stack.run(['apply', '--yes'], sourceName === 'terraform' ? 9 : 5);
  });
});

describe('A workspace that another stack has adopted and changed, on a service without tag bindings', () => {
  const changedByAnother = async (change: object = { description: 'of other' }) => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('tag-bindings'));
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.setUp(workspace('app'), workspace('web', { fileTriggersEnabled: false }), workspace('zoo'));
    const other = await bench.checkout({ name: 'other', workspaces: byLedger });
    await other.declare(workspace('web', change, { adopt: true }));
    await other.applyAcknowledged();
    bench.wire.reset();
    return { bench, stack, other };
  };
  const oneLine = (text: string) => text.replace(/\s+/g, ' ');

  it('is kept and reported when it is no longer declared', async () => {
    const { bench, stack } = await changedByAnother();
    await stack.declare(workspace('app'), workspace('zoo'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(oneLine(out)).toContain(
      'no longer declared, but it was changed since this stack last wrote it (description): it is kept',
    );
    expect(out).toContain('metadata.remove: force');
    expect(out).toContain('onRemove: release');
    expect(await bench.idsOf('web')).toHaveLength(1);
    expect(bench.written()).toEqual([]);
  });

  it('is kept also if a later apply of this stack had nothing to do', async () => {
    const { bench, stack } = await changedByAnother();
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'), workspace('zoo'));
    expect(oneLine((await stack.run(['apply', '--yes'], 0)).out)).toContain('changed since this stack');
    expect(await bench.idsOf('web')).toHaveLength(1);
  });

  it('is kept if a field that this stack declared was changed', async () => {
    const { bench, stack } = await changedByAnother({ fileTriggersEnabled: true });
    await stack.declare(workspace('app'), workspace('zoo'));
    expect(oneLine((await stack.run(['apply', '--yes'], 0)).out)).toContain(
      '(fileTriggersEnabled): it is kept',
    );
    expect(await bench.idsOf('web')).toHaveLength(1);
  });

  it('is kept from a safe removal request, and a forced one needs an acknowledged guard', async () => {
    const { bench, stack } = await changedByAnother();
    await stack.declare(workspace('app'), workspace('zoo'), removalRequest('Workspace', 'web', 'safe'));
    expect(oneLine((await stack.run(['apply', '--yes'], 0)).out)).toContain('changed since this stack');
    await stack.declare(workspace('app'), workspace('zoo'), removalRequest('Workspace', 'web', 'force'));
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out).toMatch(/blocks +forced-delete/);
    expect(oneLine(out)).toContain('it was changed since this stack last wrote it (description)');
    expect(await bench.idsOf('web')).toHaveLength(1);
    await stack.applyAcknowledged();
    expect(await bench.idsOf('web')).toEqual([]);
  });

  it('is not deleted if the change comes between the plan and its apply', async () => {
    const { bench, stack } = await changedByAnother({});
    await stack.declare(workspace('app'), workspace('zoo'));
    const { digest } = await stack.plan();
    await bench.byHand.patch(`/workspaces/${await bench.idOf('web')}`, {
      data: { type: 'workspaces', attributes: { description: 'late' } },
    });
    await stack.run(['apply', '--approve', digest], 4);
    expect(await bench.idsOf('web')).toHaveLength(1);
  });

  it.each([
    ['tags', { tags: { team: 'other' } }],
    ['tags', { tags: {} }],
  ])('is kept if only its %s were changed, on a service that has them', async (named, change) => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.setUp(workspace('app'), workspace('web', { tags: { team: 'ours' } }), workspace('zoo'));
    const other = await bench.checkout({ name: 'other', workspaces: byLedger });
    await other.declare(workspace('web', change, { adopt: true }));
    await other.applyAcknowledged();
    await stack.declare(workspace('app'), workspace('zoo'));
    expect(oneLine((await stack.run(['apply', '--yes'], 0)).out)).toContain(`(${named}): it is kept`);
    expect(await bench.idsOf('web')).toHaveLength(1);
  });

  it('is kept if it was renamed', async () => {
    const { bench, stack } = await changedByAnother({});
    await bench.byHand.patch(`/workspaces/${await bench.idOf('web')}`, {
      data: { type: 'workspaces', attributes: { name: 'web-of-other' } },
    });
    await stack.declare(workspace('app'), workspace('zoo'));
    expect(oneLine((await stack.run(['apply', '--yes'], 0)).out)).toContain('(name): it is kept');
    expect(await bench.idsOf('web-of-other')).toHaveLength(1);
  });

  it('is deleted if nothing was changed', async () => {
    const { bench, stack } = await changedByAnother({});
    await stack.declare(workspace('app'), workspace('zoo'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
  });
});
