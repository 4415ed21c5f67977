/** `trueup history show ID --revert --write`: the values before an apply, written into the manifests that declare them now. */
import { type FieldChange, isPlannerField } from '../../model/field.ts';
import { type Path, valueAt } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { contentAfter } from '../../compare/comparisons.ts';
import { secretPlaceholder } from '../../redaction/known-secrets.ts';
import { formatAddress, parseAddress } from '../../model/address.ts';
import type { DesiredResource } from '../../model/resource.ts';
import type { HistoryChange, HistoryEntry } from '../../model/ledger.ts';
import type { Stack } from '../../model/stack.ts';
import { quoted } from '../../model/quoted.ts';
import type { CommandContext } from '../../run/terminal.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { ExitCode } from '../../run/exit-codes.ts';
import { isRecordedFlag } from '../../plan/recorded-flags.ts';
import { loadManifests, loadStack } from '../../run/load-manifests.ts';
import { learnSources } from '../../run/needed-secrets.ts';
import { reviewChanges, type ReviewOptions } from '../../run/manifest-edits/review-changes.ts';
import { resolveAcceptedChanges, type Trial } from '../../run/manifest-edits/resolve-changes.ts';
import {
  nameOfAcceptedChange,
  type Refusal,
  refuse,
  type AcceptedChange,
} from '../../run/manifest-edits/locate-change.ts';

interface RevertRequest extends ReviewOptions, CommandContext {
  readonly path: string | undefined;
  readonly stack: Stack;
  readonly stop: AbortSignal;
}

export async function writeRevert(entry: HistoryEntry, request: RevertRequest): Promise<ExitCode> {
  const { path, host, stack } = request;
  if (path === '-')
    throw new CommandStop('stack-file-needed', 'manifests on standard input are not written: give a stack');
  const manifests = await loadStack(path, host);
  await learnSources(stack, manifests.resources, host);
  const found = entry.changes
    .toReversed()
    .filter(didSomething)
    .flatMap((change) => revert(change, manifests.resources, host.kinds));
  const first: Trial = {
    manifests,
    acceptedChanges: found.flatMap((one) => ('why' in one ? [] : [one])),
    refusals: found.flatMap((one) => ('why' in one ? [one] : [])),
    problems: [],
    contentOf: declaredContent(manifests.resources, host.kinds),
  };
  const resolved = await resolveAcceptedChanges(first, {
    cwd: host.cwd,
    kinds: host.kinds,
    secrets: host.secrets,
    attempt: async (drafts) => {
      const drafted = await loadManifests(path, host, { drafts });
      const contentOf = declaredContent(drafted.resources, host.kinds);
      return { manifests: drafted, acceptedChanges: [], refusals: [], problems: [], contentOf };
    },
  });
  return reviewChanges(resolved, { ...request, nothing: 'no-values-before' });
}

/** The content that a resource has as declared. Targets are not read, so a field that is not declared counts as having its default. */
function declaredContent(resources: readonly DesiredResource[], kinds: Registry): Trial['contentOf'] {
  return (address) => {
    const resource = resources.find((one) => formatAddress(one.address) === formatAddress(address));
    const kind = kinds.get(address.kind);
    return resource && kind && contentAfter(kind.fields, resource.spec, []);
  };
}

function didSomething({ outcome, done = [], inDoubt }: HistoryChange): boolean {
  const mayBeApplied = outcome === undefined || outcome === 'applied' || outcome === 'unknown';
  return mayBeApplied || inDoubt === true || done.length > 0;
}

const manualSteps: Partial<Readonly<Record<HistoryChange['action'], readonly [string, string]>>> = {
  create: ['was created', 'remove its document, and the next apply takes away what was created'],
  delete: ['was deleted', 'declare it again as "--revert" without "--write" prints it'],
  release: ['was released', 'declare it again as "--revert" without "--write" prints it'],
};

function revert(
  { address: text, action, fields }: HistoryChange,
  resources: readonly DesiredResource[],
  kinds: Registry,
): (AcceptedChange | Refusal)[] {
  const address = parseAddress(text);
  const resource = resources.find((one) => formatAddress(one.address) === text);
  const [what, fix] = manualSteps[action] ?? [];
  if (what !== undefined && fix !== undefined)
    return [refuse({ address, path: [] }, 'revert-by-hand', { message: `${quoted(text)} ${what}`, fix })];
  if (resource === undefined) return [notDeclared(address)];
  return fields.flatMap((field) => revertField(field, { address, resource, kinds }) ?? []);
}

/** One refusal for all values of a resource: there is no document or list item to write them into. */
function notDeclared(address: AcceptedChange['address']): Refusal {
  return refuse({ address, path: [] }, 'revert-by-hand', {
    message: `${quoted(formatAddress(address))} is no longer declared`,
    fix: 'declare it again first, as an item if it is in a list, and then write; "--revert" without "--write" prints its former values',
  });
}

/** Whether the manifest sets the field, or the name of the object whose id the field holds: the id then replaces the name. */
function isWritten(
  [field = '']: Path,
  { resource: { spec }, kind }: { readonly resource: DesiredResource; readonly kind: Kind | undefined },
): boolean {
  const named = kind?.named?.references.filter(({ id }) => id[0] === field) ?? [];
  return Object.hasOwn(spec, field) || named.some(({ name }) => valueAt(spec, name) !== undefined);
}

/** @returns undefined for a field of the planner, or one that followed from another field */
function revertField(
  { path, before, shape, unknown, origin }: FieldChange,
  {
    address,
    resource,
    kinds,
  }: { address: AcceptedChange['address']; resource: DesiredResource | undefined; kinds: Registry },
): AcceptedChange | Refusal | undefined {
  const [name = ''] = path;
  const accepted: AcceptedChange = { address, path, value: before };
  if (isPlannerField(path)) return undefined;
  if (
    !isRecordedFlag({ path }) &&
    resource !== undefined &&
    !isWritten(path, { resource, kind: kinds.get(address.kind) }) &&
    name !== 'name' &&
    origin === undefined
  )
    return undefined;
  const named = nameOfAcceptedChange(accepted);
  if (isRecordedFlag({ path }))
    return refuse(accepted, 'revert-by-hand', {
      message: `${named} was ${before === undefined ? 'not set' : JSON.stringify(before)}`,
      fix: `write that into ${quoted(`metadata.${name}`)}`,
    });
  if (name === 'name')
    return refuse(accepted, 'resource-renamed', {
      message: `${quoted(formatAddress(address))} was called ${JSON.stringify(before)}`,
      fix: 'write the former name into "metadata.name", and the present one into "metadata.renamedFrom"',
    });
  if (shape === 'secret' || JSON.stringify([...path, before ?? null]).includes(secretPlaceholder))
    return refuse(accepted, 'value-secret', {
      message: `${named} was a secret, or held one: it is not kept`,
      fix: 'name its source in the manifest',
    });
  if (unknown !== undefined)
    return refuse(accepted, 'value-unknown', {
      message: `the value of ${named} before was not known: ${unknown}`,
      fix: 'write it by hand',
    });
  return accepted;
}
