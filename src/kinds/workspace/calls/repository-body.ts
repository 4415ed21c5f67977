/** Makes `vcs-repo` members. A connection is never sent as null or "", which the service treats as a broken id (wire/workspaces 2.1). */
import { kebabCase } from '../../../model/kind/field-names.ts';
import type { Json, JsonObject } from '../../../model/json/json.ts';
import type { Dialect } from '../../../model/stack/target.ts';
import type { RepositoryFields } from '../workspace-types.ts';

const connections: readonly string[] = [
  'oauthTokenId',
  'vcsAppInstallationId',
] satisfies (keyof RepositoryFields)[];

/** The repository for a workspace that has none yet; null members are left out. */
export function newRepository(repository: RepositoryFields): JsonObject {
  const given = Object.entries(repository).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [kebabCase(name), value]));
}

/** The members that change; the service keeps the others. Undefined when none of them can be sent. */
export function changedRepository(members: JsonObject): JsonObject | undefined {
  const sent = Object.entries(members).filter(
    ([name, value]) => value !== null || !connections.includes(name),
  );
  if (sent.length === 0) return undefined;
  return Object.fromEntries(sent.map(([name, value]) => [kebabCase(name), orEmptyText(name, value)]));
}

/** Free texts are cleared with ""; an empty branch means the default one (wire/workspaces 2.1). */
function orEmptyText(name: string, value: Json): Json {
  return value === null && (name === 'branch' || name === 'tagsRegex') ? '' : value;
}

/** By the specification only an update can connect an app installation; some services also accept it in a create (wire/workspaces 1.5.2). */
export function waitsForUpdate(repository: RepositoryFields, dialect: Dialect): boolean {
  return (
    typeof repository.vcsAppInstallationId === 'string' &&
    !dialect.capabilities.has('app-installation-on-create')
  );
}
