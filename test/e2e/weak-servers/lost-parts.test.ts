/**
 * A service that does not answer for parts that it had (rule 48): nothing is forgotten because of it, for what was granted may still
 * stand behind it.
 */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { lacking } from '../../support/weak/weak-service.ts';

const notFound = { answer: 404, body: { errors: [{ status: '404', title: 'not found' }] } };
const consumersOf = (id: string) => new RegExp(`/workspaces/${id}/relationships/remote-state-consumers`);

describe('Consumers that the service does not answer', () => {
  it('stay recorded where this stack added them, and are taken back once they are seen again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { remoteStateConsumers: ['web'] }), workspace('web'));
    await stack.declare(workspace('app'), workspace('web'));
    bench.wire.guardBy(lacking('consumers'));
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('The look was incomplete');
    expect(out).not.toContain('the service has no remote state consumers');
    bench.wire.guardBy(undefined);
    await stack.insist();
    const { resources } = await bench.byHand.get(
      `/workspaces/${await bench.idOf('app')}/relationships/remote-state-consumers`,
    );
    expect(resources).toEqual([]);
  });

  it('of one workspace are no lack of the service: nothing is deleted that somebody may read', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('db'), workspace('web'));
    await stack.declare(workspace('web'));
    const path = consumersOf(await bench.idOf('db'));
    bench.wire.add({ method: 'GET', path, times: 99, fault: notFound });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('the remote state consumers of workspace "db" were not all read');
    expect(await bench.idsOf('db')).toHaveLength(1);
  });

  it('of the only workspace are asked for twice', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { description: 'x' }));
    await stack.declare(workspace('app', { description: 'x', remoteStateConsumers: [] }));
    bench.wire.add({ method: 'GET', path: /remote-state-consumers/, times: 1, fault: notFound });
    const { out } = await stack.run(['plan'], 1);
    expect(out).not.toContain('the service has no remote state consumers');
  });
});

describe('Tags that the service does not answer any more, by ledger', () => {
  it('stay recorded, and are taken back once they are seen again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { ownership: 'ledger' } });
    await stack.begin(workspace('app', { tags: { env: 'prod' } }), workspace('web'));
    await stack.declare(workspace('app'), workspace('web'));
    bench.wire.guardBy(lacking('tag-bindings'));
    await stack.run(['apply', '--yes'], 0);
    expect(Object.keys((await stack.ledger()).records)).toContain('TagBindings/acme/app');
    bench.wire.guardBy(undefined);
    await stack.insist();
    expect(await bench.tagsOf('app')).toEqual({});
    await stack.run(['plan', '--exit-code'], 0);
  });
});
