/** Answers that no service should give are clear errors, and nothing is written because of them. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

/** A stack whose reads are answered with changed texts. */
async function withAnswers(change: (text: string) => string) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { description: 'mine' }), workspace('web'));
  await stack.declare(workspace('app', { description: 'mine' }));
  bench.wire.setHandler(async (request, pass) => {
    const answer = await pass();
    return request.method === 'GET' ? { ...answer, text: change(answer.text) } : answer;
  });
  return { bench, stack };
}

describe('trueup reports', () => {
  it('a list with a row of another organization, and uses nothing of the list', async () => {
    const { bench, stack } = await withAnswers((text) =>
      text.replace('"organization":{"data":{"id":"acme"', '"organization":{"data":{"id":"other"'),
    );
    const { out, err } = await stack.run(['apply', '--yes'], 1);
    expect(oneLine(out + err)).toMatch(
      /the list of workspaces of organization "acme" holds "\w+" of organization "other", so none of it is used/,
    );
    expect(bench.written()).toEqual([]);
  });

  it('an attribute of the wrong type, and does not change the workspace', async () => {
    const { bench, stack } = await withAnswers((text) =>
      text.replaceAll('"description":"mine"', '"description":{"x":1}'),
    );
    const { out, err } = await stack.run(['apply', '--yes'], 1);
    expect(oneLine(out + err)).toContain(
      'the workspace "app" was not understood: its "description" is of type object, not text',
    );
    expect(out + err).not.toContain('[object Object]');
    expect(bench.written()).toEqual([]);
  });

  const repository = { identifier: 'acme/app', oauthTokenId: 'ot-git', branch: 'main' };
  it.each<[string, unknown, object, object]>([
    ['trigger-patterns', [{ a: 'odd' }], { triggerPatterns: ['x/**'] }, { triggerPatterns: ['y/**'] }],
    ['trigger-prefixes', [1], { triggerPrefixes: ['x'] }, { triggerPrefixes: ['y'] }],
    ['tag-names', [{ a: 'odd' }, 'a'], { tagNames: ['a'] }, { tagNames: ['b'] }],
    [
      'vcs-repo',
      { branch: { a: 'odd' } },
      { vcsRepo: repository },
      { vcsRepo: { ...repository, branch: 'next' } },
    ],
  ])(
    'a part of "%s" of the wrong type, and does not change the workspace',
    async (name, odd, before, after) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('app', before), workspace('web'));
      await stack.declare(workspace('app', after), workspace('web'));
      bench.wire.setHandler(async ({ method }, pass) => {
        const answer = await pass();
        const withOdd = (key: string, value: unknown) => (key === name ? odd : value);
        const text = method === 'GET' ? JSON.stringify(JSON.parse(answer.text, withOdd)) : answer.text;
        return { ...answer, text };
      });
      const { out, err } = await stack.run(['apply', '--yes'], 1);
      expect(oneLine(out + err)).toContain(`its "${name}" holds a value of type`);
      expect(bench.written()).toEqual([]);
    },
  );

  it('a read by id that is answered with another workspace, and deletes nothing', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'), workspace('app'));
    const [app, stays] = [await bench.idOf('app'), await bench.idOf('stays')];
    await stack.declare(workspace('stays'));
    bench.wire.setHandler(async ({ method, path }, pass) => {
      if (method !== 'GET' || !path.includes(`/workspaces/${app}`)) return pass();
      // Another user takes the workspace over.
      await bench.byHand.patch(`/workspaces/${app}`, {
        data: { type: 'workspaces', attributes: {}, relationships: { 'tag-bindings': { data: [] } } },
      });
      return pass(path.replace(app, stays));
    });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(oneLine(out)).toMatch(/answered 200 with the workspace "stays" \(ws-\w+\)/);
    expect(bench.written()).toEqual([]);
  });

  it('an answer in an encoding that was not requested', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.setHandler(async (_, pass) => {
      const answer = await pass();
      return {
        ...answer,
        headers: { ...answer.headers, 'content-encoding': 'gzip' },
        text: '\u001f\u008b\u0008 not JSON',
      };
    });
    const { out, err } = await stack.run(['plan'], 1);
    expect(oneLine(out + err)).toContain(
      'with a body in the encoding "gzip", which was not requested and is not supported',
    );
  });

  it('an empty list of an organization that does not exist', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { organization: 'nowhere' } });
    await stack.declare(workspace('app'));
    bench.wire.setHandler(async (request, pass) =>
      /\/organizations\/nowhere\/workspaces/.test(request.path)
        ? { status: 200, headers: { 'content-type': 'application/json' }, text: '{"data":[]}' }
        : pass(),
    );
    const { out, err } = await stack.run(['apply', '--yes'], 1);
    expect(oneLine(out + err)).toContain('there is no organization "nowhere", or this token cannot see it');
    expect(bench.written()).toEqual([]);
  });
});

describe('A token that is refused', () => {
  it('is reported with the place where it comes from', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { token: { file: 'token.txt' } } });
    await stack.write('token.txt', 'no-such-token-71c2');
    await stack.declare(workspace('app'));
    const { out, err } = await stack.run(['plan'], 1);
    expect(oneLine(out + err)).toMatch(/answered 401.*the token comes from the file "token.txt"/);
    expect(out + err).not.toContain('no-such-token-71c2');
  });
});
