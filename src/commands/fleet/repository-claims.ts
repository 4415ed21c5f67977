/**
 * Which repository a name means. Stacks are recorded by the name of their repository, and several fleets may share a database. So a fleet
 * skips a repository while another fleet uses its name for another repository or another branch: they would end each other's stacks.
 */
import { normalizeRemote } from '../../ledger/git/checkout.ts';
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { messageOf } from '../../model/error-message.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { Fleet, FleetRepository } from './fleet-file.ts';
import { lockRepositories } from './workers.ts';

/** Days for which a fleet keeps a name without using it: it may run only once a night. */
const claimDays = 2;

type Repository = Pick<FleetRepository, 'name' | 'ref' | 'url'>;

interface RequestedNames {
  /** the name of the fleet */
  readonly fleet: string;
  readonly repositories: readonly Repository[];
}

/** Claims the names of these repositories, unless another fleet uses them for something else. @returns why names were refused, by name */
export async function claimRepositories(
  client: PostgresClient,
  { fleet, repositories }: RequestedNames,
): Promise<Map<string, string>> {
  await lockRepositories(client);
  const refused = await refusedOf(client, { fleet, repositories });
  await noteClaims(client, { fleet, repositories, refused });
  return refused;
}

/**
 * Claims the name of a repository again, because it was claimed before the repository was read, which may be long ago. Call it in the
 * transaction that changes the schedule of the repository, after `recordRepositoryRead`.
 * @throws CommandStop when another fleet has taken the name since
 */
export async function renewClaim(
  client: PostgresClient,
  fleet: string,
  repository: Repository,
): Promise<void> {
  const repositories = [repository];
  await noteClaims(client, { fleet, repositories, refused: new Map() });
  const why = (await refusedOf(client, { fleet, repositories })).get(repository.name);
  if (why !== undefined) throw new CommandStop('fleet-database', why);
}

async function noteClaims(
  client: PostgresClient,
  { fleet, repositories, refused }: RequestedNames & { readonly refused: ReadonlyMap<string, string> },
): Promise<void> {
  const claimed = repositories.filter(({ name }) => !refused.has(name));
  await client.query(
    `insert into trueup_fleet.repositories (fleet, name, named, url, ref)
     select $1, name, trueup_fleet.now(), url, ref from unnest($2::text[], $3::text[], $4::text[]) as given (name, url, ref)
     on conflict (fleet, name) do update set named = excluded.named, url = excluded.url, ref = excluded.ref`,
    [fleet, ...columnsOf(claimed)],
  );
  // A repository that is refused must not keep the name from others.
  await client.query(
    'update trueup_fleet.repositories set url = null, ref = null where fleet = $1 and name = any($2)',
    [fleet, [...refused.keys()]],
  );
}

async function refusedOf(
  client: PostgresClient,
  { fleet, repositories }: RequestedNames,
): Promise<Map<string, string>> {
  const { rows } = await client.query(
    `select other.name, other.fleet, other.url <> given.url as elsewhere
     from unnest($2::text[], $3::text[], $4::text[]) as given (name, url, ref) join trueup_fleet.repositories as other using (name)
     where other.fleet <> $1 and (other.url <> given.url or other.ref <> given.ref) 
       and other.named >= trueup_fleet.now() - make_interval(days => ${claimDays})
     for share of other`,
    [fleet, ...columnsOf(repositories)],
  );
  return new Map(
    rows.map(({ name, fleet: other, elsewhere }) => [
      String(name),
      `repository ${quoted(name)} of the fleet ${quoted(fleet)} is left alone: the fleet ${quoted(other)} uses this name for ${
        elsewhere ? 'another repository' : 'another branch'
      }, and both fleets use one database; give it another name in fleet.yaml`,
    ]),
  );
}

/** Names, addresses and branches, as columns for a statement. Addresses are stored without a login. */
function columnsOf(repositories: readonly Repository[]): string[][] {
  return [
    repositories.map(({ name }) => name),
    repositories.map(({ url }) => normalizeRemote(url)),
    repositories.map(({ ref }) => ref),
  ];
}

interface Database {
  transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
}

/** The claims of one worker. */
export class RepositoryClaims {
  readonly #database: Database;
  readonly #claimed = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** @returns why some of them are skipped, by name; all of them if the database does not answer */
  async claim(fleet: string, repositories: readonly Repository[]): Promise<Map<string, string>> {
    try {
      const refused = await this.#database.transaction((client) =>
        claimRepositories(client, { fleet, repositories }),
      );
      for (const repository of repositories) {
        if (refused.has(repository.name)) this.#claimed.delete(keyOf(fleet, repository));
        else this.#claimed.add(keyOf(fleet, repository));
      }
      return refused;
    } catch (error) {
      return new Map(repositories.map(({ name }) => [name, messageOf(error)]));
    }
  }

  /** The fleet with only the claimed repositories, also in its channels. */
  usable(fleet: Fleet): Fleet {
    const repositories = fleet.repositories.filter((one) => this.#claimed.has(keyOf(fleet.name, one)));
    const names = new Set(repositories.map(({ name }) => name));
    const channels = fleet.channels.map((channel) => ({
      ...channel,
      repositories: channel.repositories.filter((name) => names.has(name)),
    }));
    return {
      ...fleet,
      repositories,
      channels: channels.filter((channel) => channel.repositories.length > 0),
    };
  }
}

function keyOf(fleet: string, { name, url, ref }: Repository): string {
  return JSON.stringify([fleet, name, url, ref]);
}
