/**
 * The engine's releases: which versions there are, what a workspace may ask for, and what its runs get.
 * Invariant: a workspace keeps what was asked for as it was written; a constraint is resolved when a run needs a version,
 * so a release that is added later counts.
 */
import type { Database } from '../../data-file/database.ts';
import type { WorkspacesDialect } from '../../workspaces-dialects.ts';
import { compareVersions, isExactVersion, isPreRelease, parseConstraint } from './version-constraint.ts';

/** Asks for the newest release whenever a run starts. */
const LATEST = 'latest';

/** Adds a release; what is there stays. */
export function addRelease(database: Database, version: string): void {
  database.run('INSERT OR IGNORE INTO releases (version) VALUES (:version)', { version });
}

/** The newest release that is no pre-release. */
export function latestRelease(database: Database): string {
  return newestRelease(database, LATEST) ?? LATEST;
}

/** The newest release that an exact version, a constraint or `latest` allows; undefined when none does. */
function newestRelease(database: Database, wanted: string): string | undefined {
  const allows = wanted === LATEST ? (version: string) => !isPreRelease(version) : parseConstraint(wanted);
  return allows === undefined ? undefined : releases(database).findLast(allows);
}

/** The version that runs use: an exact version that the list does not hold is used as it is. */
export function releaseForRuns(database: Database, wanted: string): string {
  return newestRelease(database, wanted) ?? wanted;
}

/** What is wrong with an `engine-version` that is asked for, in words; undefined when nothing is. */
export function engineVersionProblem(
  database: Database,
  dialect: WorkspacesDialect,
  wanted: string,
): string | undefined {
  if (newestRelease(database, wanted) !== undefined) return undefined;
  if (parseConstraint(wanted) === undefined)
    return `"${wanted}" is neither a version nor a version constraint`;
  const isNewer = isExactVersion(wanted) && compareVersions(wanted, latestRelease(database)) > 0;
  return isNewer && dialect.takesNewerEngines ? undefined : `No release is or meets "${wanted}"`;
}

/** Oldest first. */
function releases(database: Database): string[] {
  return database
    .all<{ version: string }>('SELECT version FROM releases')
    .map(({ version }) => version)
    .sort(compareVersions);
}
