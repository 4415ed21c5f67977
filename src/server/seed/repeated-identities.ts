/**
 * What a seed has twice: names, ids, tokens, serials that can be of one thing only.
 * Invariant: of two with one identity one would be lost, or take the other's place, without a word; so both are kept out.
 * A token is a secret, and told by its places alone.
 */
import { tokensOf } from './seed-context.ts';
import { serialAt, stateVersionsOf } from './seed-workspace-records.ts';
import type { NamedSeed, OrganizationSeed, Seed, TokenSeed, WorkspaceSeed } from './seed.ts';

/** By what something is known, among all that are of the same scope. */
interface Identity {
  /** where it stands in the seed */
  readonly at: string;
  readonly scope: readonly string[];
  readonly what: 'name' | 'username' | 'id' | 'key' | 'serial' | 'token';
  readonly value: string | number;
}

/** One line for each thing of a seed that has the identity of one before it. */
export function repeatedIdentities(given: Seed): string[] {
  const places = new Map<string, string>();
  return identitiesOf(given).flatMap(({ at, scope, what, value }) => {
    const identity = JSON.stringify([...scope, what, value]);
    const known = places.get(identity);
    if (known === undefined) {
      places.set(identity, at);
      return [];
    }
    const told = what === 'token' ? `token of ${known}` : `${what} ${JSON.stringify(value)}`;
    return [`${at} repeats the ${told}`];
  });
}

function identitiesOf(given: Seed): Identity[] {
  const organizations = given.organizations ?? [];
  return [
    ...placed('users', given.users).map(({ at, each }) => one(at, 'username', each.username, ['users'])),
    ...placed('organizations', organizations).flatMap(({ at, each }) => ofOrganization(each, at)),
    // names of policies are kept in lower case
    ...placed('policies', given.policies).map(({ at, each }) =>
      one(at, 'name', each.name.toLowerCase(), ['policies']),
    ),
    ...tokens(given),
  ];
}

function one(at: string, what: Identity['what'], value: string | number, scope: readonly string[]): Identity {
  return { at, what, value, scope };
}

const WITH_IDS = [
  'projects',
  'agent-pools',
  'ssh-keys',
  'oauth-tokens',
  'vcs-app-installations',
  'workspaces',
] as const;

/** Names are of one organization, ids of the whole seed. */
function ofOrganization(seed: OrganizationSeed, at: string): Identity[] {
  const named = (kind: string) => [kind, seed.name];
  return [
    one(at, 'name', seed.name, ['organizations']),
    ...WITH_IDS.flatMap((kind) =>
      placed<Partial<NamedSeed>>(`${at}.${kind}`, seed[kind]).flatMap(({ at: place, each: { name, id } }) => {
        // the name of a connection is what people call it; its id is all that counts
        const isNamed = kind !== 'oauth-tokens' && kind !== 'vcs-app-installations';
        return [
          ...(isNamed && name !== undefined ? [one(place, 'name', name, named(kind))] : []),
          ...(id === undefined ? [] : [one(place, 'id', id, [kind])]),
        ];
      }),
    ),
    ...placed(`${at}.teams`, seed.teams).map((team) => one(team.at, 'name', team.each.name, named('teams'))),
    ...placed(`${at}.workspaces`, seed.workspaces).flatMap((place) => ofWorkspace(place.each, place.at)),
  ];
}

function ofWorkspace(seed: WorkspaceSeed, at: string): Identity[] {
  const listed = seed['state-versions']?.length ?? 0;
  return [
    ...placed(`${at}.vars`, seed.vars).map(({ at: place, each }) =>
      one(place, 'key', each.key, [at, each.category ?? 'engine']),
    ),
    ...stateVersionsOf(seed).map((version, index) => {
      const place = index < listed ? `state-versions[${index}]` : 'intermediate-state-version';
      return one(`${at}.${place}`, 'serial', serialAt(version, index), [at]);
    }),
    ...placed(`${at}.state-versions`, seed['state-versions']).flatMap((version) =>
      placed(`${version.at}.outputs`, version.each.outputs).map((output) =>
        one(output.at, 'name', output.each.name, [version.at]),
      ),
    ),
  ];
}

/** Of every sort: who sends a token is known by nothing else. */
function tokens(given: Seed): Identity[] {
  const organizations = placed('organizations', given.organizations);
  const holders: readonly Placed<Parameters<typeof tokensOf>[0]>[] = [
    ...placed('users', given.users),
    ...organizations,
    ...organizations.flatMap(({ at, each }) => placed(`${at}.teams`, each.teams)),
    ...placed('service-tokens', given['service-tokens']),
  ];
  const forTrails = organizations.flatMap(({ at, each }) => {
    const token = each['audit-trails-token'];
    return token === undefined ? [] : [one(`${at}.audit-trails-token`, 'token', token, ['tokens'])];
  });
  const ofHolders = holders.flatMap(({ at, each }) => {
    const first = each.token === undefined ? 0 : 1;
    return tokensOf(each).map(({ token }: TokenSeed, index) =>
      one(index < first ? at : `${at}.tokens[${index - first}]`, 'token', token, ['tokens']),
    );
  });
  return [...ofHolders, ...forTrails];
}

interface Placed<T> {
  readonly at: string;
  readonly each: T;
}

/** Each of a list with where it stands. */
function placed<T>(list: string, entries: readonly T[] | undefined): Placed<T>[] {
  return (entries ?? []).map((each, index) => ({ at: `${list}[${index}]`, each }));
}
