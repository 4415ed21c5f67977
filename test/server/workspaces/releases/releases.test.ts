import { describe, expect, it, onTestFinished } from 'vitest';

import { Database } from '../../../../src/server/kernel/database.ts';
import { chooseDialects } from '../../../../src/server/kernel/dialects.ts';
import { applySeed } from '../../../../src/server/seed/apply-seed.ts';
import { engineVersionProblem, releaseForRuns } from '../../../../src/server/workspaces/engine-releases.ts';
import { SEED, serveForTest } from '../../../support/server/serve-for-test.ts';

function openWith(...releases: string[]): Database {
  const database = Database.open(':memory:');
  onTestFinished(() => database.close());
  applySeed(database, { releases }, new Date());
  return database;
}

describe('A requested engine version', () => {
  it.each(['99.99.99', '1.9.99', '~> 99.0', '> 0.12, < 0.12.1', '>= 1.12.0', '1.11.9'])(
    'must be a release or match one: "%s" is refused',
    async (version) => {
      const api = await serveForTest();
      const answer = await api.create({ name: 'net', 'engine-version': version });
      expect(answer.status).toBe(422);
      expect(answer.pointers).toEqual(['/data/attributes/engine-version']);
      expect(answer.errors[0]?.detail).toContain(version);
    },
  );

  it('may be of every minor version from 0.7 on', async () => {
    const api = await serveForTest();
    const id = await api.created({ name: 'net' });
    const lines = ['0.7.13', '0.8.8', '0.9.11', '0.10.0', '0.11.0', '0.12.31', '0.13.7', '0.14.11', '0.15.5'];
    for (const version of [...lines, ...Array.from({ length: 12 }, (_, minor) => `1.${minor}.0`)]) {
      expect((await api.update(id, { 'engine-version': version })).status, version).toBe(200);
    }
  });

  it.each(['1.5.0-beta1', '1.1.0-rc1', '0.12.0-alpha1', '1.11.0-rc3'])(
    'may be the pre-release %s, which no constraint selects',
    async (version) => {
      const api = await serveForTest();
      expect((await api.create({ name: 'net', 'engine-version': version })).status).toBe(201);
      expect((await api.create({ name: 'two', 'engine-version': `${version}9` })).status).toBe(422);
      expect(releaseForRuns(openWith(), `<= ${version.replace(/-.*/, '')}`)).not.toContain('-');
    },
  );

  it('may be a release of the seed, which becomes the newest one', async () => {
    const api = await serveForTest({ seed: { ...SEED, releases: ['1.12.0', '1.13.0-beta1'] } });
    expect((await api.create({ name: 'a', 'engine-version': '~> 1.12.0' })).status).toBe(201);
    const latest = await api.create({ name: 'b' });
    expect(latest.resource.attributes['engine-version']).toBe('1.12.0');
    expect((await api.create({ name: 'c', 'engine-version': '1.13.0-beta1' })).status).toBe(201);
  });

  it('newer than every release is accepted in some dialects, if it is exact', () => {
    const database = openWith();
    const neutral = chooseDialects([]).workspaces;
    const isAccepted = (version: string) =>
      engineVersionProblem(database, { ...neutral, takesNewerEngines: true }, version) === undefined;
    expect(['1.11.5', '2.0.0', '1.12.0-beta1'].filter(isAccepted)).toEqual([
      '1.11.5',
      '2.0.0',
      '1.12.0-beta1',
    ]);
    expect(['1.9.99', '~> 2.0.0', '2.0', '0.10.99', 'newest'].filter(isAccepted)).toEqual([]);
  });
});

describe('Runs use', () => {
  it.each([
    ['1.9.8', '1.9.8'],
    ['~> 1.9.0', '1.9.8'],
    ['>= 1.2, < 1.5', '1.4.7'],
    ['latest', '1.11.4'],
    ['2.0.0', '2.0.0'],
  ])('for "%s" the release %s', (wanted, expected) => {
    expect(releaseForRuns(openWith(), wanted)).toBe(expected);
  });

  it('a release that was added after the version was set', () => {
    const database = openWith('1.11.9', '1.12.0-rc1');
    expect(releaseForRuns(database, '~> 1.11.0')).toBe('1.11.9');
    expect(releaseForRuns(database, 'latest')).toBe('1.11.9');
  });

  it('a release that is added while the service runs', () => {
    const database = openWith('1.11.9');
    expect(releaseForRuns(database, 'latest')).toBe('1.11.9');
    applySeed(database, { releases: ['1.12.0'] }, new Date());
    expect(releaseForRuns(database, 'latest')).toBe('1.12.0');
  });
});
