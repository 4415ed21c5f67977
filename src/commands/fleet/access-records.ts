/**
 * The access that stacks grant, as their last complete checks found it. It has a table of its own, so that one query searches all stacks.
 */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import type { DriftJson } from '../../report/json/drift-schema.ts';
import type { StackId } from './stack-id.ts';

/** Rows that are kept for one stack, at most. */
const maxRows = 10_000;

/** Replaces the access rows of a stack after a complete check. Unchanged rows are not written. */
export async function noteAccess(
  client: PostgresClient,
  { repository, path }: StackId,
  { access = [] }: Pick<DriftJson, 'access'>,
): Promise<void> {
  const rows = access.slice(0, maxRows).map(rowOf);
  const given = JSON.stringify([...new Map(rows.map((row) => [row.address, row])).values()]);
  await client.query(
    `delete from trueup_fleet.access where repository = $1 and path = $2
       and address not in (select one->>'address' from json_array_elements($3::json) as one)`,
    [repository, path, given],
  );
  await client.query(
    `insert into trueup_fleet.access (repository, path, address, gives, who, places, policies, details, words, has_patterns)
     select $1, $2, given.*, lower(address || E'\\n' || array_to_string(who || places || policies, E'\\n')), array_to_string(who, '') like '%*%'
     from json_to_recordset($3::json)
       as given (address text, gives text, who text[], places text[], policies text[], details jsonb)
     on conflict (repository, path, address) do update set gives = excluded.gives, who = excluded.who,
       places = excluded.places, policies = excluded.policies, details = excluded.details, words = excluded.words, has_patterns = excluded.has_patterns
     where (access.gives, access.who, access.places, access.policies, access.details)
       is distinct from (excluded.gives, excluded.who, excluded.places, excluded.policies, excluded.details)`,
    [repository, path, given],
  );
}

/** The parts of a row that have no column of their own. */
interface AccessDetails {
  readonly selector?: string;
  readonly audience?: string;
  readonly sharedWith?: 'organization' | 'project';
}

function rowOf({ address, login, state }: NonNullable<DriftJson['access']>[number]) {
  const details: AccessDetails = {
    ...(login?.selector === undefined ? {} : { selector: login.selector }),
    ...(login?.audience === undefined ? {} : { audience: login.audience }),
    ...(state?.sharedWith === undefined ? {} : { sharedWith: state.sharedWith }),
  };
  return {
    address,
    gives: login === undefined ? 'state' : 'login',
    // A search for any name finds state that is shared with all.
    who: login?.accounts ?? (state?.sharedWith === undefined ? (state?.readers ?? []) : ['*']),
    places: login?.namespaces ?? [],
    policies: login?.policies ?? [],
    details,
  };
}
