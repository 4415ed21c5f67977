/**
 * The engine's releases: which versions exist, what a workspace may ask for, and what its runs get. A workspace keeps a
 * constraint as it was written; it is resolved when a run needs a version, so releases that are added later count.
 */
import type { Database } from '../kernel/database.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';

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
  return allows && newestFirst(database).find(allows);
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
  return isNewer && dialect.takesNewerEngines ? undefined : `No release is or matches "${wanted}"`;
}

const sortedReleases = new WeakMap<
  Database,
  { readonly text: string; readonly versions: readonly string[] }
>();

/** Each create asks for them: they are sorted again only when another process or a seed has added one. */
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
// Invariant: a pre-release is chosen only where a constraint names one of the very same version; a bound that is left
// short is filled with zeros, but for `~>`, where the last number that is written is the one that may grow.

const VERSION = /^(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?$/;
const PART = /^(=|!=|>=|<=|>|<|~>)?\s*(\S+)$/;

interface Version {
  readonly numbers: readonly [number, number, number];
  /** How many of them were written. */
  readonly written: number;
  /** `beta1`; undefined for a version that is released for good. */
  readonly preRelease: string | undefined;
}

/** Whether a version matches a constraint. */
type Constraint = (version: string) => boolean;

/** Whether the text names one version, in full: `1.9.8`, `1.10.0-beta1`. */
export function isExactVersion(text: string): boolean {
  return parseVersion(text)?.written === 3;
}

/** The constraint in the text, a bare version included; undefined for an invalid one. */
export function parseConstraint(text: string): Constraint | undefined {
  const parts = text.split(',').map((part) => parsePart(part.trim()));
  if (parts.includes(undefined)) return undefined;
  return (version) => parts.every((part) => part?.(version) === true);
}

/** Orders versions, the older first. A pre-release is older than what it precedes. */
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
  return (text) => {
    const version = parseVersion(text);
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
