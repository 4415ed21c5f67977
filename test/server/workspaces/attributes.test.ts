// Every attribute of requests that follows the same four rules: its default, its value in a create, its value after an update
// without it, and the values that are refused.

import { describe, expect, it } from 'vitest';

import { serveForTest } from '../../support/server/serve-for-test.ts';

interface AttributeRules {
  readonly name: string;
  readonly byDefault: unknown;
  /** Another value that a request may send. */
  readonly other: unknown;
  readonly wrong: readonly unknown[];
  /** Its value after an update without it, if such an update changes it. */
  readonly afterOmission?: unknown;
}

const NOT_BOOLEANS = ['yes', null, 1, [true]];
const NOT_LISTS = ['x', [1], {}, [['x']]];

const ATTRIBUTES: readonly AttributeRules[] = [
  { name: 'allow-destroy-plan', byDefault: true, other: false, wrong: NOT_BOOLEANS },
  { name: 'assessments-enabled', byDefault: false, other: true, wrong: NOT_BOOLEANS, afterOmission: false },
  { name: 'auto-apply', byDefault: false, other: true, wrong: NOT_BOOLEANS },
  { name: 'auto-apply-run-trigger', byDefault: false, other: true, wrong: NOT_BOOLEANS },
  { name: 'file-triggers-enabled', byDefault: true, other: false, wrong: NOT_BOOLEANS },
  { name: 'global-remote-state', byDefault: false, other: true, wrong: NOT_BOOLEANS },
  { name: 'queue-all-runs', byDefault: false, other: true, wrong: NOT_BOOLEANS },
  { name: 'speculative-enabled', byDefault: true, other: false, wrong: NOT_BOOLEANS },
  { name: 'structured-run-output-enabled', byDefault: true, other: false, wrong: NOT_BOOLEANS },
  { name: 'description', byDefault: null, other: 'What it is for', wrong: [5, true, ['x'], {}] },
  { name: 'working-directory', byDefault: null, other: 'envs/prod', wrong: [5, true, ['x'], {}] },
  { name: 'trigger-patterns', byDefault: [], other: ['/**/networking/*.tf', '/base/*'], wrong: NOT_LISTS },
  { name: 'trigger-prefixes', byDefault: [], other: ['modules', 'base'], wrong: NOT_LISTS },
];

describe('an attribute of a request', () => {
  it.each(ATTRIBUTES)('has its default after a create without it: $name', async ({ name, byDefault }) => {
    const api = await serveForTest();
    const created = await api.create({ name: 'a' });
    expect(created.resource.attributes[name]).toEqual(byDefault);
    expect((await api.attributes(created.resource.id))[name]).toEqual(byDefault);
  });

  it.each(ATTRIBUTES)('has the value of a create: $name', async ({ name, other }) => {
    const api = await serveForTest();
    const created = await api.create({ name: 'a', [name]: other });
    expect(created.status).toBe(201);
    expect(created.resource.attributes[name]).toEqual(other);
    expect((await api.attributes(created.resource.id))[name]).toEqual(other);
  });

  it.each(ATTRIBUTES)('has the value of an update: $name', async ({ name, byDefault, other }) => {
    const api = await serveForTest();
    const id = await api.created({ name: 'a' });
    expect((await api.update(id, { [name]: other })).resource.attributes[name]).toEqual(other);
    expect((await api.update(id, { [name]: byDefault })).resource.attributes[name]).toEqual(byDefault);
    expect((await api.attributes(id))[name]).toEqual(byDefault);
  });

  it.each(ATTRIBUTES)('has the specified value after an update without it: $name', async (rules) => {
    const { name, other, afterOmission = other } = rules;
    const api = await serveForTest();
    const id = await api.created({ name: 'a', [name]: other });
    expect((await api.update(id, { 'source-name': 'nothing' })).status).toBe(200);
    expect((await api.attributes(id))[name]).toEqual(afterOmission);
  });

  it.each(ATTRIBUTES)('is refused with an invalid value, on create and on update: $name', async (rules) => {
    const { name, byDefault, wrong } = rules;
    const api = await serveForTest();
    const id = await api.created({ name: 'a' });
    for (const value of wrong) {
      for (const answer of [
        await api.create({ name: 'b', [name]: value }),
        await api.update(id, { [name]: value }),
      ]) {
        expect(answer.status, JSON.stringify(value)).toBe(422);
        expect(answer.pointers).toEqual([`/data/attributes/${name}`]);
      }
    }
    expect((await api.attributes(id))[name]).toEqual(byDefault);
    expect((await api.get('/organizations/acme/workspaces')).names).toEqual(['a']);
  });
});

describe('the name', () => {
  it.each([null, 5, true, ['a'], {}])('cannot be %j', async (name) => {
    const api = await serveForTest();
    const id = await api.created({ name: 'a' });
    expect((await api.create({ name })).status).toBe(422);
    expect((await api.update(id, { name })).status).toBe(422);
    expect((await api.attributes(id))['name']).toBe('a');
  });

  it('is kept by an update without it', async () => {
    const api = await serveForTest();
    const id = await api.created({ name: 'a' });
    expect((await api.update(id, { description: 'x' })).resource.attributes['name']).toBe('a');
  });
});

it('keeps the engine version after an update without it', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'engine-version': '~> 1.5.0' });
  await api.update(id, { description: 'x' });
  expect((await api.attributes(id))['engine-version']).toBe('~> 1.5.0');
});

it('keeps the mode, the operations and the repository after an update without them', async () => {
  const api = await serveForTest();
  const repo = { identifier: 'acme/net', 'oauth-token-id': 'ot-git', branch: 'main', 'tags-regex': null };
  const id = await api.created({ name: 'a', 'execution-mode': 'local', 'vcs-repo': repo });
  const before = await api.attributes(id);
  await api.update(id, { description: 'x' });
  const { description: _a, 'updated-at': _b, 'latest-change-at': _c, ...after } = await api.attributes(id);
  expect(before).toMatchObject(after);
  expect(after).toMatchObject({
    'execution-mode': 'local',
    operations: false,
    'vcs-repo': { branch: 'main' },
  });
});

it('accepts the source of a workspace only on create', async () => {
  const api = await serveForTest();
  const source = { 'source-name': 'pipeline', 'source-url': 'https://example.com' };
  const id = await api.created({ name: 'a', ...source });
  await api.update(id, { 'source-name': 'other', 'source-url': null });
  expect(await api.attributes(id)).toMatchObject(source);
});
