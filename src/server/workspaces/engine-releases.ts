/**
 * The engine's releases: which versions exist, which ones a workspace may request, and which one its runs use. A workspace stores
 * a constraint as written. It is resolved when a run needs a version, so releases that are added later are considered.
 */
import type { Database } from '../kernel/database.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';

/** The newest release at the time when a run starts. */
const LATEST = 'latest';

/** Adds a release, unless it exists. */
export function addRelease(database: Database, version: string): void {
  database.run('INSERT OR IGNORE INTO releases (version) VALUES (:version)', { version });
}

/** The newest release that is not a pre-release. */
export function latestRelease(database: Database): string {
  return newestRelease(database, LATEST) ?? LATEST;
}

/** The newest release that an exact version, a constraint or `latest` allows; undefined when none does. */
function newestRelease(database: Database, wanted: string): string | undefined {
  const allows = wanted === LATEST ? (version: string) => !isPreRelease(version) : parseConstraint(wanted);
  return allows && newestFirst(database).find(allows);
}

/** The version that runs use: an exact version that is not in the list is used unchanged. */
export function releaseForRuns(database: Database, wanted: string): string {
  return newestRelease(database, wanted) ?? wanted;
}

/** The problem of a requested `engine-version`, as a text; undefined for a valid one. */
export function engineVersionProblem(
  database: Database,
  dialect: WorkspacesDialect,
  wanted: string,
): string | undefined {
  if (newestRelease(database, wanted) !== undefined) return undefined;
  if (parseConstraint(wanted) === undefined)
    return `"${wanted}" is neither a version nor a version constraint`;
  const isNewer = isExactVersion(wanted) && compareVersions(wanted, latestRelease(database)) > 0;
  return isNewer && dialect.takesNewerEngines ? undefined : `No release matches "${wanted}"`;
}

const sortedReleases = new WeakMap<
  Database,
  { readonly text: string; readonly versions: readonly string[] }
>();

/** All releases, the newest first. Each create of a workspace needs them, so the sorted list is kept until a release is added. */
function newestFirst(database: Database): readonly string[] {
  const { text } = database.get<{ text: string | null }>(
    "SELECT group_concat(version, ' ') AS text FROM releases",
  ) ?? { text: null };
  if (text === null) return [];
  const known = sortedReleases.get(database);
  if (known?.text === text) return known.versions;
  const versions = text.split(' ').sort((one, other) => compareVersions(other, one));
  sortedReleases.set(database, { text, versions });
  return versions;
}

// Engine versions and the constraints that choose among them: `1.9.8`, `~> 1.9.0`, `>= 1.2, < 2.0`.
// Invariant: a pre-release is chosen only if the constraint names a pre-release of the same version. Missing numbers of a bound
// are zeros, except for `~>`, where the last number that is written may increase.

const VERSION = /^(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?$/;
const PART = /^(=|!=|>=|<=|>|<|~>)?\s*(\S+)$/;

interface Version {
  readonly numbers: readonly [number, number, number];
  /** How many of the numbers were written. */
  readonly written: number;
  /** Such as `beta1`; undefined for a final release. */
  readonly preRelease: string | undefined;
}

/** Whether a version matches a constraint. */
type Constraint = (version: string) => boolean;

/** Whether the text is one complete version, such as `1.9.8` or `1.10.0-beta1`. */
export function isExactVersion(text: string): boolean {
  return parseVersion(text)?.written === 3;
}

/** The constraint in the text, which may also be a plain version; undefined for an invalid one. */
export function parseConstraint(text: string): Constraint | undefined {
  const parts = text.split(',').map((part) => parsePart(part.trim()));
  if (parts.includes(undefined)) return undefined;
  return (version) => parts.every((part) => part?.(version) === true);
}

/** Orders versions, the older first. A pre-release is older than its final release. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  return a === undefined || b === undefined ? one.localeCompare(other) : compare(a, b);
}

function isPreRelease(version: string): boolean {
  return parseVersion(version)?.preRelease !== undefined;
}

function parseVersion(text: string): Version | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor, patch, preRelease] = match;
  const written = [major, minor, patch].filter((number) => number !== undefined).length;
  return { numbers: [Number(major), Number(minor ?? 0), Number(patch ?? 0)], written, preRelease };
}

function parsePart(text: string): Constraint | undefined {
  const [, operator = '=', boundText = ''] = PART.exec(text) ?? [];
  const bound = parseVersion(boundText);
  if (bound === undefined) return undefined;
  return (candidate) => {
    const version = parseVersion(candidate);
    if (version === undefined || !isEligible(version, bound, operator)) return false;
    return meets(version, operator, bound);
  };
}

function meets(version: Version, operator: string, bound: Version): boolean {
  const order = compare(version, bound);
  switch (operator) {
    case '!=':
      return order !== 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '~>':
      return order >= 0 && sharesPrefix(version, bound);
    default:
      return order === 0;
  }
}

/** `~> 1.9.0` stays within 1.9, `~> 1.9` within 1. */
function sharesPrefix(version: Version, bound: Version): boolean {
  return bound.numbers
    .slice(0, bound.written - 1)
    .every((number, index) => number === version.numbers[index]);
}

function isEligible(version: Version, bound: Version, operator: string): boolean {
  if (version.preRelease === undefined || operator === '=') return true;
  return bound.preRelease !== undefined && compareNumbers(version, bound) === 0;
}

function compare(one: Version, other: Version): number {
  return compareNumbers(one, other) || comparePreReleases(one.preRelease, other.preRelease);
}

function compareNumbers({ numbers: one }: Version, { numbers: other }: Version): number {
  const index = one.findIndex((number, position) => number !== other[position]);
  return (one[index] ?? 0) - (other[index] ?? 0);
}

function comparePreReleases(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  return one.localeCompare(other, 'en', { numeric: true });
}
