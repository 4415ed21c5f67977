import { describe, expect, it } from 'vitest';

import { serveForTest } from '../../../support/server/serve-for-test.ts';

describe('A text', () => {
  it.each([
    ['description', 65_536],
    ['working-directory', 65_536],
    ['source-name', 65_536],
    ['engine-version', 255],
  ])('in %s has at most %i characters', async (name, limit) => {
    const api = await serveForTest();
    // Trailing spaces do not change a version.
    const text = (length: number) => (name === 'engine-version' ? '1.5.0' : 'a').padEnd(length, ' ');
    expect((await api.create({ name: 'fits', [name]: text(limit) })).status).toBe(201);
    const answer = await api.create({ name: 'long', [name]: text(limit + 1) });
    expect([answer.status, answer.pointers]).toEqual([422, [`/data/attributes/${name}`]]);
  });

  it('with thousands of constraints is refused because of its length, and is not parsed', async () => {
    const api = await serveForTest();
    const id = await api.created({ name: 'a' });
    const wanted = Array.from({ length: 20_000 }, () => '>= 1.0').join(', ');
    const answer = await api.update(id, { 'engine-version': wanted });
    expect([answer.status, answer.errors.length]).toEqual([422, 1]);
    expect(answer.errors[0]?.detail).toBe('engine-version has at most 255 characters');
  });
});

describe('A working directory', () => {
  it.each(['/', '/envs', '..', '../up', 'a/../../up', './..'])(
    'outside the repository is refused: "%s"',
    async (path) => {
      const api = await serveForTest();
      const answer = await api.create({ name: 'net', 'working-directory': path });
      expect(answer.status).toBe(422);
      expect(answer.pointers).toEqual(['/data/attributes/working-directory']);
    },
  );

  it('may begin with "/" in the dialect hcp-terraform, but must not leave the repository', async () => {
    const api = await serveForTest({ dialects: ['hcp-terraform'] });
    const made = await api.create({ name: 'net', 'working-directory': '/db' });
    expect(made.resource.attributes['working-directory']).toBe('/db');
    expect((await api.update(made.resource.id, { 'working-directory': '../db' })).status).toBe(422);
  });

  it.each(['envs/prod/', '.', './a', 'a/../b', '..a', 'a..b/...'])(
    'inside the repository is stored as it was written: "%s"',
    async (path) => {
      const api = await serveForTest();
      const id = await api.created({ name: 'net', 'working-directory': path });
      expect((await api.attributes(id))['working-directory']).toBe(path);
    },
  );
});
