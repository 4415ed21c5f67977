/** Lists that are outdated or incomplete in one page, one field or the tags: no update may rely on them. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import type { Answer, SeenRequest } from '../../support/cli/faulty-proxy.ts';
import {
  isPage,
  isSingle,
  readWorkspace,
  names,
  openScene,
  inOneLine,
} from '../../support/cli/six-workspaces.ts';

describe('An outdated list', () => {
  /** Makes a change as soon as the first workspace is read alone, after the plan. */
  function onceRead(change: () => Promise<unknown>) {
    let isChanged = false;
    return async (request: SeenRequest) => {
      if (!isSingle(request) || isChanged) return;
      isChanged = true;
      await change();
    };
  }

  it('is not trusted on its outdated page because another page is up to date', async () => {
    const others = Array.from({ length: 100 }, (_, index) => `b-${String(index).padStart(3, '0')}`);
    const bench = await openBench({ organization: { workspaces: others.map((name) => ({ name })) } });
    const stack = await bench.checkout({ spec: { guards: { maxUpdatePercent: 100 } } });
    const documents = (description: string) =>
      ['a-0', 'a-1', 'a-2', 'z-0', 'z-1', 'z-2', 'z-3', 'z-4'].map((name) =>
        workspace(name, { description }),
      );
    await stack.setUp(...documents('old'));
    await stack.declare(...documents('new'));
    const { id } = await readWorkspace(bench, 'z-3');
    const edit = onceRead(() => bench.byHand.update(id, { description: 'by hand' }));
    let cached: Answer | undefined;
    bench.wire.setHandler(async (request, pass) => {
      await edit(request);
      if (!isPage(request) || !/page(%5B|\[)number(%5D|\])=2/.test(request.path)) return pass();
      if (bench.written().length === 8) return pass();
      cached ??= await pass();
      return cached;
    });
    const { out, err } = await stack.run(['apply', '--yes'], 6);
    expect(inOneLine(out + err)).toContain('description changed since the plan was made');
    expect((await readWorkspace(bench, 'z-3')).attributes['description']).toBe('by hand');
  });

  it('is not trusted after a write that changed nothing', async () => {
    const { bench, apply, descriptionOf } = await openScene();
    const [first, id] = [await bench.idOf('a-0'), await bench.idOf('a-3')];
    const edit = onceRead(() => bench.byHand.update(id, { description: 'by hand' }));
    let cached: Answer | undefined;
    bench.wire.setHandler(async (request, pass) => {
      if (request.method === 'PATCH' && request.path.endsWith(first)) {
        const body = JSON.parse(request.text);
        delete body.data.attributes.description;
        return pass(request.path, JSON.stringify(body));
      }
      await edit(request);
      if (!isPage(request) || bench.written().length >= 6) return pass();
      cached ??= await pass();
      return cached;
    });
    await apply(6);
    expect(await descriptionOf('a-3')).toBe('by hand');
  });

  it('is not trusted for one field because another field is up to date', async () => {
    const { bench, stack, descriptionOf } = await openScene();
    const specs = names.map((name) => (name === 'a-0' ? { autoApply: true } : { description: 'new' }));
    await stack.setUp(...names.map((name) => workspace(name, name === 'a-0' ? {} : { description: 'old' })));
    await stack.declare(...names.map((name, index) => workspace(name, specs[index])));
    const id = await bench.idOf('a-3');
    const edit = onceRead(() => bench.byHand.update(id, { description: 'by hand' }));
    bench.wire.setHandler(async (request, pass) => {
      await edit(request);
      const answer = await pass();
      if (!isPage(request) || answer === undefined || bench.written().length >= 6) return answer;
      // Descriptions come from another cache than everything else.
      return {
        ...answer,
        text: answer.text.replaceAll(/"description":"(by hand|new)"/g, '"description":"old"'),
      };
    });
    await stack.run(['apply', '--yes'], 6);
    expect(await descriptionOf('a-3')).toBe('by hand');
  });

  it('is not trusted for tags because the settings of workspaces are up to date', async () => {
    const { bench, stack } = await openScene();
    const documents = (description: string, tags: object) =>
      names.map((name) => workspace(name, { description, tags }));
    await stack.setUp(...documents('old', { env: 'dev' }));
    await stack.declare(...documents('new', { env: 'prod' }));
    const path = `/workspaces/${await bench.idOf('a-3')}/tag-bindings`;
    const attributes = { key: 'env', value: 'by-hand' };
    const edit = onceRead(() => bench.byHand.patch(path, { data: [{ type: 'tag-bindings', attributes }] }));
    let old: { included: unknown; tags: Map<string, unknown> } | undefined;
    bench.wire.setHandler(async (request, pass) => {
      await edit(request);
      const answer = await pass();
      if (!isPage(request) || answer === undefined || bench.written().length >= 12) return answer;
      const body = JSON.parse(answer.text);
      const items: { id: string; relationships: Record<string, unknown> }[] = body.data;
      const tagsOf = (item: (typeof items)[number]) => item.relationships['effective-tag-bindings'];
      old ??= { included: body.included, tags: new Map(items.map((item) => [item.id, tagsOf(item)])) };
      body.included = old.included;
      for (const item of items) item.relationships['effective-tag-bindings'] = old.tags.get(item.id);
      return { ...answer, text: JSON.stringify(body) };
    });
    await stack.run(['apply', '--yes'], 6);
    expect(await bench.tagsOf('a-3')).toMatchObject({ env: 'by-hand' });
  });

  it('is not trusted because it lacks a field that was not set before', async () => {
    const { bench, stack, descriptionOf } = await openScene();
    const documents = (description: string, first: object) =>
      names.map((name) => workspace(name, name === 'a-0' ? first : { description }));
    await stack.setUp(...documents('old', {}));
    await stack.declare(...documents('new', { description: 'first' }));
    const id = await bench.idOf('a-3');
    const edit = onceRead(() => bench.byHand.update(id, { description: 'by hand' }));
    // The service leaves out what is not set.
    const withoutUnset = (answer: Answer | undefined) =>
      answer && { ...answer, text: answer.text.replaceAll(/"description":(null|""),/g, '') };
    let cached: Answer | undefined;
    bench.wire.setHandler(async (request, pass) => {
      await edit(request);
      if (!isPage(request) || bench.written().length >= 6) return withoutUnset(await pass());
      cached ??= withoutUnset(await pass());
      return cached;
    });
    await stack.run(['apply', '--yes'], 6);
    expect(await descriptionOf('a-3')).toBe('by hand');
  });

  it('is not trusted because it shows the declared value from before a drift', async () => {
    const { bench, stack, descriptionOf } = await openScene();
    const documents = (description: string) =>
      names.map((name) => workspace(name, { description: name === 'a-0' ? 'right' : description }));
    await stack.setUp(...documents('old'));
    await stack.declare(...documents('new'));
    let old: Answer | undefined;
    bench.wire.setHandler(async (request, pass) => {
      const answer = await pass();
      if (isPage(request)) old ??= answer;
      return answer;
    });
    await stack.run(['plan'], 0);
    await bench.byHand.update(await bench.idOf('a-0'), { description: 'drift' });
    const [id, before] = [await bench.idOf('a-3'), bench.wire.seen.length];
    const edit = onceRead(() => bench.byHand.update(id, { description: 'by hand' }));
    bench.wire.setHandler(async (request, pass) => {
      await edit(request);
      const pages = bench.wire.seen.slice(before).filter(isPage).length;
      return isPage(request) && pages > 0 && bench.written().length < 6 ? old : pass();
    });
    await stack.run(['apply', '--yes'], 6);
    expect(await descriptionOf('a-3')).toBe('by hand');
  });

  it('does not decide whether a workspace can be destroyed', async () => {
    const { bench, stack } = await openScene();
    const documents = (allowDestroyPlan: boolean) =>
      names.map((name) => workspace(name, { allowDestroyPlan }));
    await stack.setUp(...documents(false));
    await bench.byHand.update(await bench.idOf('a-3'), { 'auto-destroy-at': '2031-01-01T00:00:00.000Z' });
    await stack.declare(...documents(true));
    // Its documents leave out what is not set, and its lists never have `auto-destroy-at`.
    bench.wire.setHandler(async (request, pass) => {
      const answer = await pass();
      if (answer === undefined) return answer;
      const text = answer.text.replaceAll('"auto-destroy-at":null,', '');
      return { ...answer, text: isPage(request) ? text.replaceAll(/"auto-destroy-at":"[^"]*",/g, '') : text };
    });
    const { out, err } = await stack.run(['apply', '--yes'], 6);
    expect(inOneLine(out + err)).toContain('can be destroyed');
    expect((await readWorkspace(bench, 'a-3')).attributes['allow-destroy-plan']).toBe(false);
  });
});
