/**
 * A service that stops answering for parts that it had. trueup keeps their records, because the granted access may still
 * be there.
 */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { lacking } from '../../support/simulation/limited-service.ts';

const notFound = { answer: 404, body: { errors: [{ status: '404', title: 'not found' }] } };
const consumersOf = (id: string) => new RegExp(`/workspaces/${id}/relationships/remote-state-consumers`);

describe('Remote state consumers that the service stops returning', () => {
  it('stay recorded if this stack added them, and are removed when they are seen again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { remoteStateConsumers: ['web'] }), workspace('web'));
    await stack.declare(workspace('app'), workspace('web'));
    bench.wire.setHandler(lacking('consumers'));
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('The read was incomplete');
    expect(out).not.toContain('the service has no remote state consumers');
    bench.wire.setHandler(undefined);
    await stack.applyAcknowledged();
    const { resources } = await bench.byHand.get(
      `/workspaces/${await bench.idOf('app')}/relationships/remote-state-consumers`,
    );
    expect(resources).toEqual([]);
  });

  it('are reported as workspaces that may still read, with a fix if they never come back', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(
      workspace('app', { remoteStateConsumers: ['web', 'db'] }),
      workspace('web'),
      workspace('db'),
    );
    await stack.declare(workspace('app'), workspace('web'), workspace('db'));
    bench.wire.setHandler(lacking('consumers'));
    const { out } = await stack.run(['plan'], 1);
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /by the ledger, "db", "web" may still read its state; .* move the ledger away and run "trueup recover"/,
    );
    await rename(join(stack.directory, '.trueup'), join(stack.directory, 'away'));
    await stack.run(['recover', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('db')).toEqual([]);
  });

  it('of one workspace do not mean that the service lacks them: the workspace is not deleted', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('db'), workspace('web'));
    await stack.declare(workspace('web'));
    const path = consumersOf(await bench.idOf('db'));
    bench.wire.add({ method: 'GET', path, times: 99, fault: notFound });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('the remote state consumers of workspace "db" were not all read');
    expect(await bench.idsOf('db')).toHaveLength(1);
  });

  it('of the only workspace are requested twice', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'x' }));
    await stack.declare(workspace('app', { description: 'x', remoteStateConsumers: [] }));
    bench.wire.add({ method: 'GET', path: /remote-state-consumers/, times: 1, fault: notFound });
    const { out } = await stack.run(['plan'], 1);
    expect(out).not.toContain('the service has no remote state consumers');
  });
});

describe('Tags that the service stops returning, with "ownership: ledger"', () => {
  it('stay recorded, and are removed when they are seen again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { ownership: 'ledger' } });
    await stack.setUp(workspace('app', { tags: { env: 'prod' } }), workspace('web'));
    await stack.declare(workspace('app'), workspace('web'));
    bench.wire.setHandler(lacking('tag-bindings'));
    await stack.run(['apply', '--yes'], 0);
    expect(Object.keys((await stack.ledger()).records)).toContain('TagBindings/acme/app');
    bench.wire.setHandler(undefined);
    await stack.applyAcknowledged();
    expect(await bench.tagsOf('app')).toEqual({});
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('Tags that the service finds by its filter, and answers 404 for', () => {
  it.each([{}, { ownership: 'ledger' }])(
    'leave the workspace as it is, and the report says what to do: %j',
    async (workspaces) => {
      const bench = await openBench();
      const owner = await bench.checkout({ name: 'owner' });
      await owner.setUp(workspace('app'));
      const limited = lacking('included-tags');
      bench.wire.setHandler(async (request, pass) =>
        request.path.endsWith('/tag-bindings')
          ? { status: 404, headers: { 'content-type': 'text/plain' }, text: 'not found' }
          : limited(request, pass),
      );
      const stack = await bench.checkout({ workspaces });
      await stack.declare(workspace('app', { description: 'theirs' }, { adopt: true }));
      const { out } = await stack.run(['apply', '--yes'], 1);
      expect(out.replace(/\s+/g, ' ')).toContain(
        'the service has tag bindings, so the workspace was deleted after it was listed, or this token may not read them: plan again, or let the token read them',
      );
      expect((await bench.byHand.attributes(await bench.idOf('app')))['description']).not.toBe('theirs');
    },
  );
});
