/** The id of a project that does not exist is an error of the plan, if this is certain. */
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { openNames } from '../../support/cli/names-scene.ts';

const flat = (text: string) => text.replace(/\s+/g, ' ');
const byId = /\/projects\/prj-payments/;
const list = /\/acme\/projects\?/;

async function openDeleted() {
  const scene = await openNames();
  await scene.bench.byHand.delete('/projects/prj-payments');
  await scene.stack.declare(workspace('app', { projectId: 'prj-payments' }));
  scene.bench.wire.reset();
  return scene;
}

describe('The id of a project that somebody deleted', () => {
  it('is an error of the plan, and nothing is created', async () => {
    const { bench, stack } = await openDeleted();
    const { out, err } = await stack.run(['plan'], 7);
    expect(flat(out + err)).toContain('the organization "acme" has no project "prj-payments"');
    await stack.run(['apply', '--yes'], 7);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is an error as well for a workspace that would move there', async () => {
    const { bench, stack } = await openDeleted();
    await stack.setUp(workspace('app', { projectId: 'prj-network' }));
    await stack.declare(workspace('app', { projectId: 'prj-payments' }));
    await stack.run(['apply', '--yes'], 7);
    expect(bench.wire.writes()).toEqual([]);
  });

  it.each([
    ['may not list projects', { path: list, fault: { answer: 403 } }],
    ['may not read the project', { path: byId, fault: { answer: 403 } }],
    [
      'sees no project at all',
      { path: list, fault: { rewrite: () => ({ data: [], meta: { pagination: { 'total-count': 0 } } }) } },
    ],
  ])('is sent to the service if the token %s', async (_, fault) => {
    const { bench, stack } = await openDeleted();
    bench.wire.add({ method: 'GET', times: 99, ...fault });
    const { changes } = await stack.plan(0);
    expect(changes).toMatchObject([{ action: 'create', name: 'app' }]);
  });
});
