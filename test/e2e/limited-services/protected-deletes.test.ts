/** Protection from a delete is checked on the workspace itself: what others lack, or what a document shows, proves nothing. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import type { Answer } from '../../support/cli/faulty-proxy.ts';
import { saveState } from '../../support/cli/save-state.ts';
import { lacking } from '../../support/simulation/limited-service.ts';

const missing: Answer = {
  status: 404,
  headers: { 'content-type': 'application/json' },
  text: '{"errors":[{"status":"404","title":"not found"}]}',
};

/** An answer whose workspaces show neither resources nor a state. */
function withoutState(text: string): string {
  const body = JSON.parse(text);
  for (const one of [body.data].flat())
    if (one?.type === 'workspaces') {
      one.attributes['resource-count'] = 0;
      one.relationships['current-state-version'] = { data: null };
    }
  return JSON.stringify(body);
}

/** Expects that the workspace stays: the plan keeps it, or its delete is not sent. @returns the output */
async function expectKept(bench: Bench, stack: Checkout, name: string): Promise<string> {
  await stack.declare(workspace('app'));
  const { out, err } = await stack.tryRun(['apply', '--yes']);
  expect(await bench.idsOf(name), out + err).toHaveLength(1);
  return (out + err).replaceAll(/\s+/g, ' ');
}

describe('A workspace', () => {
  it('that another stack owns is kept, although tags of other workspaces are answered with 404', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'aa-0' }, { name: 'aa-1' }] } });
    const hidden = [await bench.idOf('aa-0'), await bench.idOf('aa-1')];
    const limited = lacking('tag-filter');
    bench.wire.setHandler(async (request, pass) =>
      request.path.includes('tag-bindings') && hidden.some((id) => request.path.includes(`/${id}/`))
        ? missing
        : limited(request, pass),
    );
    const stack = await bench.checkout({ workspaces: { ownership: 'ledger' } });
    await stack.setUp(workspace('app'), workspace('web'));
    await bench.byHand.patch(`/workspaces/${await bench.idOf('web')}/tag-bindings`, {
      data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'other' } }],
    });
    expect(await expectKept(bench, stack, 'web')).toContain('its ownership tag changed');
  });

  it('that has consumers is kept, although those of eleven others are answered with 404', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'reader' }] } });
    const guards = { maxDeletes: 100, maxDeletePercent: 100 };
    const stack = await bench.checkout({ spec: { guards } });
    const names = Array.from({ length: 12 }, (_, index) => `d-${String(index).padStart(2, '0')}`);
    await stack.setUp(workspace('app'), ...names.map((name) => workspace(name)));
    const last = await bench.idOf('d-11');
    await bench.byHand.post(`/workspaces/${last}/relationships/remote-state-consumers`, {
      data: [{ type: 'workspaces', id: await bench.idOf('reader') }],
    });
    bench.wire.setHandler(async (request, pass) =>
      request.path.includes('remote-state-consumers') && !request.path.includes(`/${last}/`)
        ? missing
        : pass(),
    );
    await expectKept(bench, stack, 'd-11');
  });

  it('that has a state is kept, although its document and the list of states show none', async () => {
    const bench = await openBench();
    const limited = lacking('safe-delete');
    bench.wire.setHandler(async (request, pass) => {
      const answer = await limited(request, pass);
      if (answer?.status !== 200) return answer;
      if (request.path.includes('/state-versions?'))
        return { ...answer, text: '{"data":[],"meta":{"pagination":{"total-count":0,"total-pages":1}}}' };
      const isShown = answer.text !== '' && request.path.includes('/workspaces');
      return isShown ? { ...answer, text: withoutState(answer.text) } : answer;
    });
    const stack = await bench.checkout({ workspaces: { deletes: 'plain' } });
    await stack.setUp(workspace('app'), workspace('web'));
    await saveState(bench.byHand, await bench.idOf('web'), { instances: 2 });
    expect(await expectKept(bench, stack, 'web')).toContain('its current state contains resources');
  });
});
