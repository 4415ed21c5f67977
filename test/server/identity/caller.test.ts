import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../../src/server/kernel/database.ts';
import { authenticateBearer } from '../../../src/server/kernel/caller.ts';
import { applySeed } from '../../../src/server/seed/apply-seed.ts';
import { SEED, seedWith } from '../../support/server/serve-for-test.ts';

const NOON = new Date('2026-01-01T12:00:00Z');

function open(seed = SEED): Database {
  const database = Database.open(':memory:');
  onTestFinished(() => database.close());
  applySeed(database, seed, NOON);
  return database;
}

it('identifies no caller without a token that is in the database', () => {
  const database = open();
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer unknown',
    'ann',
    'Basic ann',
    'Bearer ann x',
  ]) {
    expect(authenticateBearer(database, header, NOON), header).toBeUndefined();
  }
});

it('accepts a token until it expires', () => {
  const database = open();
  database.run('UPDATE api_tokens SET expires_at = :later', { later: '2026-01-01T13:00:00.000Z' });
  expect(authenticateBearer(database, 'Bearer ann', NOON)?.username).toBe('ann');
  expect(authenticateBearer(database, 'Bearer ann', new Date('2026-01-01T13:00:00Z'))).toBeUndefined();
});

it('gives a user the rights of all its teams, and a member without teams no rights', () => {
  const teams = [
    { name: 'one', members: ['bob'], 'read-workspaces': true },
    { name: 'two', members: ['bob'], 'manage-projects': true },
  ];
  const database = open(seedWith({ teams, members: ['eve'] }));
  const rightsOf = (token: string) => {
    const caller = authenticateBearer(database, `Bearer ${token}`, NOON);
    const acme = database.get<{ id: string }>("SELECT id FROM organizations WHERE name = 'acme'")?.id ?? '';
    return caller?.organizations.get(acme);
  };
  expect(rightsOf('bob')).toEqual({
    owner: false,
    administer: false,
    manageWorkspaces: false,
    readWorkspaces: true,
    manageProjects: true,
  });
  expect(rightsOf('eve')).toEqual({
    owner: false,
    administer: false,
    manageWorkspaces: false,
    readWorkspaces: false,
    manageProjects: false,
  });
});

it('lets a team`s token act as the team, and other tokens as users', () => {
  const database = open();
  const actsAs = (token: string) => authenticateBearer(database, `Bearer ${token}`, NOON)?.actsAs.type;
  expect(['ann', 'managers', 'acme-organization'].map(actsAs)).toEqual(['users', 'teams', 'users']);
});
