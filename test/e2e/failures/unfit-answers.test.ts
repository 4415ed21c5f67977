/** Answers that no service should give are clear errors, and nothing is written because of them. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

/** All answers to reads, with their text changed. */
async function withAnswers(change: (text: string) => string) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(workspace('app', { description: 'mine' }), workspace('web'));
  await stack.declare(workspace('app', { description: 'mine' }));
  bench.wire.guardBy(async (request, pass) => {
    const answer = await pass();
    return request.method === 'GET' ? { ...answer, text: change(answer.text) } : answer;
  });
  return { bench, stack };
}

describe('An answer that cannot be right', () => {
  it('names a row of another organization in a list, and nothing of the list is used', async () => {
    const { bench, stack } = await withAnswers((text) =>
      text.replace('"organization":{"data":{"id":"acme"', '"organization":{"data":{"id":"other"'),
    );
    const { out, err } = await stack.run(['apply', '--yes'], 1);
    expect(oneLine(out + err)).toMatch(
      /the list of workspaces of organization "acme" holds "\w+" of organization "other", so none of it is used/,
    );
    expect(bench.written()).toEqual([]);
  });

  it('names an attribute of another form, and the workspace is left as it is', async () => {
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

  it('names an encoding that was not asked for', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.guardBy(async (_, pass) => {
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

  it('is an empty list of an organization that does not exist', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { organization: 'nowhere' } });
    await stack.declare(workspace('app'));
    bench.wire.guardBy(async (request, pass) =>
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
  it('is named by where it comes from', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { token: { file: 'token.txt' } } });
    await stack.write('token.txt', 'no-such-token-71c2');
    await stack.declare(workspace('app'));
    const { out, err } = await stack.run(['plan'], 1);
    expect(oneLine(out + err)).toMatch(/answered 401.*the token comes from the file "token.txt"/);
    expect(out + err).not.toContain('no-such-token-71c2');
  });
});
